"""A worker's membership in the Kafka group of its cluster: the *slots* assigned to it, and the generation.

The slots are the partitions of one internal topic (whose records are not read): Kafka's cooperative group protocol assigns them,
detects a lost worker within the session time-out, and moves as few as possible. The member's *group metadata* (member and
generation) is part of every write restricted to members (`headrace.kafka.group_transactions`).
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any

import structlog
from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from headrace.errors import ConnectError
from headrace.kafka import clients
from headrace.kafka.failures import failure, timed_out
from headrace.kafka.groups import GroupOffsets
from headrace.retry import Backoff

log = structlog.get_logger(__name__)

_POLL_S, _LEAVE_S, _FENCED_S, _FENCINGS = 0.25, 15.0, 60.0, 3
_FENCED = ("FENCED_INSTANCE_ID", "_FATAL")
_MAGIC = b"CGMDv2:"


@dataclass(frozen=True)
class Place:
    """A member's slots, and the group's generation."""

    slots: frozenset[int]
    """Numbers of partitions of the group's topic."""
    generation: int
    """−1: the worker is not a member now."""


@dataclass(frozen=True)
class GroupListener:
    """The listener, called on the membership's thread."""

    changed: Callable[[Place], None]
    """Called with a new assignment; revoked slots may be assigned to another member once it returns, so their work must have
    stopped by then.
    """
    lost: Callable[[Place], None]
    """Called when the group has removed this worker: its slots may be assigned to others already."""
    fatal: Callable[[ConnectError], None]
    """Called when the worker cannot rejoin the group."""
    polled: Callable[[Place], None] = lambda place: None
    """Called after each poll, for work that takes several attempts: the member is lost without polls."""


@dataclass(frozen=True)
class GroupSettings:
    """The group, the topic whose partitions are the slots, this worker's name, and time-outs in ms."""

    group: str
    """`group.id`."""
    topic: str
    """Its partitions are the slots."""
    member: str
    """Static member name: a worker that restarts within the session time-out keeps its slots (KIP-345)."""
    session_timeout_ms: int
    heartbeat_interval_ms: int
    rebalance_timeout_ms: int


@dataclass(frozen=True)
class _Announcement:
    """A text to be published; not any more once `void` is set. done: when it is, or has failed."""

    text: str
    void: threading.Event
    done: Future[None]


class Membership:
    """A member of the group from `join` to `leave`."""

    def __init__(self, props: Mapping[str, str], settings: GroupSettings, listener: GroupListener) -> None:
        """props: Java settings of the worker's own clients. Raises ConfigError for invalid consumer settings."""
        self.settings, self._listener = settings, listener
        self._props = _consumer_settings(props, settings)
        clients.librdkafka(self._props, "consumer")
        # With its own consumer: the membership's consumer is always busy polling.
        self._group_offsets = GroupOffsets(props, settings.group)
        self._slots: frozenset[int] = frozenset()
        self._member = False
        self._group_metadata: bytes | None = None
        self._session = 0  # incremented with each loss: a rejoin does not make earlier sessions valid again
        self._slot_count = 0
        self._announcement: _Announcement | None = None
        self._announced: Future[None] | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name="worker-membership", daemon=True)

    def join(self, slot_count: int) -> None:
        """Join the group; returns at once; `changed` is called with the first assignment.

        slot_count: how many slots the group uses; it is published with each announcement.
        """
        self._slot_count = slot_count
        self._thread.start()

    def leave(self) -> None:
        """Stop the member. Its slots are reassigned after the session time-out, so that a quick restart moves nothing."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_LEAVE_S)

    def session(self) -> Callable[[], bytes | None]:
        """A function that returns the group metadata until this membership is lost; from then on None, even after a rejoin."""
        session = self._session
        return lambda: self.group_metadata() if self._session == session else None

    def group_metadata(self) -> bytes | None:
        """The group metadata of this member in the current generation; None without membership.

        It may be a quarter of a second old: brokers refuse metadata of an earlier generation.
        """
        return self._group_metadata if self._member else None

    def announce(self, text: str, timeout_s: float, void: threading.Event) -> None:
        """Publish a short text in the group's offset metadata, for all members to read; only a member can.

        void: the text is not published once it is set; set on the membership's thread, it holds at once. Raises KafkaFailure.
        """
        # Committed by the polling thread, which owns the consumer.
        announcement = _Announcement(text, void, Future())
        self._announcement = announcement
        try:
            announcement.done.result(timeout_s)
        except FutureTimeoutError:
            raise timed_out("The group did not accept this worker's address in time.") from None

    def announced(self, timeout_s: float) -> str | None:
        """The last published text; None without one. Raises KafkaFailure."""
        return self._group_offsets.metadata((self.settings.topic, 0), timeout_s)

    def announced_slot_count(self, timeout_s: float) -> int | None:
        """The number of slots published with the last text; None without one. Raises KafkaFailure."""
        slots = (self.settings.topic, 0)
        return self._group_offsets.read([slots], timeout_s).get(slots) or None  # 0: of a release that published texts only

    # ------------------------------------------------------------------------------------------------ the own thread
    def _main(self) -> None:
        fenced: list[float] = []
        while (error := self._poll_as_member()) is not None:
            # A member of static name that joins again after an outage may be fenced off by itself (the broker knows it under two
            # ids for a moment), which looks like another worker of its name. A real one comes again and again; outages do not.
            now = time.monotonic()
            fenced = [*(at for at in fenced if now - at < _FENCED_S), now]
            if len(fenced) >= _FENCINGS or error.name() not in _FENCED:
                return self._listener.fatal(ConnectError(self._fatal_message(error)))
            log.warning("group.member.restarted", group=self.settings.group, cause=error.str())
        return None

    def _poll_as_member(self) -> KafkaError | None:
        """Poll as a member until this worker leaves (None) or is rejected (the error); its work has stopped then."""
        consumer = clients.consumer(self._props, error_cb=lambda error: None, on_commit=self._committed)
        consumer.subscribe([self.settings.topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
        error, backoff = None, Backoff(first_s=1.0, longest_s=5.0)
        while not self._stopping.is_set():
            try:
                messages = consumer.consume(1, _POLL_S)  # poll() wakes up every 200 ms to look for signals
                backoff.succeeded()
            except (KafkaException, RuntimeError):
                log.exception("group.member.failed", group=self.settings.group, hint="retried")
                self._stopping.wait(backoff.failed())
                continue
            self._group_metadata = consumer.consumer_group_metadata()
            self._commit_announcement(consumer)
            error = messages[0].error() if messages else None
            if error is not None and self._is_final(error):
                self._expired(self._listener.lost)
                break
            error = None
            self._notify(self._listener.polled)
        self._member = False
        consumer.close()
        return error

    def _commit_announcement(self, consumer: Consumer) -> None:
        announcement = self._announcement
        if announcement is not None and announcement.void.is_set():
            self._announcement = None
            announcement.done.set_exception(timed_out("This worker's address is not to be published any more."))
        elif announcement is not None and self._member:
            self._announced, self._announcement = announcement.done, None
            published = TopicPartition(self.settings.topic, 0, self._slot_count, announcement.text)
            consumer.commit(offsets=[published], asynchronous=True)

    def _committed(self, error: KafkaError | None, _partitions: list[TopicPartition]) -> None:
        announcement, self._announced = self._announced, None
        if announcement is not None and error is None:
            announcement.set_result(None)
        elif announcement is not None and error is not None:
            announcement.set_exception(failure(error))

    def _is_final(self, error: KafkaError) -> bool:
        if error.fatal() or error.name() in (*_FENCED, "INCONSISTENT_GROUP_PROTOCOL", "GROUP_AUTHORIZATION_FAILED"):
            return True
        log.warning("group.poll.failed", group=self.settings.group, cause=error.str())
        return False

    def _fatal_message(self, error: KafkaError) -> str:
        group = self.settings.group
        if error.name() == "INCONSISTENT_GROUP_PROTOCOL":
            return (
                f"The members of group '{group}' are not headrace workers (but Kafka Connect, or consumers of that group.id): "
                "stop them, or give this worker a group.id of its own."
            )
        if error.name() == "GROUP_AUTHORIZATION_FAILED":
            return f"This worker may not be a member of group '{group}': it needs the right to Read the group. ({error.str()})"
        return (
            f"Another worker of group '{group}' has the same name, {self.settings.member}: give each its own "
            f"rest.advertised.host.name or listener. ({error.str()})"
        )

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        added = [TopicPartition(p.topic, p.partition, OFFSET_END) for p in partitions]
        consumer.incremental_assign(added)
        consumer.pause(added)  # its records are not read: only the assignment is used
        self._member, self._group_metadata = True, consumer.consumer_group_metadata()
        self._slots |= {p.partition for p in partitions}
        self._notify(self._listener.changed)

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._group_metadata = consumer.consumer_group_metadata()  # of the new generation: work that stops may still write
        self._slots -= {p.partition for p in partitions}
        if not self._stopping.is_set():  # a stopping worker has stopped its work before it leaves
            self._notify(self._listener.changed)
        consumer.incremental_unassign(partitions)

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._expired(self._listener.lost)
        consumer.incremental_unassign(partitions)

    def _expired(self, callback: Callable[[Place], None]) -> None:
        self._member, self._slots, self._session = False, frozenset(), self._session + 1
        log.warning("group.member.expired", group=self.settings.group, cause="no answer within the session timeout")
        self._notify(callback)

    def _notify(self, callback: Callable[[Place], None]) -> None:
        try:
            callback(Place(self._slots, generation(self.group_metadata())))
        except Exception:  # the membership has to continue, else all work of this worker would move
            log.exception("group.rebalance.failed", group=self.settings.group)


def client_id(member: str) -> str:
    """The client id of a member of this name."""
    return f"headrace-{member}"


def generation(group_metadata: bytes | None) -> int:
    """The generation in a member's metadata; -1 without it.

    The format is librdkafka's: a magic, the generation as a little-endian int, names.
    """
    if group_metadata is None or not group_metadata.startswith(_MAGIC):
        return -1
    return int(struct.unpack_from("<i", group_metadata, len(_MAGIC))[0])


def _consumer_settings(props: Mapping[str, str], settings: GroupSettings) -> dict[str, Any]:
    kept = {k: v for k, v in props.items() if k not in ("group.protocol", "auto.offset.reset")}
    return {
        "group.instance.id": settings.member,
        **kept,
        "group.id": settings.group,
        "client.id": client_id(settings.member),
        "partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
        "session.timeout.ms": str(settings.session_timeout_ms),
        "heartbeat.interval.ms": str(settings.heartbeat_interval_ms),
        # How long a member may take to stop revoked work; at least a session.
        "max.poll.interval.ms": str(max(settings.rebalance_timeout_ms, settings.session_timeout_ms)),
        "enable.auto.commit": "false",
    }
