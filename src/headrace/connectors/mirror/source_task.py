"""The task of MirrorSourceConnector: a Kafka source task that names topics, and keeps its offsets, as MirrorMaker does.

Source partition: `{"cluster": <alias>, "partition": <n>, "topic": <name>}`; source offset: `{"offset": <of the last record>}`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from headrace.connectors.base import Measured, Offsets, Progress, Props, SourcePartition, StoredOffsets, Stream, TaskContext
from headrace.connectors.kafka_source import task as kafka
from headrace.connectors.kafka_source.assignment import NO_LEADER, TASK_PARTITIONS, LeaderTopicPartition, encode
from headrace.connectors.kafka_source.metrics import OF_MIRROR
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.offsets import source_partition
from headrace.connectors.mirror.plan import decode
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from headrace.connectors.mirror.syncs import Ends, SyncWriter, pair, within
from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition
from headrace.record import HEADERS_TYPE
from headrace.spark.kafka import is_local

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from headrace.spark.marks import Durable

log = structlog.get_logger(__name__)

ASSIGNED = "task.assigned.partitions"
"""The property of a task's configuration that lists its partitions, as MirrorMaker writes it."""
PROVENANCE = "mirror.provenance"
"""The header that each hop of a record adds, with the alias of the cluster that the record left."""
_TARGET_S = 10.0


def kafka_source_props(config: MirrorSourceConfig, props: Props) -> dict[str, str]:
    """The configuration of the Kafka source task (KIP-310) that reads the same."""
    consumer, admin = client(props, "source", "consumer"), client(props, "source", "admin")
    assigned = [LeaderTopicPartition(NO_LEADER, *partition) for partition in decode(props[ASSIGNED])]
    return {
        **{f"connector.consumer.{key}": value for key, value in consumer.items()},
        **{f"connector.admin.{key}": value for key, value in admin.items()},
        "source.bootstrap.servers": consumer.get("bootstrap.servers", ""),
        "source.topic.whitelist": ".*",
        "destination.partition": "source",
        "batch.max.records": str(config.batch_max_records),
        "source.data.loss": config.source_data_loss,
        "stream.mode": config.stream_mode,
        "stream.realtime.batch.ms": str(config.stream_realtime_batch_ms),
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
        # With transactions, or other producers, the last record of a copy need not be the last one that was mirrored.
        self._alone = not (config.provenance_headers_enabled or self.context.exactly_once)

    def partitions(self) -> list[SourcePartition]:
        """One for each assigned partition."""
        return [self._named(partition) for partition in super().partitions()]

    def open(self, spark: SparkSession, stored: StoredOffsets) -> Stream | None:
        """The stream of all partitions that exist now; None if none does. Raises RetriableError if the source is out of reach."""
        known = [(partition, stored.get(self._named(partition))) for partition in super().partitions()]
        stream = super().open(spark, StoredOffsets(known))
        if stream is None:
            return None
        self._ends = {}
        self._sync({(topic, p): offset for topic, parts in self._positions.items() for p, offset in parts.items()})
        return self._as_mirror(stream)

    def real_time(self, spark: SparkSession) -> Stream | str:
        """The stream that was opened last, where none is left out, and it is known where each is written to, or nobody asks."""
        if self._mirror.provenance_headers_enabled:
            return "provenance.headers.enabled=true leaves out records, so that it is not known which topics are in use"
        if self._syncs is not None and not is_local(spark):
            return (
                "Spark's tasks run in other processes, where it is not known which offset a copy gets (emit.offset-syncs.enabled)"
            )
        stream = super().real_time(spark)
        return stream if isinstance(stream, str) else self._as_mirror(stream)

    def _as_mirror(self, stream: Stream) -> Stream:
        topics = sorted({topic for topic, _ in self._assigned})
        names = {topic: self._remote(topic) for topic in topics}
        record = replace(stream.record, topic=_renamed(stream.frame["topic"], names, self._policy.remote(self._alias, "")))
        if self._mirror.provenance_headers_enabled:
            record = replace(record, headers=_with_provenance(stream.frame["headers"], self._alias))
        return replace(
            stream,
            record=record,
            destination=self._remote,
            initial=self._all_named(stream.initial),
            partition_counts=None,
        )

    def _chosen(self, frame: DataFrame) -> DataFrame:
        """All records, but for those that have been in the target cluster if their headers tell."""
        if not self._mirror.provenance_headers_enabled:
            return frame
        return frame.where(_not_from(frame["headers"], self._mirror.target_cluster_alias))

    def progress(self, start: str | None, end: str) -> Progress:
        """Offsets of the last records of a batch, from Spark's offset JSON."""
        found = super().progress(start, end)

        def before(failed: Sequence[Mapping[str, str | None]]) -> Offsets:
            return self._all_named(found.before(failed))

        return replace(found, offsets=self._all_named(found.offsets), before=before)

    def committed(self, progress: Progress) -> None:
        """Take note of what was copied, look where the copies end now, and tell what that means in offsets."""
        super().committed(progress)
        if progress.settled:
            self._sync({(str(p["topic"]), int(p["partition"])): int(o["offset"]) + 1 for p, o in progress.offsets})

    def _sync(self, upstream: Mapping[Partition, int]) -> None:
        """Everything before these offsets is in the copies, and nothing from them on is being written."""
        if self._syncs is None:
            return
        copies = {partition: self._copy(partition) for partition in upstream}
        try:
            found = self._target.partition_offsets(copies.values(), "latest", _TARGET_S)
        except HeadraceError as error:
            log.warning("mirror.sync.failed", cause=str(error))
            return
        for partition, end in upstream.items():
            self._take(partition, Ends(end, found[copies[partition]]), alone=self._alone)

    def _told(self, durable: Durable) -> None:
        """Count what came by in real-time mode, and tell where it was written to."""
        copies = Counter(map(self._copy, durable.read))
        for partition, read in durable.read.items():
            copy = durable.written.get(self._copy(partition)) if copies[self._copy(partition)] == 1 else None
            self._count(partition, read, copy)
            downstream = copy.after(read.acknowledged) if copy else None
            if downstream is not None and self._syncs is not None:
                self._take(partition, Ends(read.end, downstream), alone=True)

    def _take(self, partition: Partition, after: Ends, *, alone: bool) -> None:
        """Tell where a copy has come to, and what follows from it for the records since the last time."""
        before = self._ends.get(partition)
        if self._syncs is not None and before != after:
            self._syncs.take(pair(partition, after, alone=alone), within(partition, before, after) if before and alone else [])
        self._ends[partition] = after

    def measures(self) -> Iterable[Measured]:
        """Counts and latencies of each partition, as MirrorMaker's metrics have them; the topic is the copy."""
        if not self._measured:  # perhaps not even started
            return
        flow = {"source": self._alias, "target": self._mirror.target_cluster_alias}
        for (topic, partition), measured in sorted(dict(self._measured).items()):
            yield from measured.measures(OF_MIRROR, {**flow, "topic": self._remote(topic), "partition": str(partition)})

    def stop(self) -> None:
        """Write the last offset syncs."""
        super().stop()
        if self._syncs is not None:
            self._syncs.close()

    def _copy(self, partition: Partition) -> Partition:
        return self._remote(partition[0]), partition[1]

    def _remote(self, topic: str) -> str:
        return self._policy.remote(self._alias, topic)

    def _named(self, partition: SourcePartition) -> SourcePartition:
        return source_partition(self._alias, kafka.parse_partition(partition))

    def _all_named(self, offsets: Offsets) -> Offsets:
        return [(self._named(partition), offset) for partition, offset in offsets]


def _renamed(topic: Column, names: Mapping[str, str], prefix: str) -> Column:
    """The name of the copy: the topic's own after a prefix, but for those that do not follow this rule."""
    from pyspark.sql import functions as F

    usual = F.concat(F.lit(prefix), topic) if prefix else topic
    others = [F.lit(text) for name, remote in names.items() if remote != prefix + name for text in (name, remote)]
    return F.coalesce(F.element_at(F.create_map(*others), topic), usual) if others else usual


def _not_from(headers: Column, target: str) -> Column:
    """Whether a record has never been in the target cluster, by its headers."""
    from pyspark.sql import functions as F

    been = F.exists(headers, lambda h: (h["key"] == PROVENANCE) & (h["value"] == F.lit(target).cast("binary")))
    return ~F.coalesce(been, F.lit(False))


def _with_provenance(headers: Column, source: str) -> Column:
    from pyspark.sql import functions as F

    hop = F.array(F.struct(F.lit(PROVENANCE).alias("key"), F.lit(source).cast("binary").alias("value")))
    return F.concat(F.coalesce(headers, F.expr(f"cast(array() as {HEADERS_TYPE})")), hop.cast(HEADERS_TYPE))
