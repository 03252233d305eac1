"""A compacted topic as a log: read to the end at start, followed from then on, written with acks. Kafka's KafkaBasedLog."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Protocol

import structlog

from headrace.errors import ConnectError, RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure, timed_out
from headrace.kafka.tail import LogRecord, OnRecord, Tail
from headrace.kafka.topic_info import TopicInfo
from headrace.kafka.writer import RecordWriter, WrittenAt
from headrace.retry import retry_until

log = structlog.get_logger(__name__)

START_TIMEOUT_S = 60.0
_FIND_TIMEOUT_S = 30.0  # how long Connect waits until all brokers know a new topic
_RETRY_S = 0.1

Entry = tuple[bytes, bytes | None]


class RecordLog(Protocol):
    """The interface of a log to the stores; CompactedLog on a broker, MemoryLog and FileLog without one."""

    @property
    def partition_count(self) -> int:
        """How many partitions the log has, known after start()."""
        ...

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Read the log to its end, then follow it."""
        ...

    def send(self, key: bytes, value: bytes | None) -> Future[WrittenAt]:
        """Append a record without waiting."""
        ...

    def append(self, entries: Iterable[Entry], timeout_s: float) -> dict[int, int]:
        """Append records; returns, once durable, the offset after the last one by partition."""
        ...

    def write(self, entries: Iterable[Entry], timeout_s: float) -> None:
        """Append records; return when they are durable and have been read back."""
        ...

    def read_back(self, ends: Mapping[int, int], timeout_s: float) -> bool:
        """Wait until each partition is handled up to this offset (exclusive); returns whether the record before it existed."""
        ...

    def read_to_end(self, timeout_s: float, answer_s: float | None = None) -> None:
        """Return when everything that was in the log at the time of the call has been handled."""
        ...

    def flush(self, timeout_s: float) -> bool:
        """Wait until no record is in flight; False if one still is."""
        ...

    def stop(self, timeout_s: float = 5.0) -> None:
        """Wait for records in flight, then close."""
        ...


LogFactory = Callable[[OnRecord], RecordLog]


class CompactedLog:
    """One compacted topic. `on_record` gets every record, always on the same thread; it may send, but not wait for the log."""

    def __init__(
        self,
        topic: str,
        producer_props: Mapping[str, str],
        consumer_props: Mapping[str, str],
        on_record: OnRecord,
        *,
        admin: Admin | None = None,
        linger_ms: int = 0,
    ) -> None:
        """Takes settings of Kafka's Java clients; `admin` may be shared, else one is created from `consumer_props`; linger_ms:
        how long a record may wait for others of its batch.

        `isolation.level=read_committed` among the consumer's settings hides records of aborted transactions; open ones are
        waited for, also those of a process that died, which the broker ends after their time-out. Raises ConfigError. No
        connection is opened before start().
        """
        self.topic = topic
        self._admin = admin or Admin(consumer_props)
        self._tail = Tail(topic, consumer_props, on_record)
        self._writer = RecordWriter(topic, producer_props, linger_ms)
        self._appending = threading.Lock()  # else the records of two calls would mix
        self._partitions: list[int] = []
        self._stopped = threading.Event()

    @property
    def partition_count(self) -> int:
        """How many partitions the topic has; 0 before start()."""
        return len(self._partitions)

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Read the topic to its end, then follow it.

        Raises ConnectError if the topic does not appear within 30 s, RetriableKafkaFailure if the end is not reached in time.
        """
        log.info("Starting KafkaBasedLog with topic %s", self.topic)
        deadline = time.monotonic() + timeout_s
        self._partitions = sorted(self._find(min(timeout_s, _FIND_TIMEOUT_S)).partitions)
        self._tail.start(self._partitions)
        self.read_to_end(deadline - time.monotonic())
        log.info("Started KafkaBasedLog for topic %s", self.topic)

    def send(self, key: bytes, value: bytes | None) -> Future[WrittenAt]:
        """Append a record (None: a tombstone); the Future is done when every in-sync replica has it, or with KafkaFailure."""
        return self._writer.send(key, value)

    def append(self, entries: Iterable[Entry], timeout_s: float) -> dict[int, int]:
        """Append records, unmixed with those of another call, and wait; returns, by partition, the offset after the last of them.

        Raises KafkaFailure; after `timeout_s` (seconds, for all together) RetriableKafkaFailure: they may still be written.
        """
        deadline = time.monotonic() + timeout_s
        with self._appending:
            futures = [self.send(key, value) for key, value in entries]
        ends: dict[int, int] = {}
        for future in futures:
            try:
                at = future.result(max(deadline - time.monotonic(), 0.0))
            except FutureTimeoutError:
                raise timed_out(f"Topic '{self.topic}' did not acknowledge a record within {round(timeout_s, 1):g} s.") from None
            ends[at.partition] = max(ends.get(at.partition, 0), at.offset + 1)
        return ends

    def write(self, entries: Iterable[Entry], timeout_s: float) -> None:
        """Like append(), and wait until the records have been read back: `on_record` has seen them."""
        deadline = time.monotonic() + timeout_s
        self.read_to(self.append(entries, timeout_s), deadline - time.monotonic())

    def read_to(self, ends: Mapping[int, int], timeout_s: float) -> None:
        """Wait until each partition has been read up to this offset (exclusive). Raises RetriableKafkaFailure."""
        self._tail.wait_for(ends, max(timeout_s, 0.0))

    def read_back(self, ends: Mapping[int, int], timeout_s: float) -> bool:
        """Like read_to(); returns whether the record just before each end was handled. Read committed, an aborted one is not.

        Call it soon after the write: of each partition, the last 2,000 runs of records without a gap are kept.
        """
        return self._tail.wait_for_records(ends, max(timeout_s, 0.0))

    def read_to_end(self, timeout_s: float, answer_s: float | None = None) -> None:
        """Handle all records up to the current end offsets of all partitions.

        Missing leaders and unreachable brokers are retried, for at most `answer_s` if given. Records behind an open transaction
        of a crashed process are read when the broker aborts it, 10 to 20 s later. Raises RetriableKafkaFailure after
        `timeout_s`.
        """
        begun = time.monotonic()
        deadline = begun + timeout_s
        ends = self._retry(lambda left: self._ends(left), deadline if answer_s is None else begun + min(answer_s, timeout_s))
        self.read_to(ends, deadline - time.monotonic())

    def flush(self, timeout_s: float) -> bool:
        """Wait until every record sent has been acknowledged or has failed; False if not within `timeout_s`."""
        return self._writer.flush(timeout_s)

    def stop(self, timeout_s: float = 5.0) -> None:
        """Wait at most `timeout_s` for records in flight, then close. May be called at any time, and repeatedly."""
        log.info("Stopping KafkaBasedLog for topic %s", self.topic)
        self._stopped.set()
        self._writer.stop(timeout_s)
        self._tail.stop()
        log.info("Stopped KafkaBasedLog for topic %s", self.topic)

    def _ends(self, timeout_s: float) -> dict[int, int]:
        partitions = [(self.topic, p) for p in self._partitions]
        ends = self._admin.partition_offsets(partitions, "latest", timeout_s)
        return {partition: offset for (_, partition), offset in ends.items()}

    def _find(self, timeout_s: float) -> TopicInfo:
        try:
            return self._retry(self._ready, time.monotonic() + timeout_s)
        except KafkaFailure as error:
            raise ConnectError(
                f"Could not look up partition metadata for topic '{self.topic}' in the allotted period. This could indicate a "
                "connectivity issue, unavailable topic partitions, or if this is your first use of the topic it may have "
                "taken too long to create."
            ) from error

    def _ready(self, timeout_s: float) -> TopicInfo:
        topic = self._admin.describe(self.topic, timeout_s)
        if topic is None or None in topic.partitions.values():
            raise timed_out(f"Topic '{self.topic}' does not exist, or has partitions without a leader.")
        return topic

    def _retry(self, step, deadline: float):
        """Call `step(seconds left)` until it succeeds or the deadline has passed; only retriable failures are retried."""
        left_s = deadline - time.monotonic()
        return retry_until(step, left_s, _RETRY_S, lambda error: isinstance(error, RetriableError), self._stopped.wait)


__all__ = ["CompactedLog", "Entry", "LogFactory", "LogRecord", "OnRecord", "RecordLog", "WrittenAt"]
