"""Writes restricted to current members of a group: a worker that the group has removed (a zombie) writes nothing.

Each write is a Kafka transaction that also touches the group's offsets with the member's metadata; the broker refuses that from
a member of an earlier generation, and with it everything else in the transaction (KIP-447). Writes that come while one is on its
way share the next transaction, so that many tasks cost few transactions.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from headrace.errors import RetriableError
from headrace.kafka import clients
from headrace.kafka.call_with_timeout import StuckError, call_with_timeout
from headrace.kafka.failures import KafkaFailure, failure, kafka_error, timed_out
from headrace.kafka.plain_writer import PlainWriter
from headrace.retry import Backoff

log = structlog.get_logger(__name__)

GroupMetadata = Callable[[], bytes | None]
GroupOffsets = Mapping[tuple[str, int], int]

_TRANSACTION_MS, _CALL_S, _OFFSETS_S, _RETRY_S = 10_000, 10.0, 4.0, 0.05
# A rebalance is under way, and the metadata is of the generation before (the next one will do); or the transaction timed out, or
# the one before it was aborted with records on their way; or it was spoilt, and no broker has said that a record is to blame.
# A transaction that timed out fences its producer off, too. If a newer process of this name did it, the metadata is refused.
# A producer that was idle for long (transactional.id.expiration.ms) is one that the brokers know no more.
_RETRIED = {
    "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID", "REBALANCE_IN_PROGRESS", "INVALID_PRODUCER_EPOCH",
    "INVALID_PRODUCER_ID_MAPPING", "UNKNOWN_PRODUCER_ID", "OUT_OF_ORDER_SEQUENCE_NUMBER", "_FENCED", "_FATAL", "_STATE",
    "_INCONSISTENT",
}  # fmt: skip


@dataclass
class Write:
    """An atomic write: records, and offsets of other groups."""

    records: Sequence[tuple[str, bytes, bytes | None]] = ()
    """Topic, key and value of each; a value of None is a tombstone."""
    offsets: Mapping[str, GroupOffsets] = field(default_factory=dict)
    """By group."""


@dataclass
class _QueuedWrite:
    write: Write
    group_metadata: GroupMetadata
    ends: dict[tuple[str, int], int] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)
    error: KafkaFailure | None = None

    def end(self, error: KafkaFailure | None = None) -> None:
        self.error = error
        self.done.set()


class GroupTransactions:
    """The writes of one member. Thread-safe."""

    def __init__(self, props: Mapping[str, str], transactional_id: str, group_topic: str) -> None:
        """props: Java settings of the worker's own clients; group_topic: any that the group may have offsets of.

        Raises ConfigError.
        """
        self._props = {
            **props,
            "acks": "all",
            "enable.idempotence": "true",
            "transactional.id": transactional_id,
            "transaction.timeout.ms": str(_TRANSACTION_MS),
            "linger.ms": "0",
        }
        clients.librdkafka(self._props, "producer")
        self._group_topic, self._transactional_id = group_topic, transactional_id
        self._producer: Producer | None = None
        self._plain: PlainWriter | None = None
        self._groups: dict[str, bytes] = {}
        self._refused: list[KafkaError] = []  # errors of records of the running transaction
        self._ends: dict[tuple[str, int], int] = {}  # the offset of the last record that this producer has written
        self._duplicates: list[str] = []  # records that a broker acknowledged as duplicates, without writing them
        self._transaction_lock = threading.Lock()  # held while a transaction runs
        self._queue: list[_QueuedWrite] = []
        self._queue_lock = threading.Lock()

    def start(self, timeout_s: float) -> None:
        """Initialize the producer, which aborts open transactions of an earlier process of this name. Raises KafkaFailure."""
        with self._transaction_lock:
            self._initialized_producer(time.monotonic() + timeout_s)

    def complete(self, partitions: Iterable[tuple[str, int]], key: bytes, timeout_s: float) -> None:
        """Complete transactions that an earlier process of this name may have left open in partitions
        (`confirmed_transactions`).

        They end with a transaction of a tombstone in each partition; key: ignored by readers, so that no membership is needed.
        Raises KafkaFailure.
        """
        with self._transaction_lock:
            if self._plain is not None:
                return
            producer = self._initialized_producer(time.monotonic() + timeout_s)
            try:
                producer.begin_transaction()
                for topic, partition in partitions:
                    producer.produce(topic, None, key, partition)
                producer.commit_transaction(_CALL_S)
            except KafkaException as problem:
                raise failure(self._recover(kafka_error(problem))) from None

    def without_transactions(self) -> None:
        """Write without transactions from now on: brokers no longer reject the writes of a zombie."""
        with self._transaction_lock:
            self._drop()
            self._plain = PlainWriter(self._props)

    def write(self, write: Write, group_metadata: GroupMetadata, timeout_s: float) -> dict[tuple[str, int], int]:
        """Write in a transaction; returns, by topic and partition, the offset after the last record, once acknowledged.

        Empty without transactions. Records are certain only once they were read back (`headrace.kafka.confirmed_transactions`).
        group_metadata: returns None once the worker is not a member any more: then nothing is written. Raises KafkaFailure
        (RetriableKafkaFailure if it is not a member, or after `timeout_s`: it may be written nevertheless).
        """
        deadline, queued_write = time.monotonic() + timeout_s, _QueuedWrite(write, group_metadata)
        with self._queue_lock:
            self._queue.append(queued_write)
        while not queued_write.done.is_set():
            if not self._transaction_lock.acquire(timeout=max(deadline - time.monotonic(), _RETRY_S)):
                raise timed_out("The transaction of another task of this worker takes too long.")
            try:
                if not queued_write.done.is_set():
                    self._write_all(deadline)
            finally:
                self._transaction_lock.release()
        if queued_write.error is not None:
            raise queued_write.error
        return queued_write.ends

    def stop(self) -> None:
        """Close, without waiting for writes in flight."""
        with self._transaction_lock:
            self._drop()
            if self._plain is not None:
                self._plain.stop()

    def _write_all(self, deadline: float) -> None:
        """Write everything in the queue, each write with its own group metadata."""
        with self._queue_lock:
            batch, self._queue = self._queue, []
        try:
            self._write_with_retries(batch, deadline)
        finally:
            _end([queued for queued in batch if not queued.done.is_set()], timed_out("The write was interrupted."))

    def _write_with_retries(self, batch: Sequence[_QueuedWrite], deadline: float) -> None:
        backoff = Backoff(first_s=_RETRY_S, longest_s=1.0)
        while batch := _still_members(batch):
            try:
                self._transaction(batch, deadline)
                return _end(batch)
            except KafkaFailure as error:
                return _end(batch, error)
            except StuckError as error:
                log.warning("transaction.abandoned", transactional_id=self._transactional_id, cause=error)
                self._producer = None  # the next producer fences it; closing it would hang, too
                if time.monotonic() > deadline:
                    return _end(batch, timed_out("Kafka did not take the transaction in time."))
                continue
            except KafkaException as problem:
                cause = self._recover(kafka_error(problem))
                error = failure(KafkaException(cause))
            if cause.name() not in _RETRIED and not isinstance(error, RetriableError):
                if len(batch) == 1:
                    return _end(batch, error)
                for queued in batch:  # the error may be of one write only
                    self._write_with_retries([queued], deadline)
                return None
            if time.monotonic() > deadline:
                return _end(batch, timed_out(f"Kafka did not take the transaction in time: {cause.str()}"))
            time.sleep(backoff.failed())
        return None

    def _transaction(self, batch: Sequence[_QueuedWrite], deadline: float) -> None:
        if self._plain is not None:
            self._plain.write([record for queued in batch for record in queued.write.records], deadline)
            return self._plain.commit(_merged(batch), deadline)
        producer = self._initialized_producer(deadline)
        group_metadata = batch[0].group_metadata()
        if group_metadata is None:
            raise timed_out(_NOT_A_MEMBER)
        self._refused.clear()
        self._duplicates.clear()
        producer.begin_transaction()
        for queued in batch:
            queued.ends = {}
            for topic, key, value in queued.write.records:
                producer.produce(topic, value, key, on_delivery=partial(self._delivered, queued.ends))
        _send_offsets(producer, [TopicPartition(self._group_topic, 0, 0)], group_metadata)
        for group, offsets in _merged(batch).items():
            group_offsets = [TopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()]
            _send_offsets(producer, group_offsets, self._metadata(group))
        producer.commit_transaction(_CALL_S)
        if self._duplicates:
            raise StuckError(f"{self._duplicates[0]} was acknowledged as if it were an earlier record")
        return None

    def _delivered(self, ends: dict[tuple[str, int], int], error: KafkaError | None, message: Message) -> None:
        if error is None:
            at, offset = (message.topic() or "", message.partition() or 0), message.offset() or 0
            if offset <= self._ends.get(at, -1):
                self._duplicates.append(f"offset {offset} of {at[0]}-{at[1]}")
            self._ends[at] = offset
            ends[at] = offset + 1
        elif not error.name().startswith("_PURGE"):
            self._refused.append(error)

    def _initialized_producer(self, deadline: float) -> Producer:
        """The producer, created and initialized if there is none. Raises KafkaFailure."""
        if self._producer is None:
            # librdkafka's pause between calls while the broker completes the previous transaction: 100 ms by default.
            producer = clients.producer(self._props, retry_backoff_ms="5", retry_backoff_max_ms="200")
            try:
                producer.init_transactions(max(deadline - time.monotonic(), 1.0))
            except KafkaException as error:
                raise failure(error) from None
            self._producer = producer
            self._ends.clear()
        return self._producer

    def _recover(self, error: KafkaError) -> KafkaError:
        """Drop the producer, so that the next transaction gets a new one; returns the original error.

        A refused record fails the transaction at once, and the next call only reports that it has failed. The abort waits for
        the delivery report of every record. Late responses to the old producer cannot reach the new one.
        """
        producer = self._producer
        if producer is None:
            return error
        try:
            if not error.fatal():
                producer.abort_transaction(_CALL_S)
        except KafkaException as problem:
            log.warning("transaction.abort-failed", transactional_id=self._transactional_id, cause=kafka_error(problem).str())
        self._drop()
        return self._refused[0] if self._refused else error

    def _drop(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            clients.purge(producer)

    def _metadata(self, group: str) -> bytes:
        """The metadata of a group without members (KIP-447: no generation)."""
        if group not in self._groups:
            consumer: Consumer = clients.consumer({**self._props, "group.id": group})
            self._groups[group] = consumer.consumer_group_metadata()
            consumer.close()
        return self._groups[group]


_NOT_A_MEMBER = "This worker is not a member of its group now; another worker may have taken over its work."


def _send_offsets(producer: Producer, offsets: list[TopicPartition], metadata: bytes) -> None:
    # Around a restart of the coordinator, librdkafka ignores the time-out (confluentinc/librdkafka, issue 5456).
    call_with_timeout(_OFFSETS_S + 1, lambda: producer.send_offsets_to_transaction(offsets, metadata, _OFFSETS_S))


def _still_members(batch: Sequence[_QueuedWrite]) -> list[_QueuedWrite]:
    """The writes of current members; the others fail."""
    allowed = [queued for queued in batch if queued.group_metadata() is not None]
    _end([queued for queued in batch if queued not in allowed], timed_out(_NOT_A_MEMBER))
    return allowed


def _end(batch: Sequence[_QueuedWrite], error: KafkaFailure | None = None) -> None:
    for queued in batch:
        queued.end(error)


def _merged(batch: Sequence[_QueuedWrite]) -> dict[str, dict[tuple[str, int], int]]:
    merged: dict[str, dict[tuple[str, int], int]] = {}
    for queued in batch:
        for group, offsets in queued.write.offsets.items():
            merged.setdefault(group, {}).update(offsets)
    return merged
