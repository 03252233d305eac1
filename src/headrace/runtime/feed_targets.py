"""The topics that a feed writes to: each exists before its first record, and is described to the lane."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import structlog

from headrace.config.client_options import client_value
from headrace.errors import HeadraceError, RetriableError
from headrace.runtime.feed_dependencies import FeedDependencies
from headrace.runtime.feed_settings import lane_producer
from headrace.runtime.topic_watch import CHECK_S
from headrace.spark import feeds
from headrace.spark.destination_topic import KAFKA_BATCH_BYTES, DestinationTopic
from headrace.spark.plane import Handle
from headrace.topics.waiting import LOOK_S

log = structlog.get_logger(__name__)

_MAX_REQUESTS, _REQUEST_WINDOW_S, _MAX_PAUSE_S = 20, 60.0, 2.0


class SmallerBatchesError(Exception):
    """A topic accepts only smaller batches than the lane's producer sends: the feed has to move to another lane."""


class FeedTargets:
    """The topics of a feed that runs in one lane after the other.

    `batch_bytes` is the largest batch that all topics accept, and that the lane's memory has room for; None: not limited yet.
    """

    def __init__(self, needs: FeedDependencies, partition_counts: Mapping[str, int] | None, batch_bytes: int | None) -> None:
        """partition_counts: as in `Routing`; batch_bytes: of the run before."""
        self._needs, self._partition_counts = needs, partition_counts
        self.descriptions: dict[str, DestinationTopic] = {}
        self.batch_bytes = batch_bytes
        self._requested_at: dict[str, list[float]] = {}  # times at which a known topic was requested again
        self._checked_at = time.monotonic()
        self._known_at: dict[str, float] = {}  # when the lanes got a topic last
        self._missing: set[str] = set()  # topics that somebody else has to create
        self._look_at = math.inf

    def all(self) -> list[feeds.Target]:
        """The topics as a lane has to know them."""
        return [self._target(topic) for topic in self.descriptions]

    def ensure_dead_letters(self) -> None:
        """Ensure the dead letter topic; if the feed's own producer writes it, it is one of its targets."""
        needs, letters = self._needs, self._needs.tolerance.dead_letters
        if letters is None or letters.topic in self.descriptions or needs.letter_producer is not None or not needs.tolerance.all:
            return
        needs.ports.ensure_dead_letters(letters.topic, letters.replication_factor)
        self.descriptions[letters.topic] = needs.ports.look_up(letters.topic)

    def add(self, handle: Handle, topic: str, requested_at: float = math.inf) -> None:
        """Add or update a topic that the feed has requested: unknown, or with too few partitions.

        requested_at: when, by time.monotonic; a request from before the lanes got the topic is answered by that.

        One that does not exist, and may not be created, is added by `add_created`. Raises HeadraceError, and SmallerBatchesError
        if the topic may refuse the lane's batches.
        """
        if requested_at < self._known_at.get(topic, -math.inf):
            return
        ports = self._needs.ports
        before = self.descriptions.get(topic)
        if before is None:
            if self._needs.exactly is not None:
                self._needs.exactly.check([topic])
            if ports.missing_topics([topic]):
                self._missing.add(topic)
                self._look_at = time.monotonic() + LOOK_S
                return
        else:
            ports.renew_topics([topic])
        description = self.descriptions[topic] = self._look_up(topic)
        if description == before:
            self._back_off(topic, description)
        self._check_batch_size(description)
        self._known_at[topic] = time.monotonic()
        handle.update_topic(self._target(topic))

    @property
    def due_at(self) -> float:
        """When to call `add_created`, by time.monotonic; infinite: never."""
        return self._look_at if self._missing else math.inf

    def add_created(self, handle: Handle) -> None:
        """Add the topics that were missing and exist now, if it is time to look. Raises what `add` raises."""
        if time.monotonic() >= self.due_at:
            missing, self._missing = sorted(self._missing), set()
            for topic in missing:
                self.add(handle, topic)

    def check(self, handle: Handle, waiting_ms: int) -> None:
        """Recreate deleted topics, if allowed, once nothing was acknowledged for a while. waiting_ms: for how long."""
        if waiting_ms <= CHECK_S * 1000 or time.monotonic() - self._checked_at <= CHECK_S:
            return
        self._checked_at = time.monotonic()
        try:
            for topic in sorted(self._needs.ports.renew_topics(self.descriptions)):
                self.descriptions[topic] = self._needs.ports.look_up(topic)
                handle.update_topic(self._target(topic))
        except HeadraceError as error:  # brokers may be unavailable: the next check retries
            log.info("target.look.failed", cause=str(error))

    def _look_up(self, topic: str) -> DestinationTopic:
        """Describe a topic; one that was deleted since an earlier run is recreated if allowed."""
        ports = self._needs.ports
        try:
            return ports.look_up(topic)
        except RetriableError:
            if not ports.renew_topics([topic]):
                raise
            return ports.look_up(topic)

    def _back_off(self, topic: str, description: DestinationTopic) -> None:
        """Pause after a request for an unchanged topic, which may be new. Raises RetriableError after too many requests."""
        now = time.monotonic()
        recent = [at for at in self._requested_at.get(topic, []) if now - at < _REQUEST_WINDOW_S]
        times = self._requested_at[topic] = [*recent, now]
        self._needs.stopping.wait(min(_MAX_PAUSE_S, 0.2 * len(times)))
        if len(times) >= _MAX_REQUESTS:
            raise RetriableError(
                f"Topic '{topic}' has {description.partitions} partitions, and a record is for a partition that does not exist "
                "or has no known leader."
            )

    def limit_batches(self, limit: int | None) -> None:
        """Let batches have at most so many bytes; None: no limit."""
        if limit is not None:
            self.batch_bytes = min(limit, self.batch_bytes or limit)

    def _check_batch_size(self, description: DestinationTopic) -> None:
        """Raise SmallerBatchesError if the topic may refuse the lane's batches, which are then split endlessly (KAFKA-8350)."""
        limit = description.max_message_bytes or KAFKA_BATCH_BYTES
        current = lane_producer(self._needs.producer, self.batch_bytes)["batch.size"]
        if limit < int(current):
            self.batch_bytes = limit
            raise SmallerBatchesError

    def _target(self, topic: str) -> feeds.Target:
        description, counts = self.descriptions[topic], self._partition_counts
        compresses = client_value("producer", self._needs.producer, "compression.type").lower() != "none"
        return feeds.Target(
            topic=topic,
            partitions=description.partitions,
            max_message_bytes=0 if compresses else description.max_message_bytes or 0,
            keeps_partition=counts is None or counts.get(topic) == description.partitions,
        )
