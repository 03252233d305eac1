"""A record that the destination does not take."""

from __future__ import annotations

from collections.abc import Callable

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from tests.mirror.clusters import Cluster, record
from tests.mirror.mirror import MIRROR_S, Mirror
from tests.support import wait_until


def allow(cluster: Cluster, topic: str, size: int) -> None:
    entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    for future in cluster.client.incremental_alter_configs([resource]).values():
        future.result(30)


def test_a_record_too_large_for_its_topic_is_named_and_nothing_is_lost(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("large")
    source.create(topic)
    first = [record(b"k", b"%d" % n) for n in range(20)]
    rest = [record(b"k", b"fits"), record(b"k", bytes(60_000)), record(b"k", b"after")]
    source.produce(topic, first)
    one = mirror(topic, {"topic.creation.default.max.message.bytes": "50000"})
    copy = one.prefix + topic
    one.await_copied(topic, 20)
    wait_until(lambda: one.offsets() == {f"{topic}:0": 19}, MIRROR_S, "the first ones are stored")
    source.produce(topic, rest)
    trace = one.trace()
    assert (
        f"The record at topic={topic}, partition=0, offset=21 has 60001 bytes of key and value, too large for topic '{copy}'"
        in trace
    )
    assert "Raise max.message.bytes of the topic" in trace
    assert "Caused by: org.apache.kafka.common.errors.RecordTooLargeException: " in trace
    assert one.states() == ["RUNNING", "FAILED"]
    assert one.offsets() == {f"{topic}:0": 19}
    assert one.destination.read(copy)[:20] == first
    allow(one.destination, copy, 100_000)
    one.restart("?includeTasks=true&onlyFailed=true")
    # What fitted of the batch that failed may be there twice: delivery is at least once.
    wait_until(lambda: one.destination.read(copy)[-3:] == rest, MIRROR_S, f"the rest; {one.states()}")
    one.await_states("RUNNING", "RUNNING")
