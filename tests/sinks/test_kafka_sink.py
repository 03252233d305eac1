"""The Kafka sink: topics of the worker's cluster to another one."""

from __future__ import annotations

from collections.abc import Callable

from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.sinks.sink import Sink
from tests.support import wait_until

Make = Callable[..., Sink]
Name = Callable[[str], str]


def test_records_arrive_as_they_are_in_a_topic_that_is_made_for_them(
    cluster: Cluster, source: Cluster, sink: Make, topic_name: Name
) -> None:
    topic, prefix = topic_name("orders"), topic_name("copy") + "."
    cluster.create(topic, partitions=3)
    records = [
        record(b"\xff", b"\x00", [("h", b"1"), ("h", None)], timestamp=1_600_000_000_000, partition=2),
        record(None, b"v", partition=1),
        record(b"gone", None, partition=0),
    ]
    cluster.produce(topic, records)
    settings = {"target_bootstrap_servers": source.bootstrap, "destination_topics_create": "true"}
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, **settings)
    one.await_offsets({(topic, p): 1 for p in range(3)})
    assert source.read(prefix + topic) == sorted(records, key=lambda r: r.partition)


def test_records_wait_for_a_topic_that_nobody_makes(cluster: Cluster, source: Cluster, sink: Make, topic_name: Name) -> None:
    topic = topic_name("late")
    cluster.create(topic, partitions=2)
    cluster.produce(topic, [record(b"k", b"v", partition=1)])
    settings = {"target_bootstrap_servers": source.bootstrap, "connector_producer_max_block_ms": "1000"}
    route = {
        "transforms": "r", "transforms_r_type": "RegexRouter", "transforms_r_regex": "(.*)", "transforms_r_replacement": "$1-new",
    }  # fmt: skip
    one = sink("KafkaSink", topics=topic, **settings, **route)
    one.await_states("RUNNING", "RUNNING")
    assert source.admin.describe(f"{topic}-new") is None
    source.create(f"{topic}-new")
    wait_until(lambda: source.size(f"{topic}-new") == 1, CONNECTOR_S, "the record arrives")
    one.await_offsets({(topic, 0): 0, (topic, 1): 1})
    assert one.states() == ["RUNNING", "RUNNING"]
