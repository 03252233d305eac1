"""A record that the destination does not take."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.support import wait_until


def allow(cluster: Cluster, topic: str, size: int) -> None:
    entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    for future in cluster.client.incremental_alter_configs([resource]).values():
        future.result(180)


def test_a_record_too_large_for_its_topic_is_named_and_nothing_is_lost(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("large")
    source.create(topic)
    first = [record(b"k", b"%d" % n) for n in range(20)]
    # Too large, and small enough to be put into one batch with it: the producer alone would try it for ever.
    rest = [record(b"k", b"fits"), record(b"k", bytes(60_000)), record(b"k", b"after")]
    source.produce(topic, first)
    one = mirror(topic, {"topic.creation.default.max.message.bytes": "50000"})
    copy = one.prefix + topic
    one.await_copied(topic, 20)
    wait_until(lambda: one.offsets() == {f"{topic}:0": 19}, CONNECTOR_S, "the first ones are stored")
    source.produce(topic, rest)
    trace = one.trace()
    assert f"The record at topic={topic}, partition=0, offset=21 has 60001 bytes of key and value" in trace
    assert f"too large for topic '{copy}'" in trace
    assert "Raise max.message.bytes of the topic" in trace
    assert "Caused by: org.apache.kafka.common.errors.RecordTooLargeException: " in trace
    assert one.states() == ["RUNNING", "FAILED"]
    assert one.offsets() == {f"{topic}:0": 20}, "what precedes it is delivered and stored"
    assert one.destination.read(copy) == [*first, rest[0]]
    allow(one.destination, copy, 100_000)
    one.restart("?includeTasks=true&onlyFailed=true")
    # What fitted of the batch that failed may be there twice: delivery is at least once.
    wait_until(lambda: one.destination.read(copy)[-3:] == rest, CONNECTOR_S, f"the rest; {one.states()}")
    one.await_states("RUNNING", "RUNNING")
    allow(one.destination, copy, 200_000)
    large = [record(b"k", bytes(150_000))]  # it looks again before it fails
    source.produce(topic, large)
    wait_until(lambda: one.destination.read(copy)[-1:] == large, CONNECTOR_S, f"the large one; {one.states()}")


def test_many_small_records_fit_into_a_topic_of_small_batches(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("small")
    source.create(topic)
    records = [record(None, b"%04d" % n * 25) for n in range(5000)]
    source.produce(topic, records)
    assert mirror(topic, {"topic.creation.default.max.message.bytes": "2000"}).await_copied(topic, 5000) == records


@pytest.mark.parametrize(("compression", "value"), [("gzip", bytes(60_000)), ("none", bytes(49_000))])
def test_what_the_broker_takes_is_not_refused(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str], compression: str, value: bytes
) -> None:
    topic = topic_name("compressed")
    source.create(topic)
    records = [record(b"k", b"before"), record(b"k", value), record(b"k", b"after")]
    source.produce(topic, records)
    settings = {"topic.creation.default.max.message.bytes": "50000", "producer.override.compression.type": compression}
    assert mirror(topic, settings).await_copied(topic, 3) == records


def test_a_record_that_is_too_large_with_its_headers_is_named_too(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("headers")
    source.create(topic)
    source.produce(topic, [record(b"k", b"v", [("h", bytes(60_000))])])
    trace = mirror(topic, {"topic.creation.default.max.message.bytes": "50000"}).trace()
    assert f"The record at topic={topic}, partition=0, offset=0 has 60003 bytes of key, value and headers" in trace
    assert "Caused by: org.apache.kafka.common.errors.RecordTooLargeException: " in trace
