"""A writer of which only one process at a time is active: its transactions fence an earlier owner (KIP-618)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping

from confluent_kafka import KafkaException, Producer

from headrace.errors import ConnectError
from headrace.kafka import clients
from headrace.kafka.failures import TOO_LARGE, failure
from headrace.kafka.plain_writer import DeliveryReports, PlainWriter

Entry = tuple[bytes, bytes | None]


class PrivilegedWriteError(ConnectError):
    """The write privileges were not claimed, were lost to another worker, or the write failed: claim them again."""


class TransactionalWriter:
    """Writes groups of records to one topic, each in a transaction. Thread-safe. Nothing is connected before claim()."""

    def __init__(self, topic: str, props: Mapping[str, str], transactional_id: str) -> None:
        """Takes settings of Kafka's Java producer. Raises ConfigError."""
        self._topic = topic
        self._props = {**props, "acks": "all", "enable.idempotence": "true", "transactional.id": transactional_id}
        clients.librdkafka(self._props, "producer")
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._plain: PlainWriter | None = None

    def claim(self, timeout_s: float) -> None:
        """Claim the write privileges: an earlier writer with the same transactional id is fenced. Raises KafkaFailure."""
        with self._lock:
            self._relinquish()
            if self._plain is not None:
                return
            # librdkafka's pause between calls while the broker completes the previous transaction: 100 ms by default.
            producer = clients.producer(self._props, linger_ms="0", retry_backoff_ms="5", retry_backoff_max_ms="200")
            try:
                producer.init_transactions(timeout_s)
            except KafkaException as error:
                raise failure(error) from None
            self._producer = producer

    def may_write(self) -> bool:
        """Whether the write privileges were claimed, and not lost since."""
        return self._producer is not None or self._plain is not None

    def without_transactions(self) -> None:
        """Write without transactions from now on: there is no fencing."""
        with self._lock:
            self._relinquish()
            self._plain = PlainWriter(self._props)

    def write(self, entries: Iterable[Entry], timeout_s: float) -> dict[int, int]:
        """Write records in one transaction; without transactions, one after the other.

        Returns, by partition, the offset after the last of them. Raises PrivilegedWriteError: then the write privileges are
        lost; and KafkaFailure for a record that is too large, which says nothing about them: they are kept, and nothing is
        written.
        """
        with self._lock:
            producer = self._producer
            if producer is None and self._plain is None:
                raise PrivilegedWriteError("Cannot produce to config topic without claiming write privileges first")
            try:
                if self._plain is not None:
                    return self._one_by_one(self._plain, entries, time.monotonic() + timeout_s)
                assert producer is not None
                return self._transaction(producer, entries, timeout_s)
            except KafkaException as error:
                problem = failure(error)
                if problem.code == TOO_LARGE and (producer is None or _abort(producer, timeout_s)):
                    raise problem from None
                self._relinquish()
                raise PrivilegedWriteError("Failed to perform fencable send to config topic") from problem

    def stop(self) -> None:
        """Give up the write privileges."""
        with self._lock:
            self._relinquish()
            if self._plain is not None:
                self._plain.stop()

    def _one_by_one(self, writer: PlainWriter, entries: Iterable[Entry], deadline: float) -> dict[int, int]:
        ends: dict[int, int] = {}
        for key, value in entries:
            ends |= writer.write([(self._topic, key, value)], deadline)
        return ends

    def _transaction(self, producer: Producer, entries: Iterable[Entry], timeout_s: float) -> dict[int, int]:
        deadline, reports = time.monotonic() + timeout_s, DeliveryReports()
        producer.begin_transaction()
        for key, value in entries:
            producer.produce(self._topic, value, key, on_delivery=reports.add)
        try:
            producer.commit_transaction(max(deadline - time.monotonic(), 0.1))
        except KafkaException as error:
            raise KafkaException(reports.errors[0]) if reports.errors else error from None
        return reports.ends

    def _relinquish(self) -> None:
        """Drop the producer; an open transaction is aborted by its successor, or by its time-out."""
        producer, self._producer = self._producer, None
        if producer is not None:
            clients.purge(producer)


def _abort(producer: Producer, timeout_s: float) -> bool:
    """Abort the open transaction; returns whether the producer can begin another one."""
    try:
        producer.abort_transaction(timeout_s)
    except KafkaException:
        return False
    return True
