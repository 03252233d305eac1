"""What a mirror does to single records: nothing."""

from __future__ import annotations

from collections.abc import Callable

from tests.clusters import Cluster, Sent, record
from tests.kafka_source.mirror import Mirror

Make = Callable[..., Mirror]


def copied(source: Cluster, mirror: Make, topic: str, records: list[Sent], partitions: int = 1) -> list[Sent]:
    """Mirror these records; returns what arrived."""
    source.create(topic, partitions)
    source.produce(topic, records)
    one = mirror(topic, {"topic.creation.default.partitions": str(partitions), "tasks.max": "2"})
    return one.await_copied(topic, len(records))


def test_tombstones_null_keys_headers_and_timestamps_arrive_as_they_were(
    source: Cluster, mirror: Make, topic_name: Callable[[str], str]
) -> None:
    records = [
        record(b"key", None, timestamp=1),
        record(None, b"no key", timestamp=1_700_000_000_001),
        record(None, None),
        record(b"", b""),
        record(b"k", b"v", [("twice", b"1"), ("other", b"\xff\x00"), ("twice", b"2"), ("nothing", None), ("", b"")]),
        record(b"\xff\xfe", bytes(range(256)), [("__headrace.timestamp", b"of the user's own")]),
    ]
    assert copied(source, mirror, topic_name("odd"), records) == records


def test_a_record_of_one_megabyte_arrives(source: Cluster, mirror: Make, topic_name: Callable[[str], str]) -> None:
    records = [record(b"k", bytes(1_000_000)), record(b"after", b"it")]
    assert copied(source, mirror, topic_name("big"), records) == records


def test_order_and_partition_are_kept_where_both_topics_have_as_many_partitions(
    source: Cluster, mirror: Make, topic_name: Callable[[str], str]
) -> None:
    records = [record(None, b"%d" % n, partition=p) for p in range(3) for n in range(2000)]
    assert copied(source, mirror, topic_name("order"), records, partitions=3) == records
