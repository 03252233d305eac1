"""Committed offsets of consumer groups, read and set by a consumer that is not a member of the group.

Not through librdkafka's admin calls for groups: while a coordinator moves or does not answer in time, those end the whole
process (confluentinc/librdkafka issue 5040: NULL dereference in ListConsumerGroupOffsets; and in 2.16, for every call that is
sent to a coordinator, the assertion `eonce->refcnt > 0` when the time-out meets a late answer). A consumer has the code path for
that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from headrace.kafka import clients
from headrace.kafka.connection_diagnosis import ConnectionDiagnosis
from headrace.kafka.failures import failure, leader_moves
from headrace.retry import retry_until

Partition = tuple[str, int]
Value = TypeVar("Value")

_PAUSE_S = 0.05
# Of a consumer that reads no records and joins no group: librdkafka does not take every policy that Java's consumer takes.
_UNUSED = ("auto.offset.reset", "group.instance.id", "group.protocol")
# How long librdkafka keeps a commit for a coordinator that is away, and how long the end of the consumer then waits for it.
_TIMEOUTS = {"session_timeout_ms": "2000", "heartbeat_interval_ms": "500"}


class CommittedOffset(NamedTuple):
    """A committed offset, and the text that the group has committed with it."""

    offset: int
    metadata: str = ""


class GroupOffsets:
    """The committed offsets of one group. Thread-safe, one call at a time; connects at the first call."""

    def __init__(self, props: Mapping[str, str], group: str) -> None:
        """Takes settings of a Java client. Raises ConfigError."""
        settings = {name: value for name, value in props.items() if name not in _UNUSED}
        self._props = {**settings, "group.id": group, "enable.auto.commit": "false"}
        self._diagnosis = ConnectionDiagnosis(props)
        self._lock = threading.Lock()
        self._consumer: Consumer | None = None
        self._sent = 0
        self._commit_results: list[KafkaError | None] = []  # one for each commit sent, in their order

    def read(self, partitions: Iterable[Partition], timeout_s: float) -> dict[Partition, int]:
        """The committed offsets of these partitions; partitions without one are left out. Raises KafkaFailure."""
        return {partition: committed.offset for partition, committed in self.committed(partitions, timeout_s).items()}

    def committed(self, partitions: Iterable[Partition], timeout_s: float) -> dict[Partition, CommittedOffset]:
        """The same, with the texts beside the offsets. Raises KafkaFailure."""
        topic_partitions = [TopicPartition(topic, partition) for topic, partition in partitions]

        def read(consumer: Consumer, left: float) -> dict[Partition, CommittedOffset]:
            committed = consumer.committed(topic_partitions, timeout=left)
            for partition in committed:
                if partition.error:
                    raise failure(partition.error)
            return {(tp.topic, tp.partition): CommittedOffset(tp.offset, tp.metadata or "") for tp in committed if tp.offset >= 0}

        return self._retry(read, timeout_s) if topic_partitions else {}

    def metadata(self, partition: Partition, timeout_s: float) -> str | None:
        """The metadata committed with the offset of a partition, None if there is none. Raises KafkaFailure."""

        def read(consumer: Consumer, left: float) -> str | None:
            committed = consumer.committed([TopicPartition(*partition)], timeout=left)[0]
            if committed.error:
                raise failure(committed.error)
            return committed.metadata or None

        return self._retry(read, timeout_s)

    def write(self, offsets: Mapping[Partition, int], timeout_s: float) -> None:
        """Set committed offsets; the group may have no active member (KIP-396). Raises KafkaFailure."""
        self.commit({partition: CommittedOffset(offset) for partition, offset in offsets.items()}, timeout_s)

    def commit(self, offsets: Mapping[Partition, CommittedOffset], timeout_s: float) -> None:
        """The same, with texts beside the offsets. Raises KafkaFailure."""
        group_offsets = [TopicPartition(*partition, *committed) for partition, committed in offsets.items()]

        def commit(consumer: Consumer, left: float) -> None:
            # The synchronous commit has no time-out: it would wait while the cluster is unavailable.
            consumer.commit(offsets=group_offsets, asynchronous=True)
            self._sent += 1
            deadline = time.monotonic() + left
            while len(self._commit_results) < self._sent:
                if time.monotonic() > deadline:
                    raise TimeoutError
                consumer.poll(_PAUSE_S)
            if error := self._commit_results[-1]:
                raise failure(error)
            self._sent, self._commit_results = 0, []

        if group_offsets:
            self._retry(commit, timeout_s)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            consumer, self._consumer = self._consumer, None
            if consumer is not None:
                consumer.close()

    def _retry(self, step: Callable[[Consumer, float], Value], timeout_s: float) -> Value:
        """Call `step(consumer, seconds left)`; retried while the coordinator moves or loads."""
        with self._lock:
            return retry_until(lambda left: self._attempt(step, left, timeout_s), timeout_s, _PAUSE_S, leader_moves)

    def _attempt(self, step: Callable[[Consumer, float], Value], left: float, timeout_s: float) -> Value:
        if self._consumer is None:
            self._consumer = clients.consumer(
                self._props, error_cb=self._diagnosis.on_error, on_commit=self._on_commit, **_TIMEOUTS
            )
        try:
            result = step(self._consumer, left)
        except (KafkaException, TimeoutError) as error:
            self._consumer.poll(0)  # takes in what the connections have reported
            raise self._diagnosis.failure(error, timeout_s) from None
        self._consumer.poll(0)
        self._diagnosis.forget()
        return result

    def _on_commit(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        failed = [partition.error for partition in partitions if partition.error]
        self._commit_results.append(error or (failed[0] if failed else None))
