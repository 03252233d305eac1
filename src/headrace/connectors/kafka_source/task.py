"""The task of the Kafka source connector (KIP-310): its partitions, copied from the stored offsets on.

Partitions are assigned, never subscribed; Connect's stored offsets alone say where to begin. The consumer group on the source
cluster is written to for lag monitors and never read. With an offset goes the id of its topic: one that was deleted and recreated
is recognized by it (`source.data.loss`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

import structlog

from headrace.config import java_text
from headrace.connectors.base import Measured, Offsets, Props, SourceOffset, SourcePartition, StoredOffsets, TaskContext
from headrace.connectors.data_loss import DataLossError, Loss, PartitionLog, Policy, ReadPosition, find
from headrace.connectors.feed import FeedSource, FeedTask
from headrace.connectors.kafka_source.assignment import TASK_PARTITIONS, decode
from headrace.connectors.kafka_source.clients import ADMIN, CONSUMER
from headrace.connectors.kafka_source.config import KafkaSourceConfig
from headrace.connectors.kafka_source.lag_group_committer import LagGroupCommitter
from headrace.connectors.kafka_source.metrics import OF_TASK, PartitionMetrics
from headrace.connectors.kafka_source.source_lag import Copied
from headrace.errors import ConnectError, HeadraceError, RetriableError
from headrace.kafka.admin import shared
from headrace.kafka.coalesced_requests import delivered_positions, latest_offsets, topics
from headrace.kafka.delivered_position import DeliveredPosition
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.groups import Partition
from headrace.kafka.positions import StartPositions, decide, warn
from headrace.kafka.reset_policy import offsets_since
from headrace.kafka.topic_info import TopicInfo
from headrace.record import RecordColumns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.spark.feeds import FeedFailure, PartitionUpdate

log = structlog.get_logger(__name__)

_TIMEOUT_S, _CHECK_S = 30.0, 5.0
_READ = re.compile(r"topic=(\S+), partition=(\d+)")
_DIVERGING = re.compile(r"[{ ]([^{ ]+)-(\d+)=OffsetAndMetadata\{offset=(\d+)")
TOPIC_ID = "topicId"
"""The field of a source offset that has the id of its topic; MirrorMaker reads `offset` alone."""


class KafkaSourceTask(FeedTask):
    """Reads the partitions of `task.leader.topic.partitions`.

    Source partition: `{"topic:partition": "<topic>:<n>"}`; source offset: `{"topicId": <id of the topic>, "offset": <of the last
    record copied>}`.
    """

    renews_topics = True

    def __init__(self, context: TaskContext) -> None:
        super().__init__(context)
        self._measured: dict[Partition, PartitionMetrics] = {}

    def start(self, props: Props) -> None:
        """Take the configuration and connect to the source cluster. Raises ConfigError."""
        self._config = KafkaSourceConfig(props)
        self._consumer = CONSUMER.settings(props)
        self._admin = shared(ADMIN.settings(props))
        self._assigned: list[Partition] = [(p.topic, p.partition) for p in decode(props[TASK_PARTITIONS])]
        self._counts: dict[str, int] = {}
        self._ids: dict[str, str] = {}
        self._copied: dict[Partition, int] = {}
        self._missing_topics: set[str] = set()  # as of the last check, or of `open`
        self._leaderless: set[Partition] = set()
        self._unavailable = False  # whether the last check could not reach the source cluster
        self._diverging: dict[Partition, int] = {}  # where a log is another one than was read, since the last `open`
        self._begun: dict[Partition, ReadPosition] = {}  # where this task has begun to read what had no stored offset
        self._lag = LagGroupCommitter.of(self._config, self._consumer)
        self.shutdown_wait_s = self._config.max_shutdown_wait_ms / 1000

    def partitions(self) -> list[SourcePartition]:
        """One for each assigned partition."""
        return [source_partition(p) for p in self._assigned]

    def open(self, stored: StoredOffsets) -> FeedSource | None:
        """All partitions that exist now and have a leader; None if none does.

        Raises RetriableError if the source is out of reach, DataLossError if it has lost records and `source.data.loss=fail`.
        """
        start, losses = self._decide(stored)
        if not start.positions:
            return None
        self._copied = dict(start.positions)
        self._missing_topics = {topic for topic, _ in start.missing if topic not in self._counts}
        prefix = self._config.destination_topics_prefix
        mode = self._config.destination_partition
        return FeedSource(
            positions=start.positions,
            consumer=self._consumer,
            record=self._record,
            destination=lambda topic: prefix + topic,
            record_key=self._record_key(),
            partition_counts={prefix + t: n for t, n in self._counts.items()} if mode == "auto" else None,
            initial=self.offsets({p: start.positions[p] for p in (*start.looked_up, *(loss.partition for loss in losses))}),
            losses=losses,
            batch_max_records=self._config.batch_max_records,
        )

    def ends(self, positions: Mapping[Partition, int]) -> dict[Partition, int]:
        """Up to which offset each of these partitions can be read now. Raises KafkaFailure."""
        committed = self._consumer.get("isolation.level") == "read_committed"
        with_leader = [p for p in positions if p not in self._leaderless]
        return self._offsets(with_leader, "latest", read_committed=committed)

    def positions(self) -> dict[str, DeliveredPosition] | None:
        """How far each partition is copied; None if the source does not answer now."""
        return delivered_positions(self._admin, dict(self._copied))

    def silent_since_ms(self) -> int | None:
        """Since when (epoch ms) the source has not answered; None: it answers."""
        return latest_offsets(self._admin).silent_since_ms

    def _decide(self, stored: StoredOffsets) -> tuple[StartPositions, list[Loss]]:
        infos = self._admin.find({topic for topic, _ in self._assigned}, _TIMEOUT_S)
        self._counts = {topic: len(info.partitions) for topic, info in infos.items()}
        self._ids = {topic: info.topic_id for topic, info in infos.items() if info.topic_id}
        absent = {(t, p) for t, p in self._assigned if p >= self._counts.get(t, 0)}
        earliest = self._offsets([p for p in self._assigned if p not in absent], "earliest")
        present, reset, stored_positions = list(earliest), self._config.auto_offset_reset, self._stored_positions(stored)
        latest = readable = earliest
        if stored_positions or reset != "earliest":  # else all begin at the first record, wherever the last one is
            latest = readable = self._admin.partition_offsets(present, "latest", _TIMEOUT_S)
            if self._consumer.get("isolation.level") == "read_committed":
                readable = self._admin.partition_offsets(present, "latest", _TIMEOUT_S, read_committed=True)
        same = {p: max(earliest[p], min(latest[p], self._diverging.get(p, latest[p]))) for p in present}
        logs = {p: PartitionLog(earliest[p], same[p], self._ids.get(p[0])) for p in present}
        losses = find(stored_positions, logs, cast("Policy", self._config.source_data_loss))
        self.check({loss.partition[0] for loss in losses})  # ids were read first: these may be offsets of recreated topics
        resumed = {loss.partition: loss.resumed for loss in losses if loss.resumed is not None}
        if len(resumed) < len(losses):
            raise DataLossError(losses)
        start_offsets = {p: position.next for p, position in stored_positions.items()} | resumed
        # A position after the last stable offset: records of a transaction that is still open were copied before.
        start_offsets = {p: min(offset, readable.get(p, offset)) for p, offset in start_offsets.items()}
        ends = {p: (earliest[p], readable[p]) for p in present}
        assigned = [p for p in self._assigned if p in earliest or p in absent]
        start = decide(assigned, start_offsets, ends, reset, offsets_since(reset, self._admin, present, _TIMEOUT_S))
        warn(start, "source")
        for p, offset in start.positions.items():
            if p not in stored_positions or p in resumed:
                self._begun[p] = ReadPosition(offset, self._ids.get(p[0]))
        self._diverging = {}
        return start, losses

    def _offsets(
        self, partitions: Sequence[Partition], position: Literal["earliest", "latest"], *, read_committed: bool = False
    ) -> dict[Partition, int]:
        """As `Admin.partition_offsets`, without partitions that have no leader: the others are read, as by Kafka's consumer."""
        try:
            return self._admin.partition_offsets(partitions, position, _CHECK_S, read_committed=read_committed)
        except RetriableError:
            self._warn_of_leaders(self._admin.find({topic for topic, _ in partitions}, _TIMEOUT_S))
            with_leader = [p for p in partitions if p not in self._leaderless]
            return self._admin.partition_offsets(with_leader, position, _TIMEOUT_S, read_committed=read_committed)

    def _stored_positions(self, stored: StoredOffsets) -> dict[Partition, ReadPosition]:
        """Where each partition is to continue: by its stored offset, or else by where this task has begun before."""
        positions = {p: _position(stored.get(source_partition(p))) for p in self._assigned}
        return self._begun | {p: position for p, position in positions.items() if position is not None}

    def _record_key(self) -> Hashable:
        """The settings that `_record` depends on."""
        config = self._config
        return (*self._kinds().items(), config.include_message_headers, config.destination_partition == "partitioner")

    def _kinds(self) -> dict[str, str]:
        return {side: kind(self._config.deserializer(side)) for side in ("key", "value")}

    def _record(self, frame: DataFrame) -> RecordColumns:
        kinds = self._kinds()
        columns = {side: frame[side].cast("string") if k == "string" else frame[side] for side, k in kinds.items()}
        return RecordColumns(
            topic=frame["destination"],
            key=columns["key"],
            value=columns["value"],
            headers=frame["headers"] if self._config.include_message_headers else None,
            timestamp=frame["timestamp"],
            partition=None if self._config.destination_partition == "partitioner" else frame["partition"],
            key_kind=kinds["key"],
            value_kind=kinds["value"],
            origin={"topic": frame["topic"], "partition": frame["partition"], "offset": frame["offset"]},
        )

    def offsets(self, ends: Mapping[Partition, int]) -> list[tuple[SourcePartition, SourceOffset]]:
        """The Connect offsets that say that everything before these offsets is copied."""
        ids = self._ids
        return [
            (source_partition(p), ({TOPIC_ID: ids[p[0]]} if p[0] in ids else {}) | {"offset": end - 1}) for p, end in ends.items()
        ]

    def check(self, topics: Collection[str]) -> None:
        """Raise RetriableError if one of these is another topic than the one that was looked up: nothing may be stored then.

        If that cannot be found out, offsets are stored: with the ids of the topics that were opened.
        """
        if not topics:
            return
        try:
            self._compare(self._admin.topic_ids(topics, _CHECK_S))
        except KafkaFailure as error:
            log.warning("source.check.failed", cause=str(error))

    def needs_reopening(self) -> bool:
        """Whether an assigned partition is there, with a leader, that `open` did not find.

        Warns of deleted topics, partitions without a leader, and an unavailable cluster. Raises RetriableError if a topic was
        recreated.
        """
        topic_names = {topic for topic, _ in self._assigned}
        try:
            present = topics(self._admin).of(topic_names)
        except KafkaFailure as error:
            if not self._unavailable:
                log.warning("source.cluster.away", cause=str(error), hint="its records are copied once it is there again")
            self._unavailable = True
            return False
        except RetriableError:  # it has not answered yet
            return False
        self._unavailable = False
        self._compare({topic: info.topic_id for topic, info in present.items() if info.topic_id})
        missing_topics = topic_names - present.keys()
        missing = [p for p in self._assigned if p[0] in missing_topics - self._missing_topics]
        self._missing_topics = missing_topics
        warn(StartPositions({}, missing=tuple(missing)), "source")
        self._warn_of_leaders(present)
        return any(
            t in present and present[t].partitions.get(p) is not None and (t, p) not in self._copied for t, p in self._assigned
        )

    def _warn_of_leaders(self, infos: Mapping[str, TopicInfo]) -> None:
        present = [(t, p) for t, p in self._assigned if t in infos and p in infos[t].partitions]
        leaderless = {(t, p) for t, p in present if infos[t].partitions[p] is None}
        for topic, partition in sorted(leaderless - self._leaderless):
            hint = "its broker is away? its records are copied once it has a leader"
            log.warning("source.partition.leaderless", topic=topic, partition=partition, hint=hint)
        self._leaderless = leaderless

    def _compare(self, ids: Mapping[str, str]) -> None:
        for topic, topic_id in ids.items():
            if self._ids.get(topic, topic_id) != topic_id:
                raise RetriableError(f"Topic {topic} of the source cluster was deleted and created again while it was read.")

    def feed_begins(self) -> None:
        """Add what the next feed copies to the counts so far."""
        self._measured = {partition: measured.before_next_feed() for partition, measured in self._measured.items()}

    def acknowledged(self, partitions: Sequence[PartitionUpdate]) -> None:
        """Count what was copied."""
        for update in partitions:
            partition = (update.topic, update.partition)
            self._measured[partition] = self._measured.get(partition, PartitionMetrics()).after(update)

    def feed_failed(self, feed_failure: FeedFailure) -> None:
        """Keep from which offset on a log is not the one that was read: it may be longer again when the task is reopened."""
        if not feed_failure.java_class.endswith(".LogTruncationException"):
            return
        if read := _READ.fullmatch(feed_failure.place or ""):
            self._diverging[read[1], int(read[2])] = 0
        for topic, partition, offset in _DIVERGING.findall(feed_failure.message):
            self._diverging[topic, int(partition)] = int(offset)

    def offsets_stored(self, ends: Mapping[Partition, int]) -> None:
        """Commit the positions to the group on the source cluster, if configured."""
        self._copied |= ends
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


def check_offset(partition: SourcePartition | None, offset: SourceOffset) -> None:
    """Refuse an offset set by an administrator that no task could read, as MirrorMaker does. Raises ConnectError."""
    match = re.fullmatch(r"(.+):([0-9]+)", str((partition or {}).get("topic:partition")))
    if match is None or partition != source_partition((match[1], int(match[2]))):
        raise ConnectError(f"Source partition {java_text(partition)} has to be of the form {{topic:partition=<topic>:<number>}}")
    subject = f"Source offset {java_text(offset)} for source partition {java_text(partition)}"
    if "offset" not in offset:
        raise ConnectError(f"{subject} is missing the 'offset' key, which is required")
    value = offset["offset"]
    if not isinstance(value, int) or isinstance(value, bool):
        raise ConnectError(f"{subject} has an invalid value {java_text(value)} for the 'offset' key, which must be an integer")
    if value < -1:  # -1: nothing is copied yet
        raise ConnectError(f"{subject} has an invalid value {value} for the 'offset' key, which cannot be below -1")


def copied_of(assigned: Mapping[Partition, int], offsets: Offsets, earliest: bool) -> Copied:
    """What is copied by tasks with these partitions (partition → number of the task), or by none, and how far."""
    stored: dict[Partition, ReadPosition] = {}
    for partition, offset in offsets:
        try:
            if position := _position(offset):
                stored[parse_partition(partition)] = position
        except (HeadraceError, KeyError, ValueError, TypeError):  # offsets set by an administrator may have any content
            continue
    return Copied(assigned or dict.fromkeys(stored), stored, earliest)


def kind(deserializer: str) -> str:
    """The type of a deserializer's result: "string" for Kafka's StringDeserializer, else "bytes"."""
    return "string" if deserializer.rpartition(".")[2] == "StringDeserializer" else "bytes"


def _position(offset: SourceOffset | None) -> ReadPosition | None:
    """The position in a stored offset; one set by an administrator may have no topic id."""
    if offset is None:
        return None
    topic_id = offset.get(TOPIC_ID)
    return ReadPosition(int(offset["offset"]) + 1, topic_id if isinstance(topic_id, str) and topic_id else None)
