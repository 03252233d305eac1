"""The connectors that Kafka's own tests use, as acceptance suite: sources and sinks."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.clusters import Cluster, record
from tests.deployed import Deployed
from tests.java_plugins.test_source import records_of

Create = Callable[..., Deployed]
TOOLS = "org.apache.kafka.connect.tools."


@pytest.fixture
def topic(topic_name: Callable[[str], str], cluster: Cluster) -> str:
    name = topic_name("tools")
    cluster.create(name)
    return name


def test_the_verifiable_source_counts_and_resumes_after_a_restart(connector: Create, cluster: Cluster, topic: str):
    source = connector(TOOLS + "VerifiableSourceConnector", topic=topic, throughput="50")
    first = records_of(cluster, topic, 20)
    assert [json.loads(r.value or b"") for r in first] == list(range(len(first)))
    assert {r.key for r in first} == {b"0"}
    source.restart("?includeTasks=true")
    before = cluster.size(topic)
    found = records_of(cluster, topic, before + 100)
    assert sorted({int(r.value or b"") for r in found}) == list(range(int(found[-1].value or b"") + 1))
    offsets = source.worker.call("GET", source.path + "/offsets")["offsets"]
    assert [one["partition"] for one in offsets] == [{"id": 0}]


def test_the_schema_source_writes_two_schemas_to_the_partition_that_it_names(connector: Create, cluster: Cluster, topic: str):
    cluster.grow(topic, 2)
    connector(
        TOOLS + "SchemaSourceConnector", topic=topic, throughput="100", num_messages="20", multiple_schema="true",
        partition_count="2", value_converter_schemas_enable="true",
        value_converter="org.apache.kafka.connect.json.JsonConverter",
    )  # fmt: skip
    found = records_of(cluster, topic, 20)
    assert len({json.dumps(json.loads(r.value or b"")["schema"]) for r in found}) == 2
    assert {r.partition for r in found} == {0}  # the number of its task


@pytest.mark.parametrize("kind", ["Source", "Sink"])
@pytest.mark.parametrize("mode", ["connector-failure", "task-failure"])
def test_the_mock_connectors_fail_when_they_are_to(connector: Create, cluster: Cluster, topic: str, kind: str, mode: str):
    cluster.produce(topic, [record(b"1", b"1")])
    topics = {"topics": topic} if kind == "Sink" else {}
    mock = connector(f"{TOOLS}Mock{kind}Connector", **topics)
    mock.configure({"mock_mode": mode, "delay_ms": "1"})
    assert "java.lang.RuntimeException" in mock.trace()


def test_the_verifiable_sink_reads_all_there_is(connector: Create, cluster: Cluster, topic: str):
    cluster.produce(topic, [record(b"0", b"%d" % n) for n in range(3)])
    sink = connector(TOOLS + "VerifiableSinkConnector", topics=topic)
    sink.await_states("RUNNING", "RUNNING")
    sink.await_topics(topic)
    sink.put("stop")
    sink.await_states("STOPPED")
    found = sink.worker.call("GET", sink.path + "/offsets")["offsets"]
    assert [one["offset"] for one in found] == [{"kafka_offset": 3}]
