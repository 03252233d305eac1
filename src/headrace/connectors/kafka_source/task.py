"""The task of the Kafka source connector (KIP-310): its partitions as one Spark stream from the stored offsets.

Partitions are assigned, never subscribed; Connect's stored offsets alone say where to begin. The consumer group on the source
cluster is written to for lag monitors and never read. With an offset goes the id of its topic: one that was deleted and made anew
is recognized by it (`source.data.loss`).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

import structlog

from headrace.connectors.base import (
    Measured,
    Offsets,
    Progress,
    Props,
    SourceOffset,
    SourcePartition,
    SourceTask,
    StoredOffsets,
    Stream,
    TaskContext,
)
from headrace.connectors.kafka_source.assignment import TASK_PARTITIONS, decode
from headrace.connectors.kafka_source.behind import Copied
from headrace.connectors.kafka_source.config import KafkaSourceConfig
from headrace.connectors.kafka_source.lag import LagCommitter
from headrace.connectors.kafka_source.metrics import OF_TASK, PartitionMetrics
from headrace.connectors.kafka_source.overrides import admin_settings, consumer_settings
from headrace.connectors.loss import DataLossError, Log, Loss, Policy, Position, find
from headrace.errors import HeadraceError, RetriableError
from headrace.kafka.admin import shared
from headrace.kafka.groups import Partition
from headrace.kafka.positions import Start, advanced, decide, summary, tell
from headrace.record import Record
from headrace.spark.kafka import parse_offsets, patient, read_stream
from headrace.spark.seen import Seen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headrace.spark.marks import Durable, Read, Written

log = structlog.get_logger(__name__)

_TIMEOUT_S, _CHECK_S = 30.0, 5.0
TOPIC_ID = "topicId"
"""The field of a source offset that has the id of its topic; MirrorMaker reads `offset` alone."""


class KafkaSourceTask(SourceTask):
    """Reads the partitions of `task.leader.topic.partitions`.

    Source partition: `{"topic:partition": "<topic>:<n>"}`; source offset: `{"topicId": <id of the topic>, "offset": <of the last
    record copied>}`.
    """

    renews_topics = True

    def __init__(self, context: TaskContext) -> None:
        super().__init__(context)
        self._measured: dict[Partition, PartitionMetrics] = {}
        self._seen: Seen | None = None
        self._batch_ms = 0  # when the batch was begun, epoch ms

    def start(self, props: Props) -> None:
        """Take the configuration and connect to the source cluster. Raises ConfigError."""
        self._config = KafkaSourceConfig(props)
        self.stream_mode = self._config.stream_mode
        self._consumer = consumer_settings(props)
        self._admin = shared(admin_settings(props))
        self._assigned: list[Partition] = [(p.topic, p.partition) for p in decode(props[TASK_PARTITIONS])]
        self._positions: dict[str, dict[int, int]] = {}
        self._counts: dict[str, int] = {}
        self._ids: dict[str, str] = {}
        self._waiting = 0
        self._begun: dict[Partition, Position] = {}  # where this task has begun to read what had no stored offset
        self._lag = LagCommitter.of(self._config, self._admin)
        self.shutdown_wait_s = self._config.max_shutdown_wait_ms / 1000

    def partitions(self) -> list[SourcePartition]:
        """One for each assigned partition."""
        return [source_partition(p) for p in self._assigned]

    def open(self, spark: SparkSession, stored: StoredOffsets) -> Stream | None:
        """The stream of all partitions that exist now; None if none does.

        Raises RetriableError if the source is out of reach, DataLossError if it has lost records and `source.data.loss=fail`.
        """
        start, losses = self._decide(stored)
        if not start.positions:
            return None
        self._positions = {}
        for (topic, partition), offset in start.positions.items():
            self._positions.setdefault(topic, {})[partition] = offset
        self._copied = dict(start.positions)
        limit = str(self._config.batch_max_records)
        options = {"maxOffsetsPerTrigger": limit}
        if self.context.interval_ms:
            options |= {"minOffsetsPerTrigger": limit, "maxTriggerDelay": f"{self.context.interval_ms}ms"}
        initial = self._offsets({p: start.positions[p] for p in (*start.looked_up, *(loss.partition for loss in losses))})
        stream = self._stream(spark, options)
        self._seen = Seen(spark)
        return replace(stream, frame=self._seen.of(self._chosen(stream.frame)), initial=initial, losses=losses)

    def _chosen(self, frame: DataFrame) -> DataFrame:
        """The records that are to be copied: all."""
        return frame

    def real_time(self, spark: SparkSession) -> Stream | str:
        """The stream that was opened last, without limits of its batches."""
        stream = self._stream(spark, {})
        return replace(stream, interval_ms=self._config.stream_realtime_batch_ms, lag=self._behind, told=self._told)

    def _told(self, durable: Durable) -> None:
        """Count what came by in real-time mode."""
        prefix, kept = self._config.destination_topics_prefix, self._config.destination_partition == "source"
        for partition, read in durable.read.items():
            self._count(partition, read, durable.written.get((prefix + partition[0], partition[1])) if kept else None)

    def _count(self, partition: Partition, read: Read, copy: Written | None) -> None:
        self._measured[partition] = self._measured.get(partition, PartitionMetrics()).during(read, copy)

    def _behind(self) -> dict[str, int] | None:
        at = dict(self._copied)
        try:
            ends = self._admin.partition_offsets(list(at), "latest", _CHECK_S)
        except HeadraceError:  # the task will say what is wrong
            return None
        return {f"{t}-{p}": max(0, end - at[t, p]) for (t, p), end in ends.items()}

    def _stream(self, spark: SparkSession, options: Mapping[str, str]) -> Stream:
        consumer = patient(self._consumer)
        always = {"failOnDataLoss": "true", "kafkaConsumer.pollTimeoutMs": consumer["default.api.timeout.ms"]}
        frame = read_stream(spark, consumer, self._positions, always | dict(options))
        prefix = self._config.destination_topics_prefix
        mode = self._config.destination_partition
        return Stream(
            frame=frame,
            record=self._record(frame),
            destination=lambda topic: prefix + topic,
            partition_counts={prefix + t: n for t, n in self._counts.items()} if mode == "auto" else None,
            origin=origin,
            ordinal="offset",
            partitions=sum(map(len, self._positions.values())),
            topics=frozenset(self._positions),
            behind=self._waiting,
        )

    def _decide(self, stored: StoredOffsets) -> tuple[Start, list[Loss]]:
        topics = self._admin.topics(_TIMEOUT_S)
        self._counts = {topic: len(info.partitions) for topic, info in topics.items()}
        self._ids = {topic: topics[topic].topic_id for topic, _ in self._assigned if topic in topics and topics[topic].topic_id}
        present = [(t, p) for t, p in self._assigned if p < self._counts.get(t, 0)]
        earliest = self._admin.partition_offsets(present, "earliest", _TIMEOUT_S)
        latest = readable = self._admin.partition_offsets(present, "latest", _TIMEOUT_S)
        if self._consumer.get("isolation.level") == "read_committed":
            readable = self._admin.partition_offsets(present, "latest", _TIMEOUT_S, read_committed=True)
        known = self._known(stored)
        logs = {p: Log(earliest[p], latest[p], self._ids.get(p[0])) for p in present}
        losses = find(known, logs, cast("Policy", self._config.source_data_loss))
        self._check({loss.partition[0] for loss in losses})  # ids were asked for first: these may be the offsets of others
        resumed = {loss.partition: loss.resumed for loss in losses if loss.resumed is not None}
        if len(resumed) < len(losses):
            raise DataLossError(losses)
        wanted = {p: position.next for p, position in known.items()} | resumed
        # A position after the last stable offset: records of a transaction that is still open were copied before.
        wanted = {p: min(offset, readable.get(p, offset)) for p, offset in wanted.items()}
        start = decide(self._assigned, wanted, {p: (earliest[p], readable[p]) for p in present}, self._config.auto_offset_reset)
        tell(start, "source")
        for p, offset in start.positions.items():
            if p not in known or p in resumed:
                self._begun[p] = Position(offset, self._ids.get(p[0]))
        self._waiting = sum(max(0, readable[p] - offset) for p, offset in start.positions.items())
        return start, losses

    def _known(self, stored: StoredOffsets) -> dict[Partition, Position]:
        """Where each partition is to go on: by its stored offset, or else by where this task has begun before."""
        found = {p: _position(stored.get(source_partition(p))) for p in self._assigned}
        return self._begun | {p: position for p, position in found.items() if position is not None}

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
        self._batch_ms = _now()
        if self._seen is not None:
            self._seen.begin()
        before = parse_offsets(start) if start else self._positions
        moved = advanced(before, parse_offsets(end))
        return Progress(
            offsets=self._offsets({p: end for p, (_, end) in moved.items()}),
            topics=frozenset(topic for topic, _ in moved),
            summary=summary(moved),
            before=lambda failed: self._offsets(preceding(moved, failed)),
            check=partial(self._check, {topic for topic, _ in moved}),
        )

    def _offsets(self, ends: Mapping[Partition, int]) -> list[tuple[SourcePartition, SourceOffset]]:
        """The Connect offsets that say that everything before these offsets is copied."""
        ids = self._ids
        return [
            (source_partition(p), ({TOPIC_ID: ids[p[0]]} if p[0] in ids else {}) | {"offset": end - 1}) for p, end in ends.items()
        ]

    def _check(self, topics: Collection[str]) -> None:
        """Raise RetriableError if one of these is another topic than the one that was looked up: nothing may be committed then.

        If that cannot be found out the batch counts: the ids that are stored with it are those of the topics that were opened.
        """
        if not topics:
            return
        try:
            found = self._admin.topic_ids(topics, _CHECK_S)
        except HeadraceError as error:
            log.warning("source.check.failed", cause=str(error))
            return
        for topic, topic_id in found.items():
            if self._ids.get(topic, topic_id) != topic_id:
                raise RetriableError(f"Topic {topic} of the source cluster was deleted and made anew while it was read.")

    def committed(self, progress: Progress) -> None:
        """Take note of what was copied; commit the positions to the group on the source cluster, if asked for."""
        ends = {parse_partition(p): int(o["offset"]) + 1 for p, o in progress.offsets}
        self._copied |= ends
        for partition, passed in (self._seen.batch() if self._seen else {}).items():
            before = self._measured.get(partition, PartitionMetrics())
            self._measured[partition] = before.after(passed, self._batch_ms, _now())
        if self._lag is not None:
            self._lag.commit(ends)

    def measures(self) -> Iterable[Measured]:
        """Counts and latencies of each partition, under the names of MirrorMaker's metrics."""
        who = {"connector": self.context.connector, "task": str(self.context.task)}
        for (topic, partition), measured in sorted(dict(self._measured).items()):
            yield from measured.measures(OF_TASK, {**who, "partition": f"{topic}-{partition}"})

    def stop(self) -> None:
        """Finish the last commit to the source's group."""
        if getattr(self, "_lag", None) is not None:
            self._lag.close(self.shutdown_wait_s)  # pyright: ignore[reportOptionalMemberAccess]


def _now() -> int:
    return time.time_ns() // 1_000_000


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


def copied_of(assigned: Mapping[Partition, int], offsets: Offsets, earliest: bool) -> Copied:
    """What is copied by tasks with these partitions (partition → number of the task), or by none, and how far."""
    stored: dict[Partition, Position] = {}
    for partition, offset in offsets:
        try:
            if position := _position(offset):
                stored[parse_partition(partition)] = position
        except (HeadraceError, KeyError, ValueError, TypeError):  # whatever somebody has set by hand
            continue
    return Copied(assigned or dict.fromkeys(stored), stored, earliest)


def origin(partition: SourcePartition) -> dict[str, str]:
    """What the origin of a source partition's records says of it."""
    topic, number = parse_partition(partition)
    return {"topic": topic, "partition": str(number)}


def kind(deserializer: str) -> str:
    """What a deserializer gives: "string" for Kafka's StringDeserializer, else "bytes"."""
    return "string" if deserializer.rpartition(".")[2] == "StringDeserializer" else "bytes"


def preceding(moved: Mapping[Partition, tuple[int, int]], failed: Sequence[Mapping[str, str | None]]) -> dict[Partition, int]:
    """The ends of what precedes the records that failed; of the whole range of a partition where none did."""
    ends = {partition: last for partition, (_, last) in moved.items()}
    for origin in failed:
        partition, offset = (str(origin["topic"]), int(origin["partition"] or 0)), int(origin["offset"] or 0)
        ends[partition] = min(offset, ends.get(partition, offset))
    return {p: end for p, end in ends.items() if end > moved[p][0]}


def _position(offset: SourceOffset | None) -> Position | None:
    """What a stored offset says; one that an administrator has set need not say of which topic it is."""
    if offset is None:
        return None
    topic_id = offset.get(TOPIC_ID)
    return Position(int(offset["offset"]) + 1, topic_id if isinstance(topic_id, str) and topic_id else None)
