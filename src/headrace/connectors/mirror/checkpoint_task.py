"""The task of MirrorCheckpointConnector: the positions of consumer groups, translated into offsets of the target.

Source partition: `{"group": …, "partition": <n>, "topic": <name in the target>}`; its offset means nothing and is 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog

from headrace.config import parse_list
from headrace.connectors.base import Measured, Poll, PollingSourceTask, Progress, Props, SourcePartition, StoredOffsets
from headrace.connectors.mirror import own_records
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.checkpoint_config import MirrorCheckpointConfig
from headrace.connectors.mirror.checkpoint_metrics import CheckpointMetrics
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.formats import Checkpoint
from headrace.connectors.mirror.groups import accepted_partitions
from headrace.connectors.mirror.positions import Syncs, read_checkpoints
from headrace.connectors.mirror.schedule import LEAST_S
from headrace.connectors.mirror.translation import Naming, Translations, checkpoints, forward, has_changed
from headrace.errors import HeadraceError, RetriableError
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.groups import Partition
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

GROUPS = "task.assigned.groups"
"""The property of a task's configuration that lists its groups, as MirrorMaker writes it."""


class MirrorCheckpointTask(PollingSourceTask):
    """Writes checkpoints of the groups in `task.assigned.groups`; also commits them in the target, if configured."""

    def start(self, props: Props) -> None:
        """Take the configuration and connect to both clusters. Raises ConfigError."""
        self._config = config = MirrorCheckpointConfig(props)
        self._props, self._groups = props, parse_list(props.get(GROUPS, ""))
        self._source, self._target = (MirrorAdmin(client(props, side, "admin")) for side in ("source", "target"))
        self._naming = Naming(config.policy, config.source_cluster_alias, config.target_cluster_alias)
        self._syncs: Syncs | None = None
        self._last: dict[str, dict[Partition, Checkpoint]] = {}
        self._has_read = False  # whether `_last` is what the topic of checkpoints has
        self._pending: list[Checkpoint] = []
        self._created_ms = 0
        task = {"connector": self.context.connector, "task": str(self.context.task)}
        aliases = config.source_cluster_alias, config.target_cluster_alias
        self._metrics = CheckpointMetrics(*aliases, config.metric_formats, task)
        syncs_groups = config.sync_group_offsets_enabled and config.sync_group_offsets_interval_seconds >= 0
        self._next, self._next_sync = 0.0, 0.0 if syncs_groups else math.inf

    @property
    def poll_interval_s(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The interval of reading the groups."""
        return max(0.0, min(self._next, self._next_sync) - time.monotonic())

    def partitions(self) -> list[SourcePartition]:
        """None: what was written last stands in the topic of checkpoints."""
        return []

    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll | None:
        """The checkpoints that have changed. Raises a retriable failure while a cluster cannot be reached.

        What is written already is committed in the target first: that needs the target alone, the source may be away for good.
        """
        if self._syncs is None and not self._has_read:
            self._read_last()
        if time.monotonic() >= self._next_sync:
            self._commit_in_target()
            self._next_sync = time.monotonic() + max(LEAST_S, self._config.sync_group_offsets_interval_seconds)
        if self._syncs is None:
            self._follow_syncs()
        if time.monotonic() >= self._next and not self._pending:
            self._pending, self._created_ms = self._changed_checkpoints(), now_ms()
            self._metrics.created(self._pending, self._created_ms)
            self._next = time.monotonic() + max(LEAST_S, self._config.emit_checkpoints_interval_seconds)
        if not self._pending:
            return None
        records = [({"group": c.group, "partition": c.partition, "topic": c.topic}, c) for c in self._pending[: own_records.MOST]]
        return own_records.poll(spark, self._config.checkpoints_topic, records, self._created_ms)

    def committed(self, progress: Progress) -> None:
        """Keep the written checkpoints as the last of their partitions."""
        written = self._pending[: own_records.MOST]
        self._metrics.acknowledged(written, now_ms())
        for checkpoint in written:
            self._last.setdefault(checkpoint.group, {})[checkpoint.topic, checkpoint.partition] = checkpoint
        del self._pending[: own_records.MOST]

    def measures(self) -> Iterable[Measured]:
        """How long the last checkpoints took, as MirrorMaker's metrics have it."""
        metrics = getattr(self, "_metrics", None)  # perhaps not even started
        return () if metrics is None else metrics.measures()

    def stop(self) -> None:
        """End the reading of offset syncs."""
        if getattr(self, "_syncs", None) is not None:
            self._syncs.stop()  # pyright: ignore[reportOptionalMemberAccess]

    def _read_last(self) -> None:
        """The checkpoints that were written before."""
        topic = self._config.checkpoints_topic
        try:
            self._last = read_checkpoints(topic, client(self._props, "target", "consumer"), self._groups)
            self._has_read = True
        except KafkaFailure as failure:
            log.warning("mirror.checkpoints.unread", topic=topic, cause=str(failure),
                        meaning="only offsets that are mirrored from now on are translated")  # fmt: skip

    def _follow_syncs(self) -> None:
        """Begin to read offset syncs: only where the last checkpoints are known may all of them be used at once."""
        config, successful = self._config, self._has_read
        side = "source" if config.offset_syncs_topic_location == "source" else "target"
        syncs = Syncs(config.offset_syncs_topic, client(self._props, side, "consumer"), Translations(only_newest=not successful))
        try:
            syncs.start()
        except BaseException:
            syncs.stop()
            raise
        self._syncs = syncs

    def _changed_checkpoints(self) -> list[Checkpoint]:
        assert self._syncs is not None
        partitions = accepted_partitions(self._source, self._config.topic_filter, self._config.timeout_s)
        changed: list[Checkpoint] = []
        patience_s = self._config.timeout_s  # with all groups together that do not answer
        for group in self._groups:
            if self.context.stopping.is_set():
                break
            begun = time.monotonic()
            try:
                committed = self._source.group_offsets(group, partitions, max(LEAST_S, patience_s))
            except KafkaFailure as failure:
                if isinstance(failure, RetriableError):
                    if patience_s == self._config.timeout_s:  # raises if it is the whole cluster that does not answer
                        self._source.partition_counts(patience_s)
                    patience_s -= time.monotonic() - begun
                text = "Error querying offsets for consumer group %s on cluster %s."
                log.error(text, group, self._naming.source, cause=str(failure))
                continue
            last = self._last.get(group, {})
            translated = checkpoints(group, committed, self._syncs.translations, self._naming)
            changed += [checkpoint for where, checkpoint in translated.items() if has_changed(checkpoint, last.get(where))]
        return changed

    def _commit_in_target(self) -> None:
        """Commit in the target, for groups without members there, what is further than what they have committed.

        A copy may have been deleted since; its checkpoints stay.
        """
        try:
            present = self._target.partition_counts(self._config.timeout_s)
        except HeadraceError as error:
            log.error("Unable to sync offsets for consumer groups.", cause=str(error))
            return
        for group, written in self._last.items():
            last = {(topic, p): checkpoint for (topic, p), checkpoint in written.items() if p < present.get(topic, 0)}
            try:
                ahead = forward(last, self._target.group_offsets(group, last, self._config.timeout_s))
                if ahead:
                    self._target.commit_group(group, ahead, self._config.timeout_s)
            except HeadraceError as error:
                text = f"Unable to sync offsets for consumer group {group}."
                if isinstance(error, KafkaFailure) and error.code == "UNKNOWN_MEMBER_ID":
                    log.warning("%s This is likely caused by consumers currently using this group in the target cluster.", text)
                else:
                    log.error(text, cause=str(error))
