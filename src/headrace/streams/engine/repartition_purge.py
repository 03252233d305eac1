"""Deletes committed records from repartition topics (`repartition.purge.interval.ms`)."""

from __future__ import annotations

import time

import structlog

from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.streams.config import StreamsConfig
from headrace.streams.engine.task import StreamTask
from headrace.streams.internal_topics import full_name
from headrace.streams.topology import Topology

log = structlog.get_logger(__name__)


class RepartitionTopicPurge:
    """Purges the repartition topics of each sub-topology periodically."""

    def __init__(self, topology: Topology, config: StreamsConfig, admin: Admin) -> None:
        self._topics = {full_name(topology, config.topic_prefix, name) for name in topology.repartition_topics}
        self._interval_s, self._admin = config.purge_interval_ms / 1000, admin
        self._last: dict[int, float] = {}

    def purge_if_due(self, task: StreamTask) -> None:
        """Purge the committed records of a sub-topology, if the interval is over."""
        now = time.monotonic()
        if now - self._last.setdefault(task.subtopology, now) < self._interval_s:
            return
        self._last[task.subtopology] = now
        committed = {p: offset for p, offset in task.commits.committed_offsets.items() if p[0] in self._topics and offset > 0}
        if not committed:
            return
        try:
            self._admin.delete_records(committed)
        except KafkaFailure as failure:
            log.warning("Repartition topics could not be purged: %s", failure.reason)
