"""Applications on a real broker: life, internal topics that go away, several instances, and `kill -9`."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from headrace.errors import MissingInternalTopicsError, ShutdownRequestedError, StreamsError
from headrace.metric_pages import Row, application_rows, worker_rows
from headrace.rest import RestServer
from headrace.streams import Consumed, KafkaStreams, Materialized, Produced, Serdes, StreamsBuilder
from headrace.streams.exposition import StreamsCollector
from headrace.streams.states import State
from tests.clusters import record
from tests.rest.conftest import Client, worker_config
from tests.rest.memory_herder import MemoryHerder
from tests.streams.running.application import WAIT_S, Application, process
from tests.support import quick_java, seeds, wait_until

EXAMPLES = Path(__file__).parents[3] / "examples" / "streams"


@pytest.fixture
def worker_rest() -> Iterator[Client]:
    """The REST API of a worker, without one behind it."""
    server = RestServer(MemoryHerder(), worker_config())  # type: ignore[arg-type]
    server.start()
    yield Client(server.urls[0])
    server.stop()


def scraped(worker: Client) -> Iterable[Metric]:
    families = text_string_to_metric_families(httpx.get(f"http://{worker.address}/metrics", timeout=100).text)
    return [family for family in families if not family.name.startswith("process_")]


def rows(families: Iterable[Metric]) -> set[Row]:
    """As on the page of metrics."""
    return {(sample.name, tuple(sorted(sample.labels))) for family in families for sample in family.samples}


def reported(worker: Client, application: str) -> dict[str, Any]:
    applications = worker("GET", "/headrace/streams").json["applications"]
    return next((report for report in applications if report["application"] == application), {"state": None})


def test_an_application_lives_reports_counts_and_goes_on_where_it_ended(make, worker_rest: Client):
    app, states = make(headrace_report_url=f"http://{worker_rest.address}"), []
    streams = app.streams()
    assert streams._reporter is not None
    streams._reporter._interval_s = 10 * WAIT_S  # a change of the state is reported before
    streams.set_state_listener(lambda new, old: states.append((str(old), str(new))))
    streams.start()
    assert streams.wait_for(State.RUNNING, State.ERROR, timeout=WAIT_S * 1000)
    wait_until(lambda: reported(worker_rest, app.id)["state"] == "RUNNING", WAIT_S, "its report")
    app.send("a", "b", "a", "c")
    app.await_results({"a": 2, "b": 1, "c": 1})
    store = streams.store("counts")
    assert (store.get("a"), store.get("none"), list(store.range("b", None))) == (2, None, [("b", 1), ("c", 1)])
    assert streams.metrics()["sub-topology-1"]["records"] == 4
    # A store whose task is at work for long is left out of a report.
    wait_until(lambda: rows(StreamsCollector(app.id, streams).collect()) == application_rows(), WAIT_S, "its metrics")
    streams._reporter._interval_s = 0.5  # by default it is ten seconds
    streams._reporter.wake()
    in_worker = {row for row in worker_rows() if row[0].startswith("headrace_streams_")}
    wait_until(lambda: rows(scraped(worker_rest)) >= in_worker, WAIT_S, "its metrics at the worker")
    assert rows(scraped(worker_rest)) <= worker_rows().keys()
    told = reported(worker_rest, app.id)
    assert (told["init"], told["problem"], told["topology"]) == ("ready", None, streams.topology.describe())
    assert {topic["name"] for topic in told["internal_topics"]} == {app.changelog, app.repartition}
    with pytest.raises(StreamsError, match="cannot re-start"):
        streams.start()
    with pytest.raises(StreamsError, match="Cannot clean up while running"):
        streams.clean_up()
    with pytest.raises(StreamsError, match="no such store is registered in the topology"):
        streams.store("other")
    assert streams.close()
    wait_until(lambda: reported(worker_rest, app.id)["state"] == "NOT_RUNNING", WAIT_S, "its last report")
    expected = ["CREATED", "REBALANCING", "RUNNING", "PENDING_SHUTDOWN", "NOT_RUNNING"]
    assert [old for old, _ in states] == expected[:-1] and states[-1][1] == "NOT_RUNNING"
    with app.running() as again:
        assert dict(again.store("counts").all()) == {"a": 2, "b": 1, "c": 1}
        app.send("a")
        app.await_results({"a": 3, "b": 1, "c": 1})


def test_a_paused_application_begins_no_batch(make):
    app = make()
    with app.running() as streams:
        streams.pause()
        app.send("a")
        streams.resume()
        app.await_results({"a": 1})


def test_in_manual_mode_topics_are_initialized_once_for_every_instance(make):
    app = make(internal_topics_setup="manual")
    with pytest.raises(MissingInternalTopicsError) as raised:
        app.streams().start()
    assert raised.value.topics == [f"{app.id}-counts-changelog", f"{app.id}-counts-repartition"]
    app.streams().init()
    with app.running() as first, app.streams() as second:
        with pytest.raises(StreamsError, match=r"init is possible only before start\(\)"):
            first.init()
        app.send("a", "b")
        app.await_results({"a": 1, "b": 1})
        app.await_committed()
        second.start()
        assert not (second.is_active() and first.is_active())  # who joins may take over
        first.close()
        assert second.wait_for(State.RUNNING, timeout=WAIT_S * 1000)
        app.send("a")
        app.await_results({"a": 2, "b": 1})


def test_two_instances_of_which_one_is_killed_count_every_word_in_manual_mode(destination, topic_name, tmp_path):
    """The example `two_instances.sh`: as processes, whose internal topics `headrace streams init` creates.

    Exactly once: the kill comes at any moment of a batch, and at least once words of that batch may count twice.
    """
    lines, counts, name = topic_name("lines"), topic_name("word-counts"), topic_name("word-count")
    text = (EXAMPLES / "word_count.py").read_text().replace('"lines"', f'"{lines}"').replace('"word-counts"', f'"{counts}"')
    (tmp_path / "app.py").write_text(text)
    destination.create(lines, 2)
    destination.create(counts, 1)
    config = {"application.id": name, "bootstrap.servers": destination.bootstrap, "session.timeout.ms": "6000",
              "processing.guarantee": "exactly_once_v2"}  # fmt: skip
    settings = [part for key, value in config.items() for part in ("--set", f"{key}={value}")]
    out = tmp_path / "out"

    def send(words: str) -> None:
        destination.produce(lines, [record(None, word.encode(), partition=i % 2) for i, word in enumerate(words.split())])

    def counted() -> dict[str, int]:
        return {r.key.decode(): int.from_bytes(r.value, "big") for r in destination.read(counts) if r.key and r.value}

    def enter(before: str) -> None:
        wait_until(lambda: before in out.read_text(), WAIT_S, lambda: out.read_text())
        assert script.stdin is not None
        script.stdin.write(b"\n")
        script.stdin.flush()

    with out.open("wb") as file:
        script = subprocess.Popen(
            ["sh", str(EXAMPLES / "two_instances.sh"), str(tmp_path / "app.py"), *settings], stdin=subprocess.PIPE, stdout=file,
            stderr=file, process_group=0, env={**quick_java(), "HEADRACE": f"{sys.executable} -m headrace.cli"},
        )  # fmt: skip
    try:
        enter("Enter: create them.")
        missing = f"Missing internal topics: {name}-counts-changelog, {name}-counts-repartition. If the application has never run"
        refused = out.read_text()
        assert refused.count(missing) == 2 and "Traceback" not in refused, refused
        enter("Enter: the first instance works.")
        assert f"{name}-counts-changelog has been created" in out.read_text()
        send("a b a c")
        wait_until(lambda: counted() == {"a": 2, "b": 1, "c": 1}, WAIT_S, lambda: out.read_text())
        enter("Enter: the second one stands by.")
        wait_until(lambda: len(destination.admin.group_members(name)) == 2, WAIT_S, lambda: out.read_text())
        send("a d")
        enter("Enter: the first one is killed")
        send("b d")
        wait_until(lambda: counted() == {"a": 3, "b": 2, "c": 1, "d": 2}, WAIT_S, lambda: out.read_text())
        enter("Enter: the end.")
        assert script.wait(WAIT_S) == 0, out.read_text()
    finally:
        if script.poll() is None:
            os.killpg(script.pid, signal.SIGKILL)
        script.wait()


@pytest.mark.parametrize(
    ("guarantee", "seed", "kills"),
    seeds(("exactly_once_v2", 1, 1), ("at_least_once", 2, 2), ("exactly_once_v2", 3, 6), ("at_least_once", 4, 6)),
)
def test_word_count_killed_at_random_moments_counts_every_word(destination, topic_name, tmp_path, guarantee, seed, kills):
    """The example itself, its topics renamed; killed again and again once it has written so much, and started again.

    With `at_least_once` rows of the repartition topic may be there twice after a kill, and count twice.
    """
    chance = random.Random(seed)
    lines, counts, name = topic_name("lines"), topic_name("word-counts"), topic_name("word-count")
    text = (EXAMPLES / "word_count.py").read_text().replace('"lines"', f'"{lines}"').replace('"word-counts"', f'"{counts}"')
    (tmp_path / "app.py").write_text(text)
    destination.create(lines, 2)
    destination.create(counts, 1)
    words = [f"word{i % 700} other{i % 13}" for i in range(6_000)]
    records = [record(None, line.encode(), partition=i % 2) for i, line in enumerate(words)]
    config = {"application.id": name, "bootstrap.servers": destination.bootstrap, "session.timeout.ms": "6000",
              "headrace.max.batch.records": "300", "processing.guarantee": guarantee}  # fmt: skip
    expected = Counter(word for line in words for word in line.split())

    def found() -> dict[str, int]:
        return {r.key.decode(): int.from_bytes(r.value, "big") for r in destination.read(counts) if r.key and r.value}

    def complete() -> bool:
        counted = found()
        if guarantee == "exactly_once_v2":
            return counted == expected
        return counted.keys() == expected.keys() and all(counted[word] >= expected[word] for word in expected)

    def written(enough: int) -> bool:
        return destination.size(counts) >= enough

    part = len(records) // (kills + 1)  # has all 713 words: something is left to do, however fast an application was
    for number in range(kills):
        destination.produce(lines, records[number * part : (number + 1) * part])
        enough = destination.size(counts) + chance.randrange(1, 700)
        with process(tmp_path, f"{tmp_path}/app.py", config) as killed:
            wait_until(partial(written, enough), WAIT_S, lambda: (tmp_path / "err").read_text())
            killed.kill()
            killed.wait()
    destination.produce(lines, records[kills * part :])
    with process(tmp_path, f"{tmp_path}/app.py", config) as second:
        wait_until(lambda: complete() or second.poll() is not None, WAIT_S, "all words")
        second.send_signal(signal.SIGTERM)
        assert second.wait(WAIT_S) == 0, (tmp_path / "err").read_text()
    assert complete()
    if guarantee == "exactly_once_v2":  # no result is there twice: each is greater than the one before
        seen: dict[bytes | None, int] = {}
        for result in destination.read(counts, settled=True):
            count = int.from_bytes(result.value or b"", "big")
            assert count > seen.get(result.key, 0), result
            seen[result.key] = count


def test_an_uncaught_error_reaches_the_handler_and_ends_the_client(make):
    from headrace.streams import StreamThreadExceptionResponse

    app, seen, ended = make(), [], threading.Event()
    builder = StreamsBuilder()
    builder.stream(app.source, Consumed.with_(Serdes.string(), Serdes.long())).to(app.sink)
    streams = KafkaStreams(builder.build(), app.config)

    def handler(error: BaseException) -> Any:
        seen.append(str(error))
        ended.set()
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT

    streams.set_uncaught_exception_handler(handler)
    with streams:
        streams.start()
        app.send("not a long!")
        assert ended.wait(WAIT_S)
        assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000)
    assert f"The value of the record at {app.source}-0 offset 0 cannot be read by the long serde" in seen[0]


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_an_error_can_shut_down_all_instances_of_the_application(make: Callable[..., Application], guarantee: str):
    """Those that are there: one that is started later works, here until it reads the same record."""
    from headrace.streams import StreamThreadExceptionResponse

    app = make(processing_guarantee=guarantee)
    builder, handled = StreamsBuilder(), list[KafkaStreams]()
    builder.stream(app.source, Consumed.with_(Serdes.string(), Serdes.long())).to(app.sink)
    topology = builder.build()

    def instance() -> KafkaStreams:
        streams = KafkaStreams(topology, app.config)

        def handler(error: BaseException) -> Any:
            handled.append(streams)
            return StreamThreadExceptionResponse.SHUTDOWN_APPLICATION

        streams.set_uncaught_exception_handler(handler)
        return streams

    unreadable = f"The value of the record at {app.source}-0 offset 0 cannot be read by the long serde"
    with instance() as first, instance() as second:
        first.start()
        assert first.wait_for(State.RUNNING, State.ERROR, timeout=WAIT_S * 1000)
        second.start()
        instances = (first, second)

        def is_settled() -> (
            bool
        ):  # the group may choose the second one when it joins, or give each a partition: 0 is the active's
            members = app.cluster.admin.group_members(app.id)
            assigned = {member: (app.source, 0) in partitions for *_, member, partitions in members}
            active = [assigned.get(each._instance._member.member_id()) for each in instances]  # type: ignore[union-attr]
            return sorted(assigned.values()) == [False, True] and active == [each.state() is State.RUNNING for each in instances]

        wait_until(is_settled, WAIT_S, lambda: f"one of two members is active; {first.state()}, {second.state()}")
        app.send("not a long!")
        for streams in (first, second):
            assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000), streams.state()
        (active,) = handled
        standby = second if active is first else first
        assert unreadable in str(active.error) and not isinstance(active.error, ShutdownRequestedError)
        sentence = f"Another instance has requested that all instances of the application shut down, because of: {active.error}"
        assert isinstance(standby.error, ShutdownRequestedError) and sentence.startswith(str(standby.error))
    with instance() as later:
        later.start()
        assert later.wait_for(State.ERROR, timeout=WAIT_S * 1000)
        assert unreadable in str(later.error) and not isinstance(later.error, ShutdownRequestedError)


def test_a_handle_of_a_store_reads_whatever_engine_there_is(make: Callable[..., Application]):
    app = make()
    with app.running() as streams:
        store = streams.store("counts")
        app.send("a", "a")
        wait_until(lambda: store.get("a") == 2, WAIT_S, "the count")
        reader = streams._instance._engine_with("counts").open_store("counts")  # of the engine that ends now
        streams._instance._restart_engine()
        assert streams.wait_for(State.RUNNING, timeout=WAIT_S * 1000)
        with pytest.raises(StreamsError, match="Store counts is currently closed"), reader:
            pass
        assert store.get("a") == 2
        streams.close()
        with pytest.raises(
            StreamsError, match="Cannot get state store counts: this instance is NOT_RUNNING and does not hold it"
        ):
            store.get("a")


@pytest.mark.parametrize("through", [False, True])
def test_a_changelog_that_was_created_again_ends_the_application(make: Callable[..., Application], through: bool):
    app = make()
    builder = StreamsBuilder()
    stream = builder.stream(app.source, Consumed.with_(Serdes.string(), Serdes.string()))
    counts = stream.group_by(lambda key, value: value) if through else stream.group_by_key()
    counts.count(Materialized.as_("counts")).to_stream().to(app.sink, Produced.with_(Serdes.string(), Serdes.long()))
    topology = builder.build(app.config)
    app.cluster.produce(app.source, [record(b"a", b"a"), record(b"a", b"a")])
    with KafkaStreams(topology, app.config) as streams:
        streams.start()
        app.await_results({"a": 2})
    topics = [app.changelog, *([app.repartition] if through else [])]
    app.cluster.admin.delete(topics)
    wait_until(lambda: not {*topics} & {*app.cluster.admin.topics()}, WAIT_S, "the topics are gone")
    with KafkaStreams(topology, app.config) as streams:
        streams.start()
        assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000), streams.state()  # no thread waits for another one
        assert "deleted and created again" in str(streams.error) and topics[-1] in str(streams.error)
