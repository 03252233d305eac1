"""Appends records to one topic; the Future of a record is done when all in-sync replicas have it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import structlog
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from headrace.kafka import clients
from headrace.kafka.failures import failure, kafka_error, timed_out

log = structlog.get_logger(__name__)

_POLL_S, _IDLE_S = 0.25, 5.0
"""How long one call waits for delivery reports, and how often errors are looked for while no record is in flight."""
_QUEUE_FULL_S = 30.0


@dataclass(frozen=True)
class WrittenAt:
    """Partition and offset of a written record."""

    partition: int
    offset: int


class RecordWriter:
    """A producer with acks=all, created at the first send. Thread-safe; records of one key keep the order of their sends.

    The partition of a record is Kafka's murmur2 of its key.
    """

    def __init__(self, topic: str, props: Mapping[str, str], linger_ms: int = 0) -> None:
        """Takes settings of Kafka's Java producer; linger_ms: how long a record may wait for others of its batch.

        Raises ConfigError (here, not at the first write).
        """
        self._topic, self._linger_ms = topic, linger_ms
        self._props = {**props, "acks": "all"}
        clients.librdkafka(self._props, "producer")
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._broken: list[Producer] = []
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._has_work = threading.Event()  # a record was sent, a producer is broken, or `stop` was called

    def send(self, key: bytes, value: bytes | None) -> Future[WrittenAt]:
        """Send a record (None: a tombstone).

        Returns a Future of its position; it fails with KafkaFailure (RetriableKafkaFailure after `delivery.timeout.ms`).
        """
        future: Future[WrittenAt] = Future()
        future.set_running_or_notify_cancel()  # records in flight cannot be cancelled

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                future.set_result(WrittenAt(message.partition() or 0, message.offset() or 0))
            else:
                self._discard_if_broken(error)
                future.set_exception(failure(error))

        self._produce(key, value, delivered)
        return future

    def flush(self, timeout_s: float) -> bool:
        """Wait until no record is in flight; False if one still is after `timeout_s`."""
        producer = self._producer
        return producer is None or producer.flush(timeout_s) == 0

    def stop(self, timeout_s: float) -> None:
        """Wait for records in flight, at most `timeout_s`, drop the others, and end the thread. Later sends raise."""
        with self._lock:
            self._stopping.set()
        self._has_work.set()
        if not self.flush(timeout_s) and self._producer is not None:
            log.warning("writer.closed-with-records", topic=self._topic)
            clients.purge(self._producer, 1.0)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._producer = None

    def _produce(self, key: bytes, value: bytes | None, delivered: Any) -> None:
        deadline = time.monotonic() + _QUEUE_FULL_S
        while True:
            producer = self._current()
            try:
                producer.produce(self._topic, value, key, on_delivery=delivered)
                return self._has_work.set()
            except BufferError:
                if time.monotonic() > deadline:
                    raise timed_out(
                        f"The queue of records for topic '{self._topic}' stayed full for {_QUEUE_FULL_S:g} s."
                    ) from None
                producer.poll(0.1)
            except KafkaException as error:
                if not self._discard_if_broken(kafka_error(error)):
                    raise failure(error) from None

    def _current(self) -> Producer:
        with self._lock:
            if self._stopping.is_set():
                raise timed_out(f"The writer of topic '{self._topic}' is closed.")
            if self._producer is None:
                self._producer = clients.producer(self._props, linger_ms=self._linger_ms)
            if self._thread is None:
                self._thread = threading.Thread(target=self._poll, name=f"writer of {self._topic}", daemon=True)
                self._thread.start()
            return self._producer

    def _poll(self) -> None:
        """Poll delivery reports while records are in flight, until `stop`."""
        while not self._stopping.is_set():
            self._has_work.wait(_IDLE_S)
            self._has_work.clear()
            while self._broken:
                clients.purge(self._broken.pop(), 1.0)  # fails the futures of its records
            producer = self._producer
            if producer is not None:
                producer.poll(0)
            while producer is not None and producer is self._producer and len(producer) and not self._stopping.is_set():
                producer.poll(_POLL_S)

    def _discard_if_broken(self, error: KafkaError) -> bool:
        """Discard an idempotent producer after a fatal error: the next send creates a new one."""
        if not error.fatal() and error.name() != "_FATAL":
            return False
        log.warning("producer.replaced", topic=self._topic, cause=error.str())
        with self._lock:
            if self._producer is not None:
                self._broken.append(self._producer)
            self._producer = None
        self._has_work.set()
        return True
