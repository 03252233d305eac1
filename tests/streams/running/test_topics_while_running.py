"""KIP-698 while an application runs: topics deleted and reconfigured behind its back, one instance active, one standing by."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from headrace.errors import (
    HeadraceError,
    MisconfiguredInternalTopicError,
    MissingInternalTopicsError,
    MissingSourceTopicError,
    RetriableError,
    StreamsError,
)
from headrace.streams import (
    Consumed,
    KafkaStreams,
    Materialized,
    Produced,
    Serdes,
    StreamsBuilder,
    StreamThreadExceptionResponse,
)
from headrace.streams.states import State
from tests.clusters import record
from tests.streams.running.application import WAIT_S, Application
from tests.support import wait_until


@contextmanager
def two_instances(app: Application) -> Iterator[tuple[KafkaStreams, KafkaStreams]]:
    with app.running() as active, app.streams() as standby:
        standby.set_uncaught_exception_handler(lambda error: StreamThreadExceptionResponse.REPLACE_THREAD)
        standby.start()
        # Who joins may take over, upon which a batch that is under way is done again: at least once.
        wait_until(lambda: _is_shared(app), WAIT_S, "each instance has its part of the group")
        wait_until(lambda: any(s.is_active() and s.state() is State.RUNNING for s in (active, standby)), WAIT_S, "one is at work")
        yield active, standby


def _is_shared(app: Application) -> bool:
    members = app.cluster.client.describe_consumer_groups([app.id])[app.id].result(30).members
    return len(members) == 2 and all(m.assignment and m.assignment.topic_partitions for m in members)


def _keys(app: Application, topic: str) -> set[bytes | None] | None:
    """The keys that a topic has; None while that cannot be found out: it is being made again."""
    try:
        return {one.key for one in app.cluster.read(topic)}
    except RetriableError:
        return None


def _values(app: Application, topic: str) -> set[bytes | None]:
    """The values that a topic has; each may be there more than once."""
    return {one.value for one in app.cluster.read(topic)}


def _delete_changelog(app: Application) -> str:
    app.cluster.admin.delete([app.changelog])
    return app.changelog


def _reconfigure(app: Application) -> str:
    app.cluster.admin.alter(app.repartition, {"retention.ms": "1000"})
    return app.repartition


@pytest.mark.parametrize(
    ("break_", "error", "sentence"),
    [
        (_delete_changelog, MissingInternalTopicsError, "find out who deleted them, because what they held is lost"),
        (_reconfigure, MisconfiguredInternalTopicError, "is 1000 but should be -1. Set it with: kafka-configs.sh"),
    ],
)
def test_in_manual_mode_what_is_wrong_with_an_internal_topic_ends_every_instance(
    make: Callable[..., Application], break_: Callable[[Application], str], error: type[HeadraceError], sentence: str
):
    app = make(internal_topics_setup="manual")
    app.streams().init()
    with two_instances(app) as instances:
        topic = break_(app)
        for streams in instances:
            assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000), streams.state()
            assert isinstance(streams.error, error), streams.error
            assert (streams.error.topics, sentence in str(streams.error)) == ([topic], True)  # type: ignore[attr-defined]
    there = app.cluster.admin.describe(topic)
    if break_ is _delete_changelog:
        assert there is None
    else:
        assert app.cluster.admin.topic_configs(topic)["retention.ms"] == "1000"


def test_in_automatic_mode_topics_are_put_right_and_nothing_is_lost(make: Callable[..., Application], events):
    app = make()
    admin = app.cluster.admin

    def said(sentence: str) -> bool:
        return any(sentence in entry["event"] for entry in events if entry["log_level"] == "warning")

    with two_instances(app) as instances:
        app.send("a", "b", "a")
        app.await_results({"a": 2, "b": 1})
        admin.alter(app.repartition, {"retention.ms": "1000"})
        admin.alter(app.changelog, {"cleanup.policy": "delete"})
        # Until the broker knows what is wrong, it answers with what was right.
        wait_until(lambda: said("It has been set to retention.ms=-1"), WAIT_S, "the retention is noticed")
        wait_until(lambda: said("It has been set to cleanup.policy=compact"), WAIT_S, "so is the policy")
        wait_until(lambda: admin.topic_configs(app.repartition)["retention.ms"] == "-1", WAIT_S, "retention is set again")
        wait_until(lambda: admin.topic_configs(app.changelog)["cleanup.policy"] == "compact", WAIT_S, "so is the policy")
        admin.delete([app.changelog, app.repartition])
        wait_until(lambda: _keys(app, app.changelog) == {b"a", b"b"}, WAIT_S, "the changelog is back with both rows")
        app.send("a", "c")
        app.await_results({"a": 3, "b": 1, "c": 1})
        # One that starts its engine again has none for a moment.
        wait_until(lambda: sorted(streams.is_active() for streams in instances) == [False, True], WAIT_S, "one is active")
    with app.running() as again:
        assert dict(again.store("counts").all()) == {"a": 3, "b": 1, "c": 1}
    for sentence in ("were deleted while the application runs", "filled again from its store"):
        assert said(sentence), events


def await_unread_records_lost(app: Application, streams: KafkaStreams) -> None:
    """Wait until the application ends with the sentence about a repartition topic that was deleted before all was read."""
    assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000), streams.state()
    assert f"were deleted with records that had not been read: {app.repartition}. They have been created" in str(streams.error)


def test_records_of_a_repartition_topic_that_nobody_had_read_are_not_lost_in_silence(
    make: Callable[..., Application], monkeypatch
):
    app = make()
    with app.running() as streams:
        app.send("a")
        app.await_results({"a": 1})
        engine = streams._instance._engine
        assert engine is not None
        with engine._locks[engine.tasks[1].subtopology]:  # else a step that is under way may count the next record
            monkeypatch.setattr(engine.tasks[1], "step", lambda: False)  # counts nothing from here on
        app.send("b")
        wait_until(lambda: app.cluster.size(app.repartition) == 2, WAIT_S, "the record waits")
        app.cluster.admin.delete([app.repartition])
        await_unread_records_lost(app, streams)
    with app.running():
        app.send("a")
        app.await_results({"a": 2})


def test_a_repartition_topic_all_of_which_was_read_when_it_went_away_loses_nothing(make: Callable[..., Application], monkeypatch):
    app = make()
    with app.running() as streams:
        app.send("a")
        app.await_results({"a": 1})
        engine = streams._instance._engine
        assert engine is not None
        reading, use_recreated_topics, run = engine.tasks[1].state.runtime, engine.use_recreated_topics, engine._cluster.run
        begun, going, renewed = threading.Event(), threading.Event(), threading.Event()

        def held(runtime, batch, inputs):  # the batch has begun, with what was fetched, when the topic goes away
            if runtime is reading and not begun.is_set():
                begun.set()
                assert going.wait(WAIT_S)
            run(runtime, batch, inputs)

        def late(topics, create):  # it is counted before the topic is made again
            going.set()
            app.await_results({"a": 1, "b": 1})
            unread = use_recreated_topics(topics, create)
            renewed.set()
            return unread

        monkeypatch.setattr(engine._cluster, "run", held)
        monkeypatch.setattr(engine, "use_recreated_topics", late)
        app.send("b")
        assert begun.wait(WAIT_S)
        app.cluster.admin.delete([app.repartition])
        # What is sent before would be written to the topic that is gone, for which a producer waits two minutes.
        assert renewed.wait(WAIT_S)
        app.send("a")
        app.await_results({"a": 2, "b": 1})
        assert streams.state() is State.RUNNING, streams.error


def test_a_batch_that_would_write_to_a_topic_which_is_gone_is_done_again_with_the_new_one(
    make: Callable[..., Application], monkeypatch
):
    timeout_ms = str(WAIT_S * 4000)  # a producer waits longer for a topic than this test
    app = make(producer_delivery_timeout_ms=timeout_ms, producer_max_block_ms=timeout_ms)
    with app.running() as streams:
        app.send("a")
        app.await_results({"a": 1})
        engine = streams._instance._engine
        assert engine is not None
        writing, use_recreated_topics, run = engine.tasks[0].state.runtime, engine.use_recreated_topics, engine._cluster.run
        begun = threading.Event()

        def observed(runtime, batch, inputs):
            if runtime is writing:
                begun.set()
            run(runtime, batch, inputs)

        def late(topics, create):  # the batch that writes to the topic has begun before the topic is made again
            if not begun.is_set():
                app.send("b")
                assert begun.wait(WAIT_S)
            return use_recreated_topics(topics, create)

        monkeypatch.setattr(engine._cluster, "run", observed)
        monkeypatch.setattr(engine, "use_recreated_topics", late)
        app.cluster.admin.delete([app.repartition])
        app.await_results({"a": 1, "b": 1})
        assert streams.state() is State.RUNNING, streams.error


@contextmanager
def commit_of_a_topic_that_is_gone(app: Application, streams: KafkaStreams, monkeypatch, topic: str) -> Iterator[None]:
    """A batch that has read internal topics begins within the context, and commits after the topic has been deleted."""
    engine = streams._instance._engine
    assert engine is not None
    reading, run = engine.tasks[1].state.runtime, engine._cluster.run
    begun, gone = threading.Event(), threading.Event()

    def held(runtime, batch, inputs):
        run(runtime, batch, inputs)
        if runtime is reading and not begun.is_set():
            begun.set()
            assert gone.wait(WAIT_S)

    monkeypatch.setattr(engine._cluster, "run", held)
    yield
    assert begun.wait(WAIT_S)
    app.cluster.admin.delete([topic])
    wait_until(lambda: app.cluster.admin.describe(topic) is None, WAIT_S, "the topic is gone")
    gone.set()


def _exactly_once(make: Callable[..., Application]) -> Application:
    timeout_ms = str(WAIT_S * 4000)  # a producer waits longer for a topic than this test
    return make(processing_guarantee="exactly_once_v2", producer_delivery_timeout_ms=timeout_ms, producer_max_block_ms=timeout_ms)


def test_exactly_once_records_whose_topic_goes_away_before_they_are_committed_are_not_lost_in_silence(
    make: Callable[..., Application], monkeypatch
):
    app = _exactly_once(make)
    with app.running() as streams:
        app.send("a")
        app.await_results({"a": 1})
        with commit_of_a_topic_that_is_gone(app, streams, monkeypatch, app.repartition):
            app.send("b")
        await_unread_records_lost(app, streams)
    with app.running():
        app.send("a")
        app.await_results({"a": 2})


def test_exactly_once_a_batch_whose_other_topic_goes_away_is_done_again(
    make: Callable[..., Application], topic_name: Callable[[str], str], monkeypatch
):
    app, other = _exactly_once(make), topic_name("other")
    app.cluster.create(other, 2)
    builder = StreamsBuilder()
    strings = Consumed.with_(Serdes.string(), Serdes.string())
    counts = builder.stream(app.source, strings).group_by(lambda key, value: value).count(Materialized.as_("counts"))
    joined = builder.stream(other, strings).join(counts, lambda value, count: count)
    joined.to(app.sink, Produced.with_(Serdes.string(), Serdes.long()))
    ask = partial(app.cluster.produce, other, [record(b"a", b"?"), record(b"a", b"?", partition=1)])
    with KafkaStreams(builder.build(app.config), app.config) as streams:
        streams.start()
        app.send("a")
        wait_until(lambda: streams.state() is State.RUNNING and dict(streams.store("counts").all()) == {"a": 1}, WAIT_S, "a row")
        with commit_of_a_topic_that_is_gone(app, streams, monkeypatch, app.repartition):
            ask()
        app.await_results({"a": 1})
        app.send("a")
        wait_until(lambda: dict(streams.store("counts").all()) == {"a": 2}, WAIT_S, lambda: str(streams.error))
        ask()
        app.await_results({"a": 2})
        assert len(app.cluster.read(app.sink, settled=True)) == 2


def test_exactly_once_a_commit_for_a_topic_that_is_gone_ends_at_max_block_ms(
    make: Callable[..., Application], monkeypatch, events
):
    app = make(
        processing_guarantee="exactly_once_v2", producer_max_block_ms="3000", metadata_max_age_ms=str(WAIT_S * 4000),
        internal_topics_setup="manual",
    )  # fmt: skip
    app.streams().init()
    with app.running() as streams:
        app.send("a")
        app.await_results({"a": 1})
        with commit_of_a_topic_that_is_gone(app, streams, monkeypatch, app.repartition):
            app.send("b")
        assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000), streams.state()
        assert f"Missing internal topics: {app.repartition}. If the application" in str(streams.error)
    said = [entry["event"] for entry in events if "tried again" in entry["event"]]  # others may have taken a second, too
    missing = f"Topics that it has read are missing: {app.repartition}. `headrace streams init` creates"
    assert any(missing in event for event in said), said


def test_what_is_read_while_a_changelog_waits_to_be_filled_again_counts_once(make: Callable[..., Application], monkeypatch):
    app, away, back = make(), threading.Event(), threading.Event()
    with app.running() as streams:
        app.send("a", "b", "a")
        app.await_results({"a": 2, "b": 1})
        engine = streams._instance._engine
        assert engine is not None
        write = engine._cluster.write

        def failing(rows, number) -> None:
            if number == 0 and not back.is_set():
                away.set()
                raise RetriableError("The broker is away for a while.")
            write(rows, number)

        monkeypatch.setattr(engine._cluster, "write", failing)
        app.cluster.admin.delete([app.changelog, app.repartition])
        assert away.wait(WAIT_S)
        app.send("a")
        app.await_results({"a": 3, "b": 1})
        back.set()
        wait_until(lambda: {r.key for r in app.cluster.read(app.changelog)} == {b"a", b"b"}, WAIT_S, "it is filled again")
        app.send("b")
        app.await_results({"a": 3, "b": 2})
    with app.running() as again:
        assert dict(again.store("counts").all()) == {"a": 3, "b": 2}


def test_a_source_topic_that_goes_away_ends_every_instance(make: Callable[..., Application]):
    app = make()
    with two_instances(app) as instances:
        app.cluster.admin.delete([app.source])
        for streams in instances:
            assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000), streams.state()
            assert isinstance(streams.error, MissingSourceTopicError), streams.error
            assert str(streams.error).startswith(f"Missing source topics: {app.source}. Create them")


def test_a_source_topic_has_to_be_there(make: Callable[..., Application]):
    app = make()
    app.cluster.admin.delete([app.source])
    with pytest.raises(MissingSourceTopicError):
        app.streams().start()


def test_more_partitions_of_a_source_topic_do_not_fit_to_internal_topics(make: Callable[..., Application]):
    app = make()
    with two_instances(app) as instances:
        app.cluster.grow(app.source, 3)
        for streams in instances:
            assert streams.wait_for(State.ERROR, timeout=WAIT_S * 1000), streams.state()
            assert "requires 3 partitions, but the existing topic on the broker has 2 partitions. Either" in str(streams.error)
    with pytest.raises(StreamsError, match="Either this topic was altered, or a source topic has more partitions"):
        app.streams().start()


def test_without_internal_topics_new_partitions_are_read(make: Callable[..., Application]):
    app = make()
    builder = StreamsBuilder()
    builder.stream(app.source, Consumed.with_(Serdes.string(), Serdes.string())).to(app.sink)
    with KafkaStreams(builder.build(), app.config) as streams:
        streams.start()
        app.send("a", "b")
        wait_until(lambda: _values(app, app.sink) == {b"a", b"b"}, WAIT_S, "both records")
        app.cluster.grow(app.source, 3)
        app.send("c", partition=2)
        wait_until(lambda: _values(app, app.sink) == {b"a", b"b", b"c"}, WAIT_S, "the record of the new partition")
        assert streams.state() is not State.ERROR
