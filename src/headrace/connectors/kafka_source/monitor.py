"""Watches which partitions of the source cluster are to be mirrored (KIP-310's partition monitor)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass

import structlog

from headrace.connectors.kafka_source.assignment import NO_LEADER, LeaderTopicPartition
from headrace.errors import ConnectError, HeadraceError
from headrace.kafka.failures import REQUEST_TIMED_OUT, KafkaFailure
from headrace.kafka.topic_info import TopicInfo

log = structlog.get_logger(__name__)

TIMEOUT = (
    "Timeout while waiting for AdminClient to return topic list. This likely indicates a (possibly transient) connection issue, "
    "but could be an indicator that the timeout is set too low."
)
_LIST_TIMEOUT_S = 0.1
_GRACE_S = 1.0  # the client's own time-out is shorter, with a better message

Partitions = frozenset[LeaderTopicPartition]
TopicLister = Callable[[float], Mapping[str, TopicInfo]]


@dataclass(frozen=True)
class TopicMonitorSettings:
    """The topics to watch, and the interval."""

    whitelist: re.Pattern[str]
    """Matches whole names of topics."""
    timeout_s: float
    """How long one listing may take."""
    interval_s: float
    """The pause after it."""
    leaders: bool = False
    """Whether a change of leaders alone counts."""


def select(topics: Mapping[str, TopicInfo], whitelist: re.Pattern[str]) -> Partitions:
    """The partitions of the topics that the whitelist names; internal topics never are. Pure."""
    return frozenset(
        LeaderTopicPartition(NO_LEADER if leader is None else leader, name, partition)
        for name, info in topics.items()
        if not info.internal and whitelist.fullmatch(name)
        for partition, leader in info.partitions.items()
    )


def differs(before: Partitions, after: Partitions, leaders: bool) -> bool:
    """Whether tasks have to be reconfigured; without `leaders`, who leads a partition does not matter. Pure."""
    if leaders:
        return before != after
    return {(p.topic, p.partition) for p in before} != {(p.topic, p.partition) for p in after}


class PartitionMonitor:
    """Lists topics on a thread of its own, once at the start and then after every pause, until it is stopped."""

    def __init__(self, list_topics: TopicLister, watch: TopicMonitorSettings, on_change: Callable[[], None]) -> None:
        """list_topics: returns the topics of the source cluster within a time-out in seconds; on_change: called on the monitor's
        thread.
        """
        self._list_topics, self._watch, self._on_change = list_topics, watch, on_change
        self._partitions: Partitions | None = None
        self._first_error: Exception | None = None
        self._first_done, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=copy_context().run, args=(self._main,), name="partition-monitor", daemon=True)

    @property
    def partitions(self) -> Partitions:
        """The last listing. Raises ConnectError before the first one."""
        if self._partitions is None:
            raise ConnectError("The topics of the source cluster are not known yet.")
        return self._partitions

    def start(self, stopping: threading.Event | None = None) -> None:
        """Start, and wait for the first listing.

        stopping: ends the wait, in silence. Raises ConnectError if the listing fails or takes longer than `timeout_s`.
        """
        self._thread.start()
        waited = 0.0
        while not self._first_done.wait(_LIST_TIMEOUT_S):
            waited += _LIST_TIMEOUT_S
            if stopping is not None and stopping.is_set():
                return
            if waited >= self._watch.timeout_s + _GRACE_S:
                raise ConnectError(TIMEOUT)
        if self._first_error is not None:
            raise _start_failure(self._first_error) from self._first_error

    def stop(self, timeout_s: float) -> None:
        """End the thread; one that does not end within `timeout_s` is left behind, and its findings are ignored."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _main(self) -> None:
        try:
            log.info("Retrieving initial topic list from kafka.")
            self._partitions = self._retrieve()
        except Exception as error:
            self._first_error = error
        finally:
            self._first_done.set()
        if self._first_error is None:
            while not self._stopping.wait(self._watch.interval_s):
                self._check()

    def _retrieve(self) -> Partitions:
        return select(self._list_topics(self._watch.timeout_s), self._watch.whitelist)

    def _check(self) -> None:
        """List the topics again; errors are logged, and the next listing retries."""
        try:
            partitions = self._retrieve()
            if self._stopping.is_set():
                return
            changed = differs(self.partitions, partitions, self._watch.leaders)
            self._partitions = partitions
            if changed:
                log.info("The partitions of the source topics have changed, will request task reconfiguration")
                self._on_change()
            else:
                log.info("No partition changes which require reconfiguration have been detected.")
        except HeadraceError as error:
            if _timed_out(error):
                log.error("%s %s", TIMEOUT, error)
            else:
                log.error("The topics could not be listed: %s", error)
        except Exception:
            log.exception("The partition monitor failed; it continues")


def _start_failure(error: Exception) -> ConnectError:
    return ConnectError(TIMEOUT if _timed_out(error) else f"Unexpected error while starting PartitionMonitor: {error}")


def _timed_out(error: Exception) -> bool:
    return isinstance(error, KafkaFailure) and error.code == REQUEST_TIMED_OUT
