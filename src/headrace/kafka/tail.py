"""Reads all partitions of one topic from the beginning and then follows them, on one daemon thread."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import structlog
from confluent_kafka import OFFSET_BEGINNING, KafkaException, Message, TopicPartition

from headrace.kafka import clients
from headrace.kafka.client_log import ClientLog
from headrace.kafka.failures import timed_out

log = structlog.get_logger(__name__)

_POLL_S = 0.5  # how long stop() may have to wait; records end the poll at once
_BATCH = 1000
_RECENT = 2 * _BATCH  # runs of records of a partition that are remembered: more than one read has, which hands over all at once


@dataclass(frozen=True)
class LogRecord:
    """One record of a compacted topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    """None is a tombstone."""
    timestamp_ms: int = -1
    """−1 if the record has none."""


OnRecord = Callable[[LogRecord], None]


class Tail:
    """Hands every record to `on_record`, in order within a partition, always on the same thread; knows how far it has come.

    An exception of `on_record` is logged and the record skipped. Broker restarts are survived.
    """

    def __init__(self, topic: str, props: Mapping[str, str], on_record: OnRecord) -> None:
        """Takes settings of Kafka's Java consumer. Raises ConfigError."""
        self._topic = topic
        self._on_record = on_record
        self._positions: dict[int, int] = {}
        # Offsets of records without a gap, so that the many records of a transaction cost no more than one.
        self._recent: dict[int, deque[range]] = defaultdict(lambda: deque(maxlen=_RECENT))
        self._moved = threading.Condition()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"KafkaBasedLog Work Thread - {topic}", daemon=True)
        self._client_log = ClientLog("consumer")
        # Lost connections are librdkafka's business, and in its log; without the callback poll() would return them.
        self._consumer = clients.consumer(_consumer_settings(props), enable_partition_eof=True, error_cb=lambda error: None)

    def start(self, partitions: Iterable[int]) -> None:
        """Begin to read these partitions, from their beginnings; after `stop`, nothing is read."""
        with self._moved:  # a log may be stopped by one thread while another starts it
            if not self._stopping.is_set():
                self._consumer.assign([TopicPartition(self._topic, p, OFFSET_BEGINNING) for p in partitions])
                self._thread.start()

    def wait_for(self, ends: Mapping[int, int], timeout_s: float) -> None:
        """Wait until each partition has been read up to its end offset (exclusive).

        Raises RetriableKafkaFailure after `timeout_s`. Must not be called by `on_record`, which it would wait for.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError(f"The handler of topic '{self._topic}' waits for itself: it may not read the topic to its end.")
        with self._moved:
            if not self._moved.wait_for(lambda: self._stopping.is_set() or not self._behind(ends), timeout_s):
                limit = f"{round(timeout_s, 1):g} s"
                raise timed_out(f"Could not read topic '{self._topic}' to its end within {limit}: {self._lag(ends)}.")
            if self._behind(ends):
                raise timed_out(f"Topic '{self._topic}' was closed before it was read to its end.")

    def wait_for_records(self, ends: Mapping[int, int], timeout_s: float) -> bool:
        """Like `wait_for`; returns whether the record just before each end was there.

        Read committed, a record of an aborted transaction is not.
        """
        self.wait_for(ends, timeout_s)
        with self._moved:
            return all(any(end - 1 in run for run in self._recent[partition]) for partition, end in ends.items())

    def stop(self) -> None:
        """Stop reading and close the consumer. Further calls do nothing."""
        self._stopping.set()
        with self._moved:
            self._moved.notify_all()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        self._consumer.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                for message in self._next():
                    self._on_message(message)
                with self._moved:  # once for all: there may be very many who wait
                    self._moved.notify_all()
            except (KafkaException, RuntimeError):
                log.exception("topic.poll.failed", topic=self._topic)
                self._stopping.wait(1.0)

    def _next(self) -> list[Message]:
        first = self._consumer.consume(1, _POLL_S)  # poll() wakes up every 200 ms to look for signals
        # consume() waits for a full batch, so it is only asked for what has already arrived.
        return [*first, *self._consumer.consume(_BATCH, timeout=0)] if first else []

    def _on_message(self, message: Message) -> None:
        error = message.error()
        if error is None:
            self._handle(message)
            self._advance(message.partition(), (message.offset() or 0) + 1, record=True)
        elif error.name() == "_PARTITION_EOF":
            # Also the way to see past what is no record: transaction markers, gaps that compaction left.
            self._advance(message.partition(), message.offset())
        else:
            self._client_log.log(logging.WARNING, "reading topic '%s' is retried after: %s", self._topic, error.str())

    def _handle(self, message: Message) -> None:
        timestamp = message.timestamp()[1]
        record = LogRecord(
            message.partition() or 0, message.offset() or 0, _bytes(message.key()), _bytes(message.value()), timestamp
        )
        try:
            self._on_record(record)
        except Exception:
            log.exception("record.skipped", topic=self._topic, partition=record.partition, offset=record.offset)

    def _advance(self, partition: int | None, position: int | None, *, record: bool = False) -> None:
        with self._moved:
            self._positions[partition or 0] = position or 0
            if record:
                _add(self._recent[partition or 0], (position or 0) - 1)

    def _behind(self, ends: Mapping[int, int]) -> list[int]:
        return [p for p, end in ends.items() if self._positions.get(p, 0) < end]

    def _lag(self, ends: Mapping[int, int]) -> str:
        return ", ".join(f"partition {p} is at offset {self._positions.get(p, 0)} of {ends[p]}" for p in self._behind(ends))


def _add(runs: deque[range], offset: int) -> None:
    if runs and runs[-1].stop == offset:
        runs[-1] = range(runs[-1].start, offset + 1)
    else:
        runs.append(range(offset, offset + 1))


def _consumer_settings(props: Mapping[str, str]) -> dict[str, str]:
    """The settings with those forced that make a consumer read everything and take part in no group."""
    settings = {name: value for name, value in props.items() if name not in ("group.instance.id", "group.protocol")}
    # librdkafka wants a group id even for assigned partitions; the worker's own is one that it may describe.
    group = props.get("group.id") or "headrace"
    return {**settings, "group.id": group, "enable.auto.commit": "false", "auto.offset.reset": "earliest"}


def _bytes(data: str | bytes | None) -> bytes | None:
    return data.encode() if isinstance(data, str) else data
