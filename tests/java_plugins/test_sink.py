"""Sink connectors in Java on a worker, against real Kafka: they are run as Kafka Connect runs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import RestError
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S, Deployed
from tests.java_plugins.archives import AVRO, JOURNAL, SHOUT
from tests.support import wait_until

Create = Callable[..., Deployed]
TEXT = {f"{part}_converter": "org.apache.kafka.connect.storage.StringConverter" for part in ("key", "value")}


@pytest.fixture
def topic(topic_name: Callable[[str], str], cluster: Cluster) -> str:
    name = topic_name("sunk")
    cluster.create(name)
    return name


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def lines(journal: Path) -> list[str]:
    return journal.read_text().splitlines() if journal.exists() else []


def values(journal: Path) -> list[str]:
    """The values that were put, in their order."""
    return [line.split("=")[1].split(" ")[0] for line in lines(journal) if line.startswith("put ")]


def texts(*values: str) -> list[Sent]:
    return [record(b"k", value.encode()) for value in values]


def await_values(journal: Path, *wanted: str) -> None:
    wait_until(lambda: values(journal) == list(wanted), CONNECTOR_S, lambda: f"{wanted}, not {lines(journal)}")


def offsets(sink: Deployed) -> list[tuple[int, int]]:
    """Partition and committed offset."""
    found = sink.worker.call("GET", sink.path + "/offsets")["offsets"]
    return sorted((o["partition"]["kafka_partition"], o["offset"]["kafka_offset"]) for o in found)


def test_a_task_is_called_in_kafkas_order_with_kafkas_records(connector: Create, cluster: Cluster, topic: str, journal: Path):
    cluster.produce(topic, [record(b"1", b"a", [("h", b"x")]), record(None, None)])
    sink = connector(JOURNAL, topics=topic, journal=str(journal), **TEXT)
    await_values(journal, "a", "null")
    assert lines(journal) == [
        f"start true task-thread-{sink.name}-0",
        "open [0] 1",
        f"put {topic}-0@0 1=a CreateTime ConnectHeaders(headers=[ConnectHeader(key=h, value=x, schema=Schema{{STRING}})])",
        f"put {topic}-0@1 null=null CreateTime ConnectHeaders(headers=)",
    ]
    assert sink.await_states("RUNNING", "RUNNING")["type"] == "sink"
    sink.await_topics(topic)
    sink.put("pause")
    sink.await_states("PAUSED", "PAUSED")
    assert lines(journal)[-2:] == ["close [0]", "stop"]
    assert offsets(sink) == [(0, 2)]
    sink.put("resume")
    cluster.produce(topic, texts("b"))
    await_values(journal, "a", "null", "b")


def test_what_a_task_asks_of_its_context_is_done(connector: Create, cluster: Cluster, topic: str, journal: Path):
    cluster.produce(topic, texts("a", "retry", "commit"))
    sink = connector(JOURNAL, topics=topic, journal=str(journal), consumer_override_max_poll_records="1", **TEXT)
    await_values(journal, "a", "retry", "commit")
    wait_until(lambda: offsets(sink) == [(0, 3)], CONNECTOR_S, "the commit that was asked for")
    assert [line for line in lines(journal) if line.startswith("again")] == ["again after 1", "again after 2"]
    cluster.produce(topic, texts("rewind", "pause", "never"))
    await_values(journal, *["a", "retry", "commit", "rewind"], *["a", "retry", "commit", "rewind", "pause"])


def test_pre_commit_decides_what_is_committed(connector: Create, cluster: Cluster, topic: str, journal: Path):
    cluster.produce(topic, texts("a", "b", "commit"))
    sink = connector(JOURNAL, topics=topic, journal=str(journal), hold="yes", **TEXT)
    wait_until(lambda: offsets(sink) == [(0, 2)], CONNECTOR_S, lambda: str(offsets(sink)))


def test_an_errant_record_and_one_that_cannot_be_converted_are_dead_letters(
    connector: Create, cluster: Cluster, topic: str, journal: Path
):
    letters = topic + "-letters"
    cluster.produce(topic, [record(b"{}", b'"errant"'), record(b"{}", b"no json"), record(b"{}", b'"good"')])
    settings: dict[str, str] = {
        "errors_tolerance": "all", "errors_deadletterqueue_topic_name": letters,
        "errors_deadletterqueue_topic_replication_factor": "1", "errors_deadletterqueue_context_headers_enable": "true",
        "secret": "hunter2hunter2",
    }  # fmt: skip
    sink = connector(JOURNAL, topics=topic, journal=str(journal), **settings)
    await_values(journal, "errant", "good")
    wait_until(lambda: cluster.size(letters) == 2, CONNECTOR_S, "two dead letters")
    found = {r.value: dict(r.headers) for r in cluster.read(letters)}
    assert found.keys() == {b'"errant"', b"no json"}
    assert found[b'"errant"']["__connect.errors.stage"] == b"TASK_PUT"
    assert found[b'"errant"']["__connect.errors.exception.message"] == b"not this one [hidden]"
    assert b"hunter2" not in b"".join(value or b"" for letter in found.values() for value in letter.values())
    assert found[b"no json"]["__connect.errors.stage"] == b"VALUE_CONVERTER"
    assert found[b"no json"]["__connect.errors.connector.name"] == sink.name.encode()
    replayed = sink.worker.call("POST", f"/headrace/dead-letters/{letters}/replay", {"letters": ["0:0", "0:1"]})["letters"]
    assert [(one["outcome"], one["topic"]) for one in replayed] == [("replayed", topic)] * 2
    assert [r.value for r in cluster.read(topic, settled=True)][3:] == [r.value for r in cluster.read(letters)][:2]


def test_partitions_are_shared_among_tasks_and_topics_found_by_a_pattern(
    connector: Create, cluster: Cluster, topic_name: Callable[[str], str], journal: Path
):
    topic = topic_name("pattern")
    cluster.create(topic, 2)
    cluster.produce(topic, [record(b"k", b"a", partition=0), record(b"k", b"b", partition=1)])
    sink = connector(JOURNAL, topics_regex=topic + ".*", journal=str(journal), tasks_max="2", **TEXT)
    wait_until(lambda: {"a", "b"} <= set(values(journal)), CONNECTOR_S, lambda: str(lines(journal)))
    wait_until(lambda: {"open [0] 1", "open [1] 1"} <= set(lines(journal)), CONNECTOR_S, lambda: str(lines(journal)))
    sink.await_states("RUNNING", "RUNNING", "RUNNING")


def test_the_connector_agrees_to_offsets(connector: Create, cluster: Cluster, topic: str, journal: Path):
    cluster.produce(topic, texts("a", "b", "c"))
    sink = connector(JOURNAL, topics=topic, journal=str(journal), **TEXT)
    await_values(journal, "a", "b", "c")
    sink.put("stop")
    sink.await_states("STOPPED")
    partition = {"kafka_topic": topic, "kafka_partition": 0}
    change: dict[str, Any] = {"offsets": [{"partition": partition, "offset": {"kafka_offset": 1}}]}
    with pytest.raises(RestError, match="Offsets are even"):
        sink.worker.call("PATCH", sink.path + "/offsets", change)
    change["offsets"][0]["offset"] = {"kafka_offset": 2}
    assert "altered successfully" in sink.worker.call("PATCH", sink.path + "/offsets", change)["message"]
    sink.put("resume")
    await_values(journal, "a", "b", "c", "c")
    sink.put("stop")
    sink.await_states("STOPPED")
    assert "reset successfully" in sink.worker.call("DELETE", sink.path + "/offsets")["message"]
    assert offsets(sink) == []


@pytest.mark.parametrize("method", ["preCommit", "flush", "close", "stop", "connector.stop"])
def test_what_throws_when_it_commits_or_ends_can_be_deleted(
    connector: Create, cluster: Cluster, topic: str, journal: Path, method: str
):
    cluster.produce(topic, texts("a", "commit"))
    sink = connector(JOURNAL, topics=topic, journal=str(journal), fail=method, **TEXT)
    wait_until(lambda: set(values(journal)) == {"a", "commit"}, CONNECTOR_S, lambda: str(lines(journal)))
    sink.await_states("RUNNING", "RUNNING")
    sink.delete()


@pytest.mark.parametrize("method", ["connector.start", "initialize", "start", "open", "put"])
def test_what_throws_fails_with_its_own_trace(connector: Create, cluster: Cluster, topic: str, journal: Path, method: str):
    cluster.produce(topic, texts("a"))
    sink = connector(JOURNAL, topics=topic, journal=str(journal), fail=method, secret="hunter2", **TEXT)
    trace = sink.trace()
    assert f"java.lang.IllegalStateException: no luck in {method} with [hidden]" in trace
    if method == "put":
        assert trace.startswith(
            "org.apache.kafka.connect.errors.ConnectException: Exiting WorkerSinkTask due to unrecoverable exception.\n"
        )


def test_transforms_in_java_and_kafkas_own_come_before_the_task(connector: Create, cluster: Cluster, topic: str, journal: Path):
    cluster.produce(topic, [record(b"k", b'{"n": 1}')])
    connector(
        JOURNAL, topics=topic, journal=str(journal), key_converter=TEXT["key_converter"], transforms="n,route",
        transforms_n_type="org.apache.kafka.connect.transforms.ExtractField$Value", transforms_n_field="n",
        transforms_route_type="org.apache.kafka.connect.transforms.RegexRouter", transforms_route_regex=".*",
        transforms_route_replacement="routed",
    )  # fmt: skip
    await_values(journal, "1")
    assert lines(journal)[-1].startswith("put routed-0@0 k=1 ")


def test_a_converter_on_the_path_takes_the_place_of_headraces_own(connector: Create, cluster: Cluster, topic: str, journal: Path):
    cluster.produce(topic, texts("a"))
    connector(JOURNAL, topics=topic, journal=str(journal), **{**TEXT, "value_converter": AVRO})
    await_values(journal, "a")


_PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"
_OWN_PREDICATE = {
    "transforms": "loud", "transforms.loud.type": SHOUT, "transforms.loud.predicate": "p", "predicates": "p",
    "predicates.p.type": "headrace.predicates.Not", "predicates.p.predicate": "q",
}  # fmt: skip


@pytest.mark.parametrize(
    ("own", "option", "advice"),
    [
        ({"value.converter": _PROTOBUF}, "value.converter", "use a converter in Java, on plugin.path"),
        ({"transforms": "o", "transforms.o.type": "headrace.transforms.Sql"}, "transforms.o.type", "leave it out"),
        (_OWN_PREDICATE, "predicates.p.type", "leave it out"),
    ],
    ids=["converter", "transform", "predicate of a transform in Java"],
)
def test_what_the_host_cannot_run_is_refused_in_a_sentence_before_it_runs(
    java_worker: EmbeddedWorker, own: dict[str, str], option: str, advice: str
):
    config = {"name": "c", "connector.class": JOURNAL, "topics": "t", **own}
    answer = java_worker.call("PUT", f"/connector-plugins/{JOURNAL}/config/validate", config)
    problems = {entry["value"]["name"]: entry["value"]["errors"] for entry in answer["configs"] if entry["value"]}
    (why,) = [error for error in problems[option] if "cannot run in a sink connector that is written in Java" in error]
    assert why.startswith(f"Invalid value {own[option]} for configuration {option}: ")
    assert why.endswith(advice)


def test_the_version_of_a_converter_that_headrace_has_itself_is_of_the_one_on_the_path(
    connector: Create, java_worker: EmbeddedWorker, cluster: Cluster, topic: str, journal: Path
):
    of_path = {**TEXT, "value_converter": AVRO, "value_converter_plugin_version": "1.0"}
    of_path["value_converter_stamp_read"] = "yes"
    cluster.produce(topic, texts("a"))
    sink = connector(JOURNAL, topics=topic, journal=str(journal), **of_path)
    await_values(journal, "a@1.0")
    answer = java_worker.call(
        "PUT", f"/connector-plugins/{JOURNAL}/config/validate", {**sink.config, "value.converter.plugin.version": "3"}
    )
    (version,) = [e["value"] for e in answer["configs"] if e["value"]["name"] == "value.converter.plugin.version"]
    assert "available versions: [1.0, 2.0-beta]" in version["errors"][0]


def test_kafkas_file_sink_runs_in_java(connector: Create, cluster: Cluster, topic: str, tmp_path: Path):
    file = tmp_path / "sunk.txt"
    cluster.produce(topic, texts("one", "two"))
    sink = connector("FileStreamSink", connector_engine="java", topics=topic, file=str(file), **TEXT)
    wait_until(lambda: file.exists() and file.read_text() == "one\ntwo\n", CONNECTOR_S, "two lines")
    assert sink.await_states("RUNNING", "RUNNING")["connector"]["version"] == "4.3.0"
