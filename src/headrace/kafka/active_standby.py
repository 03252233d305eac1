"""The instances of a streams application as members of its Kafka group: one is active, the others are standbys.

The member with partition 0 of the group's topic is active; Kafka's coordinator detects a lost instance within the session
time-out, and another one takes over. Offsets are committed by the member itself, with its generation, so that an instance that
was removed from the group cannot commit.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeVar

import structlog
from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from headrace.errors import ConnectError
from headrace.kafka import clients
from headrace.kafka.failures import failure, timed_out
from headrace.kafka.groups import Partition
from headrace.retry import Backoff

log = structlog.get_logger(__name__)

Value = TypeVar("Value")
_POLL_S, _LEAVE_S, _TIMEOUT_S = 0.02, 15.0, 60.0
# A client handles one call at a time, so a request waits for the end of a poll: polls are short while there are requests.
_SHORT_POLL_S, _BUSY_S = 0.002, 1.0


class ActiveStandbyMember:
    """A member of the group from `join` to `leave`. listener: called on its thread with whether this instance is active."""

    def __init__(self, props: Mapping[str, str], group: str, topic: str, listener: Callable[[bool], None]) -> None:
        """props: Java consumer settings; topic: subscribed to by all instances. Raises ConfigError."""
        self._props = _consumer_settings(props, group)
        clients.librdkafka(self._props, "consumer")
        self._group, self._listener = group, listener
        self.topic = topic
        self._active = False
        self._generation = 0  # incremented whenever this instance stops being active: earlier work must not be committed
        self._queue: queue.SimpleQueue[Callable[[Consumer], None]] = queue.SimpleQueue()
        self._commits: list[Future[None]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name=f"instance-{group}", daemon=True)

    def join(self) -> None:
        """Join the group; returns at once."""
        self._thread.start()

    def leave(self) -> None:
        """Leave the group; another instance takes over at once."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_LEAVE_S)

    @property
    def generation(self) -> int | None:
        """The generation to commit with, the same as long as this instance stays active; None while it is not active."""
        return self._generation if self._active else None

    def member_id(self, timeout_s: float = _TIMEOUT_S) -> str:
        """The id that the group's coordinator has given to this instance; empty before. Raises KafkaFailure."""
        return self._ask(lambda consumer: consumer.memberid() or "", timeout_s)

    def committed(self, partitions: Iterable[Partition], timeout_s: float = _TIMEOUT_S) -> dict[Partition, tuple[int, str]]:
        """The committed offsets of these partitions, with their metadata; partitions without one are left out.

        Raises KafkaFailure.
        """
        topic_partitions = [TopicPartition(*partition) for partition in partitions]

        def read(consumer: Consumer) -> dict[Partition, tuple[int, str]]:
            offsets = consumer.committed(topic_partitions, timeout=timeout_s)
            for partition in offsets:
                if partition.error:
                    raise failure(partition.error)
            return {
                (partition.topic, partition.partition): (partition.offset, partition.metadata or "")
                for partition in offsets
                if partition.offset >= 0
            }

        return self._ask(read, timeout_s) if topic_partitions else {}

    def commit(self, offsets: Mapping[Partition, tuple[int, str]], generation: int | None, timeout_s: float = _TIMEOUT_S) -> None:
        """Commit offsets with metadata, all or none, if this instance has been active since `generation`.

        Raises KafkaFailure, also if this instance was removed from the group.
        """
        offsets_with_texts = [
            TopicPartition(topic, partition, offset, text) for (topic, partition), (offset, text) in offsets.items()
        ]
        done: Future[None] = Future()

        def begin(consumer: Consumer) -> None:
            if generation is None or generation != self.generation:
                raise failure(KafkaError(KafkaError.ILLEGAL_GENERATION))
            self._commits.append(done)
            consumer.commit(offsets=offsets_with_texts, asynchronous=True)

        self._ask(begin, timeout_s)
        self._wait(done, timeout_s)

    # ------------------------------------------------------------------------------------------------ the own thread
    def _main(self) -> None:
        consumer = clients.consumer(self._props, error_cb=lambda error: None, on_commit=self._committed)
        consumer.subscribe([self.topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked)
        busy_until, backoff = 0.0, Backoff(first_s=1.0, longest_s=5.0)
        while not self._stopping.is_set():
            try:
                consumer.poll(_SHORT_POLL_S if time.monotonic() < busy_until else _POLL_S)
                while not self._queue.empty():
                    self._queue.get()(consumer)
                    busy_until = time.monotonic() + _BUSY_S
                backoff.succeeded()
            except (KafkaException, RuntimeError):
                log.exception("group.member.failed", group=self._group, hint="retried")
                self._stopping.wait(backoff.failed())
        self._is_active(False)
        consumer.close()
        while not self._queue.empty():
            self._queue.get()(consumer)

    def _ask(self, step: Callable[[Consumer], Value], timeout_s: float) -> Value:
        done: Future[Value] = Future()

        def run(consumer: Consumer) -> None:
            try:
                done.set_result(step(consumer))
            except KafkaException as error:
                done.set_exception(failure(error))
            except Exception as error:
                done.set_exception(error)

        self._queue.put(run)
        return self._wait(done, timeout_s)

    def _wait(self, done: Future[Value], timeout_s: float) -> Value:
        try:
            return done.result(timeout_s)
        except FutureTimeoutError:
            raise timed_out(f"The coordinator of group '{self._group}' did not answer in {timeout_s:g} s.") from None

    def _committed(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        if not self._commits:
            return
        done = self._commits.pop(0)
        wrong = error or next((partition.error for partition in partitions if partition.error), None)
        if wrong is None:
            done.set_result(None)
        else:
            done.set_exception(failure(wrong))

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        added = [TopicPartition(partition.topic, partition.partition, OFFSET_END) for partition in partitions]
        consumer.incremental_assign(added)
        consumer.pause(added)  # its records are not read
        if any(partition.partition == 0 for partition in partitions):
            self._is_active(True)

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if any(partition.partition == 0 for partition in partitions):
            self._is_active(False)
        consumer.incremental_unassign(partitions)

    def _is_active(self, active: bool) -> None:
        if active == self._active:
            return
        self._active = active
        self._generation += not active
        try:
            self._listener(active)
        except ConnectError:
            log.exception("group.rebalance.failed", group=self._group)


def _consumer_settings(props: Mapping[str, str], group: str) -> dict[str, Any]:
    settings = {key: value for key, value in props.items() if key not in ("group.protocol", "auto.offset.reset")}
    return {
        **settings,
        "group.id": group,
        "partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
        "enable.auto.commit": "false",
    }
