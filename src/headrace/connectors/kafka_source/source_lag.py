"""How far the copies of a Kafka source's partitions are behind: what is stored, against what the source cluster has now.

Nothing of it needs the tasks: it is known of stopped and failed connectors as well.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from headrace.connectors.data_loss import PartitionLog, ReadPosition
from headrace.connectors.partition_lag import PartitionLag
from headrace.kafka import clients
from headrace.kafka.admin import Admin, shared
from headrace.kafka.failures import failure
from headrace.kafka.groups import Partition
from headrace.values.times import now_ms

_TIMEOUT_S = 5.0  # of each request: an unavailable cluster is reported to the user soon
_READ_S, _POLL_S = 3.0, 0.2
_AT_ONCE = 100
# One batch of records of each partition, and no group: what is read is not kept.
_OWN = {
    "group_id": "headrace-lag",
    "enable_auto_commit": "false",
    "enable_partition_eof": "true",
    "auto_offset_reset": "error",
    "queued_min_messages": "1",
    "max_partition_fetch_bytes": "1",
}


@dataclass(frozen=True)
class Copied:
    """What is copied, and how far."""

    tasks: Mapping[Partition, int | None]
    """Which task copies each partition; None: none does now."""
    stored: Mapping[Partition, ReadPosition]
    """How far each has been copied; those without an offset are not in it."""
    earliest: bool
    """Whether what has no offset begins at the first record."""


def behind(consumer: Mapping[str, str], admin: Mapping[str, str], copied: Copied, ages: bool) -> list[PartitionLag]:
    """The lag of each partition, in their order. Raises KafkaFailure, ConfigError.

    consumer, admin: Java settings of clients of the source; ages: times are wanted as well, for which records have to be read.
    """
    logs = _logs(shared(admin), consumer, sorted(copied.tasks))
    lags = {p: lag(p, copied, logs.get(p)) for p in sorted(copied.tasks)}
    if ages:
        times = _times(
            consumer,
            {p: (partition_lag, logs[p]) for p, partition_lag in lags.items() if p in logs and logs[p].end > logs[p].begin},
        )
        now = now_ms()
        lags = {p: _aged(partition_lag, *times.get(p, (None, None)), now) for p, partition_lag in lags.items()}
    return list(lags.values())


def lag(partition: Partition, copied: Copied, log: PartitionLog | None) -> PartitionLag:
    """What offsets alone say; log: None if there is no such partition. Of a topic recreated nothing is copied yet. Pure."""
    stored = copied.stored.get(partition)
    offset = None if stored is None or stored.next == 0 else stored.next - 1
    if log is None:
        return PartitionLag(*partition, copied.tasks[partition], offset, None, None)
    left = None
    if stored is not None:
        another = None not in (stored.topic_id, log.topic_id) and stored.topic_id != log.topic_id
        left = log.end - (log.begin if another else min(max(stored.next, log.begin), log.end))
    elif copied.earliest:
        left = log.end - log.begin
    return PartitionLag(*partition, copied.tasks[partition], offset, log.end, left)


def _logs(admin: Admin, consumer: Mapping[str, str], partitions: Sequence[Partition]) -> dict[Partition, PartitionLog]:
    infos = admin.find({topic for topic, _ in partitions}, _TIMEOUT_S)
    present = [p for p in partitions if p[0] in infos and p[1] in infos[p[0]].partitions]
    committed = consumer.get("isolation.level") == "read_committed"
    begins = admin.partition_offsets(present, "earliest", _TIMEOUT_S)
    ends = admin.partition_offsets(present, "latest", _TIMEOUT_S, read_committed=committed)
    return {p: PartitionLog(begins[p], ends[p], infos[p[0]].topic_id or None) for p in present}


def _aged(partition_lag: PartitionLag, last: int | None, waiting: int | None, now: int) -> PartitionLag:
    if partition_lag.lag == 0:
        return replace(partition_lag, timestamp=last, freshness_ms=0)
    return replace(
        partition_lag,
        timestamp=last,
        freshness_ms=None if waiting is None or partition_lag.lag is None else max(0, now - waiting),
    )


def _times(
    settings: Mapping[str, str], lags: Mapping[Partition, tuple[PartitionLag, PartitionLog]]
) -> dict[Partition, tuple[int | None, int | None]]:
    """The timestamps of the last copied record and of the first one that is not, for partitions that answer in time."""
    consumer_settings = {
        name: value for name, value in settings.items() if not name.startswith(("group.", "max.partition.", "fetch."))
    }
    times: dict[Partition, tuple[int | None, int | None]] = {}
    deadline = time.monotonic() + _READ_S
    partitions = list(lags)
    consumer = clients.consumer(consumer_settings, **_OWN)
    try:
        while partitions and time.monotonic() < deadline:
            some, partitions = partitions[:_AT_ONCE], partitions[_AT_ONCE:]
            open_ = {p: _Reading(*lags[p]) for p in some}
            consumer.assign([TopicPartition(*p, reading.begin) for p, reading in open_.items()])
            while open_ and time.monotonic() < deadline:
                message = consumer.poll(_POLL_S)
                at = None if message is None else (str(message.topic()), int(message.partition() or 0))
                if message is None or at not in open_ or not open_[at].ends_with(message):
                    continue
                times[at] = open_.pop(at).times
                consumer.incremental_unassign([TopicPartition(*at)])
    except KafkaException as error:
        raise failure(error) from None
    finally:
        consumer.close()
    return times


class _Reading:
    """Of one partition, from the last record that is copied (or the first there is) to the next one."""

    def __init__(self, lag: PartitionLag, log: PartitionLog) -> None:
        self._lag, self._offset = lag.lag, lag.offset
        within = lag.offset is not None and log.begin <= lag.offset < log.end and lag.lag == log.end - lag.offset - 1
        self.begin = lag.offset if within and lag.offset is not None else log.begin
        self._copied = within
        self.times: tuple[int | None, int | None] = (None, None)

    def ends_with(self, message: Message) -> bool:
        """Take a message; returns whether it was the last that is needed."""
        error = message.error()
        if error is not None:
            return error.code() == KafkaError._PARTITION_EOF or not error.retriable()
        millis = message.timestamp()[1]
        if self._copied and message.offset() == self._offset:
            self.times = (millis, None)
            return self._lag == 0
        self.times = (self.times[0], millis)
        return True
