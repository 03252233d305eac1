"""The task of the Kafka source connector (KIP-310): its partitions as one Spark stream from the stored offsets.

Partitions are assigned, never subscribed; Connect's stored offsets alone say where to begin. The consumer group on the source
cluster is written to for lag monitors and never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from headrace.connectors.base import Progress, Props, SourceOffset, SourcePartition, SourceTask, StoredOffsets, Stream
from headrace.connectors.kafka_source.assignment import TASK_PARTITIONS, decode
from headrace.connectors.kafka_source.config import KafkaSourceConfig
from headrace.connectors.kafka_source.lag import LagCommitter
from headrace.connectors.kafka_source.overrides import admin_settings, consumer_settings
from headrace.errors import RetriableError
from headrace.kafka.admin import shared
from headrace.kafka.groups import Partition
from headrace.kafka.positions import Start, advanced, decide, summary, tell
from headrace.record import Record
from headrace.spark.kafka import parse_offsets, patient, read_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TIMEOUT_S = 30.0


class KafkaSourceTask(SourceTask):
    """Reads the partitions of `task.leader.topic.partitions`.

    Source partition: `{"topic:partition": "<topic>:<n>"}`; source offset: `{"offset": <offset of the last record copied>}`.
    """

    def start(self, props: Props) -> None:
        """Take the configuration and connect to the source cluster. Raises ConfigError."""
        self._config = KafkaSourceConfig(props)
        self._consumer = consumer_settings(props)
        self._admin = shared(admin_settings(props))
        self._assigned: list[Partition] = [(p.topic, p.partition) for p in decode(props[TASK_PARTITIONS])]
        self._positions: dict[str, dict[int, int]] = {}
        self._counts: dict[str, int] = {}
        self._lag = LagCommitter.of(self._config, self._admin)
        self.shutdown_wait_s = self._config.max_shutdown_wait_ms / 1000

    def partitions(self) -> list[SourcePartition]:
        """One for each assigned partition."""
        return [source_partition(p) for p in self._assigned]

    def open(self, spark: SparkSession, stored: StoredOffsets) -> Stream | None:
        """The stream of all partitions that exist now; None if none does. Raises RetriableError if the source is out of reach."""
        start = self._decide(stored)
        if not start.positions:
            return None
        self._positions = {}
        for (topic, partition), offset in start.positions.items():
            self._positions.setdefault(topic, {})[partition] = offset
        consumer = patient(self._consumer)
        options = {
            "failOnDataLoss": "true",
            "maxOffsetsPerTrigger": str(self._config.batch_max_records),
            "kafkaConsumer.pollTimeoutMs": consumer["default.api.timeout.ms"],
        }
        if self.context.interval_ms:
            options |= {
                "minOffsetsPerTrigger": options["maxOffsetsPerTrigger"],
                "maxTriggerDelay": f"{self.context.interval_ms}ms",
            }
        frame = read_stream(spark, consumer, self._positions, options)
        prefix = self._config.destination_topics_prefix
        mode = self._config.destination_partition
        return Stream(
            frame=frame,
            record=self._record(frame),
            destination=lambda topic: prefix + topic,
            initial=[(source_partition(p), {"offset": start.positions[p] - 1}) for p in start.looked_up],
            partition_counts={prefix + t: n for t, n in self._counts.items()} if mode == "auto" else None,
            origin=origin,
            ordinal="offset",
        )

    def _decide(self, stored: StoredOffsets) -> Start:
        topics = self._admin.topics(_TIMEOUT_S)
        self._counts = {topic: len(info.partitions) for topic, info in topics.items()}
        present = [(t, p) for t, p in self._assigned if p < self._counts.get(t, 0)]
        earliest = self._admin.partition_offsets(present, "earliest", _TIMEOUT_S)
        committed_only = self._consumer.get("isolation.level") == "read_committed"
        latest = self._admin.partition_offsets(present, "latest", _TIMEOUT_S, read_committed=committed_only)
        known = {p: stored.get(source_partition(p)) for p in self._assigned}
        start = decide(
            self._assigned,
            {p: int(o["offset"]) + 1 for p, o in known.items() if o is not None},
            {p: (earliest[p], latest[p]) for p in present},
            self._config.auto_offset_reset,
        )
        tell(start, "source")
        return start

    def _record(self, frame: DataFrame) -> Record:
        from pyspark.sql import functions as F

        kinds = {side: kind(self._config[f"source.{side}.deserializer"]) for side in ("key", "value")}
        columns = {side: frame[side].cast("string") if k == "string" else frame[side] for side, k in kinds.items()}
        return Record(
            topic=F.concat(F.lit(self._config.destination_topics_prefix), frame["topic"]),
            key=columns["key"],
            value=columns["value"],
            headers=frame["headers"] if self._config.include_message_headers else None,
            timestamp=frame["timestamp"],
            partition=None if self._config.destination_partition == "partitioner" else frame["partition"],
            key_kind=kinds["key"],
            value_kind=kinds["value"],
            origin={"topic": frame["topic"], "partition": frame["partition"], "offset": frame["offset"]},
        )

    def progress(self, start: str | None, end: str) -> Progress:
        """Offsets of the last records of a batch, from Spark's offset JSON."""
        before = parse_offsets(start) if start else self._positions
        moved = advanced(before, parse_offsets(end))
        return Progress(
            offsets=[(source_partition(p), {"offset": last - 1}) for p, (_, last) in moved.items()],
            topics=frozenset(topic for topic, _ in moved),
            summary=summary(moved),
            before=partial(preceding, moved),
        )

    def committed(self, progress: Progress) -> None:
        """Commit the positions to the group on the source cluster, if asked for."""
        if self._lag is not None:
            self._lag.commit({parse_partition(p): int(o["offset"]) + 1 for p, o in progress.offsets})

    def stop(self) -> None:
        """Finish the last commit to the source's group."""
        if getattr(self, "_lag", None) is not None:
            self._lag.close(self.shutdown_wait_s)  # pyright: ignore[reportOptionalMemberAccess]


def source_partition(partition: Partition) -> dict[str, str]:
    """Connect's source partition of a topic partition."""
    return {"topic:partition": f"{partition[0]}:{partition[1]}"}


def parse_partition(partition: SourcePartition) -> Partition:
    """The reverse of `source_partition`, also of MirrorMaker's form; raises RetriableError for what is not one."""
    if partition.keys() >= {"topic", "partition"}:
        return str(partition["topic"]), int(partition["partition"])
    topic, colon, number = str(partition.get("topic:partition", "")).rpartition(":")
    if not colon or not number.isdecimal():
        raise RetriableError(f"{dict(partition)} is no source partition of a Kafka source connector.")
    return topic, int(number)


def origin(partition: SourcePartition) -> dict[str, str]:
    """What the origin of a source partition's records says of it."""
    topic, number = parse_partition(partition)
    return {"topic": topic, "partition": str(number)}


def kind(deserializer: str) -> str:
    """What a deserializer gives: "string" for Kafka's StringDeserializer, else "bytes"."""
    return "string" if deserializer.rpartition(".")[2] == "StringDeserializer" else "bytes"


def preceding(
    moved: Mapping[Partition, tuple[int, int]], failed: Sequence[Mapping[str, str | None]]
) -> list[tuple[SourcePartition, SourceOffset]]:
    """The offsets of the last records before those that failed; of the whole range of a partition where none did."""
    ends = {partition: last for partition, (_, last) in moved.items()}
    for origin in failed:
        partition, offset = (str(origin["topic"]), int(origin["partition"] or 0)), int(origin["offset"] or 0)
        ends[partition] = min(offset, ends.get(partition, offset))
    return [(source_partition(p), {"offset": end - 1}) for p, end in ends.items() if end > moved[p][0]]
