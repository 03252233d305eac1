"""Reads the last records of topics, without a consumer group: nothing is committed, and no topic is created."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, KafkaException, TopicPartition

from headrace.connectors.base import Props
from headrace.errors import BadRequestError, ConnectError
from headrace.kafka import clients
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition
from headrace.preview.origin import LiveTopics
from headrace.preview.records import RawRecord

TIMEOUT_S = 20.0
_POLL_S = 0.2
_MAX_SPAN = 500  # offsets of a partition that are read at a time on the way back to a record: all of them may be records
Kept = TypeVar("Kept")


def last_records(topics: LiveTopics, count: int, timeout_s: float = TIMEOUT_S) -> list[RawRecord]:
    """The last `count` records of all matching topics, by time, oldest first; fewer if the topics have fewer.

    Raises BadRequestError if there is no such topic or record, ConnectError if they cannot be read in time.
    """
    admin = Admin(topics.admin)
    descriptions = admin.topics(timeout_s, topics.matches)
    partitions = [(name, p) for name, info in descriptions.items() if not info.internal for p in info.partitions]
    if not partitions:
        raise BadRequestError("No topic of the cluster is one of the connector's; there are no live records to preview.")
    first = admin.partition_offsets(partitions, "earliest", timeout_s)
    end = admin.partition_offsets(partitions, "latest", timeout_s)
    bounds = {p: (first[p], end[p]) for p in partitions}
    records, _ = read_newest(topics.consumer, bounds, count, timeout_s, lambda record: record)
    if not records:
        names = ", ".join(sorted({name for name, _ in partitions})[:5])
        raise BadRequestError(
            "There are no live records to preview: the topics of the connector are empty, or their newest records are of aborted "
            f"transactions ({names})."
        )
    records.sort(key=lambda r: (r.timestamp or 0, r.topic, r.partition, r.offset))
    return records[-count:]


def read_newest(
    consumer_props: Props,
    bounds: Mapping[Partition, tuple[int, int]],
    count: int,
    timeout_s: float,
    keep: Callable[[RawRecord], Kept],
) -> tuple[list[Kept], dict[Partition, int]]:
    """The records at the last `count` offsets of each partition, and the offset from which on each partition has been read.

    Where there are none, because they are those of the marks of transactions and of records that were aborted, it is read further
    back, for half of the time at most. bounds: from the first offset up to, but not including, the second; consumer_props and
    keep: as of `read_ranges`. Raises ConnectError.
    """
    begun, records, span = time.monotonic(), list[Kept](), count
    begins = {partition: end for partition, (_, end) in bounds.items()}
    while not records and time.monotonic() < begun + timeout_s / 2:
        ranges = {p: (max(first, begins[p] - span), begins[p]) for p, (first, _) in bounds.items() if begins[p] > first}
        if not ranges:
            break
        records = read_ranges(consumer_props, ranges, begun + timeout_s, keep)
        begins |= {partition: begin for partition, (begin, _) in ranges.items()}
        span = max(count, min(2 * span, _MAX_SPAN))
    return records, begins


def read_ranges(
    consumer_props: Props, ranges: Mapping[Partition, tuple[int, int]], deadline: float, keep: Callable[[RawRecord], Kept]
) -> list[Kept]:
    """The records of each partition from the first offset up to, but not including, the second; in the order of their arrival.

    consumer_props: Java settings; deadline: of `time.monotonic()`; keep: makes of a record what is held of it, so that many
    large ones need not be held at the same time. Raises ConnectError.
    """
    # librdkafka requires a group id to create a consumer; with `assign` it does not join the group.
    overrides = {"group_id": "headrace-preview", "enable_auto_commit": "false", "enable_auto_offset_store": "false"}
    consumer = clients.consumer(consumer_props, **overrides, enable_partition_eof="true", allow_auto_create_topics="false")
    try:
        consumer.assign([TopicPartition(topic, p, begin) for (topic, p), (begin, _) in ranges.items()])
        return _poll(consumer, ranges, deadline, keep)
    except KafkaException as error:
        raise ConnectError(f"The records cannot be read: {error.args[0].str()}") from error
    finally:
        consumer.close()


def _poll(
    consumer: Consumer, ranges: Mapping[Partition, tuple[int, int]], deadline: float, keep: Callable[[RawRecord], Kept]
) -> list[Kept]:
    records, pending = [], set(ranges)
    while pending:
        if time.monotonic() > deadline:
            topic, partition = min(pending)
            raise ConnectError(f"The records cannot be read in time: no answer for partition {partition} of {topic}.")
        message: Any = consumer.poll(_POLL_S)
        if message is None:
            continue
        problem, topic_partition = message.error(), (message.topic(), message.partition())
        if problem is not None and problem.code() == KafkaError._PARTITION_EOF:
            pending.discard(topic_partition)
        elif problem is not None:
            if problem.fatal() or not problem.retriable():
                raise ConnectError(f"The records cannot be read: {problem.str()}")
        elif message.offset() < ranges[topic_partition][1]:
            records.append(keep(_record(message)))
        if problem is None and message.offset() >= ranges[topic_partition][1] - 1:
            pending.discard(topic_partition)
    return records


def _record(message: Any) -> RawRecord:
    kind, timestamp = message.timestamp()
    return RawRecord(
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        timestamp=None if kind == TIMESTAMP_NOT_AVAILABLE else timestamp,
        key=message.key(),
        value=message.value(),
        headers=tuple(message.headers() or ()),
    )
