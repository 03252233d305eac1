"""Readers of the topics of offset syncs and checkpoints, while a task runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import structlog

from headrace.connectors.mirror.formats import Checkpoint, FormatError, OffsetSync
from headrace.connectors.mirror.translation import Translations
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition
from headrace.kafka.tail import LogRecord, Tail

log = structlog.get_logger(__name__)

_READ_S = 60.0


class Syncs:
    """Follows a topic of offset syncs on its own thread; `translations` has the syncs read so far."""

    def __init__(self, topic: str, consumer: Mapping[str, str], translations: Translations) -> None:
        """consumer: Java settings of a consumer on the cluster that has the topic. Raises ConfigError."""
        self.translations, self._topic = translations, topic
        self._admin, self._tail = Admin(consumer), Tail(topic, consumer, self._apply)

    def start(self, timeout_s: float = _READ_S) -> None:
        """Read all there is. Raises KafkaFailure, retriable if there is no such topic yet, or it takes too long."""
        end = self._admin.partition_offsets([(self._topic, 0)], "latest", timeout_s)
        self._tail.start([0])
        self._tail.wait_for({0: end[self._topic, 0]}, timeout_s)
        self.translations.ready()

    def stop(self) -> None:
        """End."""
        self._tail.stop()

    def _apply(self, record: LogRecord) -> None:
        if record.value is None:
            return
        try:
            self.translations.add(OffsetSync.read(record.key, record.value))
        except FormatError as error:
            log.warning("mirror.record.skipped", topic=self._topic, offset=record.offset, cause=str(error))


def read_checkpoints(
    topic: str, consumer: Mapping[str, str], groups: Collection[str] | None, timeout_s: float = _READ_S
) -> dict[str, dict[Partition, Checkpoint]]:
    """The last checkpoints that were written, by group (groups None: of all) and partition of the target.

    Raises KafkaFailure, retriable if there is no such topic, or it takes too long.
    """
    checkpoints: dict[str, dict[Partition, Checkpoint]] = {}

    def apply(record: LogRecord) -> None:
        if record.value is None:
            return
        try:
            read = Checkpoint.read(record.key, record.value)
        except FormatError as error:
            log.warning("mirror.record.skipped", topic=topic, offset=record.offset, cause=str(error))
            return
        if groups is None or read.group in groups:
            checkpoints.setdefault(read.group, {})[read.topic, read.partition] = read

    end = Admin(consumer).partition_offsets([(topic, 0)], "latest", timeout_s)[topic, 0]
    tail = Tail(topic, consumer, apply)
    try:
        tail.start([0])
        tail.wait_for({0: end}, timeout_s)
    finally:
        tail.stop()
    return checkpoints
