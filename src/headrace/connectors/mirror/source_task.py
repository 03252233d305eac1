"""The task of MirrorSourceConnector: a Kafka source task that names topics, and keeps its offsets, as MirrorMaker does.

Source partition: `{"cluster": <alias>, "partition": <n>, "topic": <name>}`; source offset: `{"offset": <of the last record>}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from headrace.connectors.base import Measured, Props, SourceOffset, SourcePartition, StoredOffsets, TaskContext
from headrace.connectors.feed import FeedSource
from headrace.connectors.kafka_source import task as kafka
from headrace.connectors.kafka_source.assignment import NO_LEADER, TASK_PARTITIONS, LeaderTopicPartition, encode
from headrace.connectors.kafka_source.metrics import OF_MIRROR, OF_PLUGIN
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.mirrored_topics import decode
from headrace.connectors.mirror.offset_syncs import Ends, SyncWriter, pair, within
from headrace.connectors.mirror.offsets import source_partition
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition
from headrace.record import HEADERS_TYPE, RecordColumns
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.spark.feeds import PartitionUpdate

log = structlog.get_logger(__name__)

ASSIGNED = "task.assigned.partitions"
"""The property of a task's configuration that lists its partitions, as MirrorMaker writes it."""
PROVENANCE = "mirror.provenance"
"""The header that each hop of a record adds, with the alias of the cluster that the record left."""
_TARGET_S = 10.0
_DESERIALIZERS = ("key.deserializer", "value.deserializer")  # a mirror reads bytes, whatever is set


def kafka_source_props(config: MirrorSourceConfig, props: Props) -> dict[str, str]:
    """The configuration of the Kafka source task (KIP-310) that reads the same."""
    consumer, admin = client(props, "source", "consumer"), client(props, "source", "admin")
    assigned = [LeaderTopicPartition(NO_LEADER, *partition) for partition in decode(props[ASSIGNED])]
    return {
        **{f"connector.consumer.{key}": value for key, value in consumer.items() if key not in _DESERIALIZERS},
        **{f"connector.admin.{key}": value for key, value in admin.items()},
        "source.bootstrap.servers": consumer.get("bootstrap.servers", ""),
        "source.topic.whitelist": ".*",
        "destination.partition": "source",
        "batch.max.records": str(config.batch_max_records),
        "source.data.loss": config.source_data_loss,
        TASK_PARTITIONS: encode(assigned),
    }


class MirrorSourceTask(kafka.KafkaSourceTask):
    """Reads the partitions of `task.assigned.partitions`."""

    def __init__(self, context: TaskContext) -> None:
        super().__init__(context)
        self._syncs: SyncWriter | None = None
        self._ends: dict[Partition, Ends] = {}

    def start(self, props: Props) -> None:
        """Take the configuration and connect to both clusters. Raises ConfigError."""
        self._mirror = config = MirrorSourceConfig(props)
        self._policy, self._alias = config.policy, config.source_cluster_alias
        super().start(kafka_source_props(config, props))
        self._target = Admin(client(props, "target", "admin"))
        if config.emit_offset_syncs_enabled:
            side = "source" if config.offset_syncs_topic_location == "source" else "target"
            self._syncs = SyncWriter(config.offset_syncs_topic, client(props, side, "producer"), config.offset_lag_max)

    def partitions(self) -> list[SourcePartition]:
        """One for each assigned partition."""
        return [self._source_partition(partition) for partition in super().partitions()]

    def open(self, stored: StoredOffsets) -> FeedSource | None:
        """All partitions that exist now; None if none does. Raises RetriableError if the source is out of reach."""
        stored_offsets = [(partition, stored.get(self._source_partition(partition))) for partition in super().partitions()]
        source = super().open(StoredOffsets(stored_offsets))
        if source is None:
            return None
        self._ends = {}
        self.delivered(source.positions)
        provenance = self._alias if self._mirror.provenance_headers_enabled else None
        key = (source.record_key, provenance, self._mirror.target_cluster_alias)
        return replace(source, record=self._mirrored, destination=self._remote, record_key=key, partition_counts=None)

    def _mirrored(self, frame: DataFrame) -> RecordColumns:
        """All records; with provenance headers, without those that have been in the target cluster."""
        record = super()._record(frame)
        if self._mirror.provenance_headers_enabled:
            was_in_target = _was_in_target(frame["headers"], self._mirror.target_cluster_alias)
            record = replace(record, headers=_with_provenance(frame["headers"], self._alias), dropped=was_in_target)
        return record

    def offsets(self, ends: Mapping[Partition, int]) -> list[tuple[SourcePartition, SourceOffset]]:
        """The Connect offsets that say that everything before these offsets is copied."""
        return [(self._source_partition(partition), offset) for partition, offset in super().offsets(ends)]

    def delivered(self, ends: Mapping[Partition, int]) -> None:
        """Write an offset sync for the end of each copy, as nothing is being written to them."""
        if self._syncs is None:
            return
        copies = {partition: self._copy(partition) for partition in ends}
        try:
            after = self._target.partition_offsets(copies.values(), "latest", _TARGET_S)
        except HeadraceError as error:
            log.warning("mirror.sync.failed", cause=str(error))
            return
        for partition, end in ends.items():
            self._ends[partition] = Ends(end, after[copies[partition]])
            self._syncs.take(pair(partition, self._ends[partition], alone=False))

    def acknowledged(self, partitions: Sequence[PartitionUpdate]) -> None:
        """Count what was copied, and write where to: the last record of each partition, with the offset of its copy."""
        super().acknowledged(partitions)
        for update in partitions:
            if update.upstream >= 0:
                self._update_ends(update)

    def _update_ends(self, update: PartitionUpdate) -> None:
        """Set the end offsets of a copy, and write the offset syncs for the records since the last call."""
        partition, after = (update.topic, update.partition), Ends(update.upstream + 1, update.downstream + 1)
        before = self._ends.get(partition)
        if self._syncs is not None and before != after:
            inner = within(partition, before, after, update.unbroken) if before else []
            self._syncs.take(pair(partition, after, alone=True), inner)
        self._ends[partition] = after

    def measures(self) -> Iterable[Measured]:
        """Counts and latencies of each partition, as MirrorMaker's metrics have them; the topic is the copy."""
        if not self._measured:  # perhaps not even started
            return
        formats = self._mirror.metric_formats
        flow = {"source": self._alias, "target": self._mirror.target_cluster_alias}
        for (topic, partition), measured in sorted(dict(self._measured).items()):
            labels = {**flow, "topic": self._remote(topic), "partition": str(partition)}
            if "legacy" in formats:
                yield from measured.measures(OF_MIRROR, labels)
            if "new" in formats:
                task = {"connector": self.context.connector, "task": str(self.context.task)}
                yield from measured.measures(OF_PLUGIN, {**task, **labels})

    def stop(self) -> None:
        """Write the last offset syncs."""
        super().stop()
        if self._syncs is not None:
            self._syncs.close()

    def _copy(self, partition: Partition) -> Partition:
        return self._remote(partition[0]), partition[1]

    def _remote(self, topic: str) -> str:
        return self._policy.remote(self._alias, topic)

    def _source_partition(self, partition: SourcePartition) -> SourcePartition:
        return source_partition(self._alias, kafka.parse_partition(partition))


def _was_in_target(headers: Column, target: str) -> Column:
    """Whether a record has been in the target cluster, by its headers."""
    was_in_target = F.exists(headers, lambda h: (h["key"] == PROVENANCE) & (h["value"] == F.lit(target).cast("binary")))
    return F.coalesce(was_in_target, F.lit(False))


def _with_provenance(headers: Column, source: str) -> Column:
    hop = F.array(F.struct(F.lit(PROVENANCE).alias("key"), F.lit(source).cast("binary").alias("value")))
    return F.concat(F.coalesce(headers, F.expr(f"cast(array() as {HEADERS_TYPE})")), hop.cast(HEADERS_TYPE))
