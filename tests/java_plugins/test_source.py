"""Source connectors in Java on a worker, against real Kafka."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest

from headrace.connectors.java import kafka_task, polled_task
from headrace.errors import RestError
from headrace.runtime import hosted_work
from headrace.spark.connect_host import ConnectHost
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S, Deployed, deploying
from tests.java_plugins.archives import COUNTING, THROWING_VERSION
from tests.support import wait_until

Create = Callable[..., Deployed]
OWN = {"transforms": "own", "transforms.own.type": "headrace.transforms.Sql", "transforms.own.value.twice": "value.n * 2"}
"""What only Spark can apply: it delivers what the task polls."""


@pytest.fixture
def topic(topic_name: Callable[[str], str]) -> str:
    return topic_name("numbers")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def lines(journal: Path) -> list[str]:
    return journal.read_text().splitlines() if journal.exists() else []


def await_line(journal: Path, line: str) -> None:
    wait_until(lambda: line in lines(journal), CONNECTOR_S, lambda: f"{line!r} in {lines(journal)}")


def records_of(cluster: Cluster, topic: str, count: int) -> list[Sent]:
    """The records of a topic, once there are so many that are committed: ends count open transactions and their marks, too."""

    def there() -> list[Sent]:
        found = cluster.read(topic) if cluster.size(topic) >= count else []
        return found if len(found) >= count else []

    return wait_until(there, CONNECTOR_S, lambda: f"{count} records, not {len(cluster.read(topic))}")


def test_records_arrive_as_the_converters_write_them_and_the_task_hears_of_each(
    connector: Create, cluster: Cluster, topic: str, journal: Path
):
    source = connector(COUNTING, topic=topic, records="7", journal=str(journal), retry="yes")
    records = records_of(cluster, topic, 7)
    assert [json.loads(r.value or b"") for r in records][:2] == [{"n": 0, "word": None}, {"n": 1, "word": "odd"}]
    assert {(r.key, r.timestamp, tuple(r.headers)) for r in records[:1]} == {(b'"0"', 1700000000001, (("counted", b"0"),))}
    await_line(journal, "stored 7")
    await_line(journal, f"commitRecord 7 {topic}-0@6")  # by the producer's thread, which counts a record as written before
    noted = [line for line in lines(journal) if not line.startswith("stored") and line != "commit"]
    assert noted == ["start at 0", *(f"commitRecord {n} {topic}-0@{n - 1}" for n in range(1, 8))]
    await_line(journal, "commit")  # by another thread, after the offsets are stored
    assert source.worker.call("GET", source.path + "/offsets")["offsets"] == [
        {"partition": {"counter": "0"}, "offset": {"at": 7}}
    ]
    source.await_topics(topic)


@pytest.fixture
def creating_no_topic(java_worker: EmbeddedWorker, topic_name: Callable[[str], str]) -> Iterator[Create]:
    """Creates connectors that have none of the settings `topic.creation.*`, and deletes them after the test."""
    yield from deploying(java_worker, Deployed, lambda: topic_name("java"))


def test_that_records_wait_for_a_topic_that_nobody_creates_is_logged(
    creating_no_topic: Create, cluster: Cluster, topic: str, journal: Path, monkeypatch: pytest.MonkeyPatch,
    events: list[MutableMapping[str, Any]],
):  # fmt: skip
    monkeypatch.setattr(kafka_task, "_IDLE_WAIT_MS", 200)
    monkeypatch.setattr(hosted_work, "_WAITED_S", 1.0)
    source = creating_no_topic(COUNTING, topic=topic, records="7", journal=str(journal))
    waiting = lambda: [e for e in events if e["event"] == "task.records-wait" and e["connector"] == source.name]  # noqa: E731
    wait_until(waiting, CONNECTOR_S, "that records wait is logged")
    cluster.create(topic)
    records_of(cluster, topic, 7)
    assert [(event["records"], event["task"]) for event in waiting()] == [(3, 0)]  # those of its first poll


def test_an_idle_task_is_asked_for_records_alone_and_stops_while_it_is(
    connector: Create, cluster: Cluster, topic: str, journal: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(polled_task, "_POLL_MS", 600_000)
    asked, exchange = list[tuple[str, str]](), ConnectHost.exchange

    def noted(host: ConnectHost, method: str, request: str) -> str:
        asked.append((method, request))
        return exchange(host, method, request)

    monkeypatch.setattr(ConnectHost, "exchange", noted)
    source = connector(COUNTING, topic=topic, records="2", journal=str(journal), **OWN)

    def of_task() -> list[str]:
        return [method for method, request in list(asked) if method.startswith("task.") and source.name in request]

    await_line(journal, "stored 2")
    wait_until(lambda: of_task()[-1] == "task.cut", CONNECTOR_S, lambda: f"a wait for records, the last of {of_task()}")
    source.delete()
    await_line(journal, "stop")
    methods = of_task()
    assert "task.awaitStart" not in methods[methods.index("task.cut") :]


def test_transforms_are_compiled_and_schemas_reach_them(connector: Create, cluster: Cluster, topic: str):
    connector(
        COUNTING, topic=topic, records="2", transforms="n,t",
        transforms_n_type="org.apache.kafka.connect.transforms.ExtractField$Value", transforms_n_field="n",
        transforms_t_type="org.apache.kafka.connect.transforms.RegexRouter", transforms_t_regex="(.*)",
        transforms_t_replacement="$1-routed",
    )  # fmt: skip
    assert [r.value for r in records_of(cluster, topic + "-routed", 2)] == [b"0", b"1"]


@pytest.mark.parametrize("delivered", ["by Kafka's code", "by Spark"])
def test_topics_are_created_by_the_rules_of_their_group(connector: Create, cluster: Cluster, topic: str, delivered: str):
    rules = {"topic.creation.groups": "wide", "topic.creation.wide.include": "numbers-.*", "topic.creation.wide.partitions": "3"}
    rules |= {"topic.creation.wide.replication.factor": "1", "topic.creation.wide.retention.ms": "86400000"}
    connector(COUNTING, topic=topic, records="1", **rules, **(OWN if delivered == "by Spark" else {}))
    records_of(cluster, topic, 1)
    created = cluster.admin.describe(topic)
    assert created is not None
    assert len(created.partitions) == 3
    assert cluster.admin.topic_configs(topic, own_only=True) == {"retention.ms": "86400000"}


def test_topics_are_created_by_the_first_rule_that_matches(connector: Create, cluster: Cluster, topic: str):
    rules = {"topic.creation": "own,default", "topic.creation.own.regex": f"{topic}", "topic.creation.own.partitions": "2"}
    rules |= {"topic.creation.own.replication.factor": "1"}
    connector(COUNTING, topic=topic, records="1", **rules, **{"topic.creation.default.regex": ".*"})
    records_of(cluster, topic, 1)
    created = cluster.admin.describe(topic)
    assert created is not None and len(created.partitions) == 2


def test_each_task_has_its_configuration_and_resumes_from_its_offset(
    connector: Create, cluster: Cluster, topic: str, journal: Path
):
    source = connector(COUNTING, topic=topic, records="3", journal=str(journal), tasks_max="2")
    source.await_states("RUNNING", "RUNNING", "RUNNING")
    assert sorted(str(r.key) for r in records_of(cluster, topic, 6)) == ["b'\"0\"'"] * 3 + ["b'\"1\"'"] * 3
    wait_until(lambda: len(source.worker.call("GET", source.path + "/offsets")["offsets"]) == 2, CONNECTOR_S, "both offsets")
    source.put("pause")
    source.await_states("PAUSED", "PAUSED", "PAUSED")
    assert lines(journal).count("stop") == 2
    source.put("resume")
    source.await_states("RUNNING", "RUNNING", "RUNNING")
    wait_until(lambda: lines(journal).count("start at 3") == 2, CONNECTOR_S, lambda: f"two starts in {lines(journal)}")
    tasks = source.worker.call("GET", source.path + "/tasks")
    assert {task["config"]["task.class"] for task in tasks} == {"org.example.CountingSourceTask"}


def test_offsets_are_altered_as_the_connector_agrees(connector: Create, cluster: Cluster, topic: str, journal: Path):
    source = connector(COUNTING, topic=topic, records="4", journal=str(journal))
    records_of(cluster, topic, 4)
    await_line(journal, "stored 4")
    source.put("stop")
    source.await_states("STOPPED")
    change: dict[str, Any] = {"offsets": [{"partition": {"counter": "0"}, "offset": {"at": "two"}}]}
    source.configure({"fail": "alterOffsets", "secret": "hunter2hunter2"})
    with pytest.raises(RestError, match=r": Failed to modify offsets for source connector java-[-\w]+$"):
        source.worker.call("PATCH", source.path + "/offsets", change)
    source.configure({"fail": None})
    with pytest.raises(RestError, match="Offsets have a whole number 'at'"):
        source.worker.call("PATCH", source.path + "/offsets", change)
    change["offsets"][0]["offset"] = {"at": 2}
    answer = source.worker.call("PATCH", source.path + "/offsets", change)
    assert answer["message"].endswith("have been altered successfully")
    source.put("resume")
    await_line(journal, "start at 2")


@pytest.mark.parametrize("delivered", ["by Kafka's code", "by Spark"])
@pytest.mark.parametrize("method", ["initialize", "start", "poll"])
def test_a_task_that_throws_is_failed_with_its_own_trace(connector: Create, topic: str, method: str, delivered: str):
    chain = OWN if delivered == "by Spark" else {}
    renamed = {"rename": "yes"} if method == "poll" else {}  # a task may have a secret under another name
    trace = connector(COUNTING, topic=topic, fail=method, secret="hunter2", **chain, **renamed).trace()
    assert trace.startswith(f"java.lang.IllegalStateException: no luck in {method} with [hidden]\n")
    assert "at org.example.CountingSourceTask" in trace


@pytest.mark.parametrize("delivered", ["by Kafka's code", "by Spark"])
@pytest.mark.parametrize(("method", "thrown"), [("commitRecord", {}), ("commit", {}), ("commitRecord", {"linkage": "yes"})])
def test_a_task_that_throws_when_records_are_committed_goes_on(
    connector: Create, cluster: Cluster, topic: str, journal: Path, method: str, thrown: dict[str, str], delivered: str
):
    chain = OWN if delivered == "by Spark" else {}
    connector(COUNTING, topic=topic, records="4", journal=str(journal), fail=method, **thrown, **chain)
    records_of(cluster, topic, 4)
    await_line(journal, "stored 4")


def test_a_class_whose_version_throws_is_there_and_its_task_is_failed(java_worker: EmbeddedWorker, connector: Create, topic: str):
    listed = {plugin["class"]: plugin for plugin in java_worker.call("GET", "/connector-plugins")}
    assert listed[THROWING_VERSION].keys() == {"class", "type"}  # without a version
    trace = connector(THROWING_VERSION, topic=topic).trace()
    assert trace.startswith("java.lang.IllegalStateException: no luck in the task's version\n")


@pytest.mark.parametrize("method", ["connector.start", "taskClass"])
def test_a_connector_that_throws_is_failed_with_its_own_trace(connector: Create, topic: str, method: str):
    trace = connector(COUNTING, topic=topic, fail=method).trace()
    assert trace.startswith(f"java.lang.IllegalStateException: no luck in {method}\n")


def test_what_throws_when_it_stops_can_be_deleted(connector: Create, topic: str, journal: Path):
    for method in ("stop", "connector.stop"):
        source = connector(COUNTING, topic=topic, fail=method, journal=str(journal))
        await_line(journal, "stored 10")
        source.delete()


@pytest.mark.parametrize("method", ["connector.start", "taskConfigs", "connector.stop"])
def test_what_never_returns_holds_up_neither_pause_nor_restart_nor_deletion(connector: Create, topic: str, method: str):
    source = connector(COUNTING, topic=topic, hang=method)
    if method == "connector.stop":
        source.await_states("RUNNING", "RUNNING")
    source.put("pause")
    wait_until(lambda: source.states()[:1] == ["PAUSED"], CONNECTOR_S, lambda: f"the pause: {source.status()}")
    source.configure({"hang": None})
    source.put("resume")
    source.await_states("RUNNING", "RUNNING")
    source.configure({"hang": method})
    source.delete()


def test_an_error_that_a_connector_raises_later_fails_it(connector: Create, topic: str):
    assert connector(COUNTING, topic=topic, **{"raise": "gone"}).trace().startswith("java.lang.IllegalStateException: gone\n")


def test_a_connector_may_ask_for_its_tasks_to_be_configured_again(connector: Create, topic: str):
    counting = connector(COUNTING, topic=topic, reconfigure="yes", tasks_max="2")  # its first answer has one task
    counting.await_states("RUNNING", "RUNNING", "RUNNING")


def test_the_version_that_is_asked_for_runs(connector: Create, topic: str):
    source = connector(COUNTING, topic=topic, connector_plugin_version="[1.0,2.0-alpha)")
    status = source.await_states("RUNNING", "RUNNING")
    assert status["connector"]["version"] == "1.0"


def test_kafkas_own_file_source_runs_in_java(connector: Create, cluster: Cluster, topic: str, tmp_path: Path):
    file = tmp_path / "lines.txt"
    file.write_text("one\ntwo\n")
    connector(
        "FileStreamSource", connector_engine="java", file=str(file), topic=topic,
        value_converter="org.apache.kafka.connect.storage.StringConverter",
    )  # fmt: skip
    assert [r.value for r in records_of(cluster, topic, 2)] == [b"one", b"two"]
    with file.open("a") as more:
        more.write("three\n")
    assert records_of(cluster, topic, 3)[2].value == b"three"


def test_mirror_makers_heartbeats_run_in_java(connector: Create, cluster: Cluster, topic_name: Callable[[str], str]):
    alias, target = topic_name("alias"), {"target.cluster.bootstrap.servers": cluster.bootstrap}
    converters = {f"{part}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter" for part in ("key", "value")}
    connector(
        "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector", connector_engine="java", source_cluster_alias=alias,
        target_cluster_alias="here", heartbeats_topic_replication_factor="1", **target, **converters,
    )  # fmt: skip

    def beats() -> bool:
        return any(alias.encode() in (r.key or b"") for r in cluster.read("heartbeats"))

    wait_until(beats, CONNECTOR_S, f"a heartbeat of {alias}")


def test_mirror_makers_source_runs_in_java_and_knows_the_offsets_of_its_copies(
    connector: Create, cluster: Cluster, source: Cluster, topic: str, topic_name: Callable[[str], str]
):
    alias = topic_name("alias")
    source.create(topic)
    source.produce(topic, [record(b"k", b"a"), record(b"k", b"b")])
    clusters = {"source.cluster.bootstrap.servers": source.bootstrap, "target.cluster.bootstrap.servers": cluster.bootstrap}
    converters = {f"{p}.converter": "org.apache.kafka.connect.converters.ByteArrayConverter" for p in ("key", "value", "header")}
    connector(
        "org.apache.kafka.connect.mirror.MirrorSourceConnector", connector_engine="java", source_cluster_alias=alias,
        target_cluster_alias="there", topics=topic, replication_factor="1", sync_topic_acls_enabled="false", **clusters,
        **{"offset-syncs.topic.replication.factor": "1"}, **converters,
    )  # fmt: skip
    assert [r.value for r in records_of(cluster, f"{alias}.{topic}", 2)] == [b"a", b"b"]
    wait_until(lambda: source.size("mm2-offset-syncs.there.internal") > 0, CONNECTOR_S, "an offset sync")
