"""Reading, altering and resetting the offsets of sink connectors: those of their consumer groups (KIP-875)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from headrace.cluster.offsets import ANSWER_TIMEOUT_S, done_message, in_use
from headrace.cluster.records import TargetState
from headrace.cluster.rest_bodies import connector_type
from headrace.cluster.state import ClusterState
from headrace.config import java_text
from headrace.config.whole_number import whole_number
from headrace.connect_config.validation import connector_class
from headrace.connectors.partition_lag import PartitionLag
from headrace.errors import BadRequestError, ConfigError, ConnectError
from headrace.kafka.admin import Admin, shared
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.groups import Partition
from headrace.runtime.plan import client_settings
from headrace.runtime.sink.plan import group_of
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark import group_offsets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOPIC, PARTITION, OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
Config = Mapping[str, Any]
_MAX_CLIENTS = 8
_HAS_MEMBERS = ("UNKNOWN_MEMBER_ID", "GROUP_SUBSCRIBED_TO_TOPIC", "NON_EMPTY_GROUP")
"""How a coordinator refuses to commit, to remove single offsets, and to delete a group that has members."""


class SinkOffsets:
    """The offset requests of the REST API, for sink connectors."""

    def __init__(
        self, worker: WorkerConfig, spark: Callable[[], SparkSession], cluster: Callable[[], ClusterState] = ClusterState
    ) -> None:
        """spark: the session of this process, whose JVM removes single offsets; cluster: the connectors there are."""
        self._worker, self._spark, self._cluster = worker, spark, cluster
        self._recent_clients: list[Admin] = []  # most recently used: the page reads each sink's lag every 30 s

    def read(self, name: str, config: Config) -> list[dict[str, Any]]:
        """The `offsets` of `GET /connectors/{name}/offsets`. Raises KafkaFailure."""
        _, committed = self._committed(name, config)
        return [{"partition": {TOPIC: t, PARTITION: p}, "offset": {OFFSET: offset}} for (t, p), offset in committed.items()]

    def lag(self, name: str, config: Config) -> list[dict[str, Any]]:
        """The lag of each partition with a committed offset of the group. Raises KafkaFailure."""
        admin, committed = self._committed(name, config)
        topics = admin.find({topic for topic, _ in committed}, ANSWER_TIMEOUT_S)
        existing = [(t, p) for t, p in committed if t in topics and p in topics[t].partitions]
        ends = admin.partition_offsets(existing, "latest", ANSWER_TIMEOUT_S)
        return [asdict(_lag(at, committed[at], end)) for at, end in sorted(ends.items())]

    def alter(self, name: str, config: Config, changes: Sequence[tuple[Any, Any]]) -> str:
        """Commit or (None) remove offsets, each a partition and its offset, after the connector class has validated them.

        Returns the message. Raises BadRequestError for an invalid sink offset, ConnectError if the commit fails.
        """
        offsets = parse(changes)
        managed = self._validate_with_class(name, config, offsets)
        self._require_unused_group("alter", name, config)
        try:
            self._write(name, config, offsets)
        except KafkaFailure as e:
            if e.code in _HAS_MEMBERS:
                raise in_use("alter", name, "sink") from e
            raise ConnectError(f"Failed to alter consumer group offsets for connector {name}") from e
        return done_message("altered", managed)

    def reset(self, name: str, config: Config) -> str:
        """Delete the consumer group; returns the message. Raises ConnectError."""
        self._require_unused_group("reset", name, config)
        admin, group = self._admin(name, config), group_of(name, config, self._worker)
        try:
            committed = admin.committed(group)
        except KafkaFailure as e:
            raise ConnectError(f"Failed to list offsets prior to resetting offsets for sink connector {name}") from e
        managed = self._validate_with_class(name, config, dict.fromkeys(committed))
        try:
            admin.delete_group(group)
        except KafkaFailure as e:
            if e.code in _HAS_MEMBERS:
                raise in_use("reset", name, "sink") from e
            raise ConnectError(f"Failed to reset consumer group offsets for sink connector {name}") from e
        return done_message("reset", managed)

    def _require_unused_group(self, action: str, name: str, config: Config) -> None:
        """Refuse what would take the offsets of another sink that has tasks: headrace's are no members of their group.

        Raises ConnectError in the words that Kafka Connect has for a group with members.
        """
        state, group = self._cluster(), group_of(name, config, self._worker)
        for other, other_config in state.connectors.items():
            if other == name or state.target_state(other) is TargetState.STOPPED or not state.task_configs(other):
                continue
            its_group = group_of(other, self._resolved(other_config), self._worker)
            if connector_type(other_config) == "sink" and its_group == group:
                raise in_use(action, name, "sink")

    def _resolved(self, config: Config) -> Config:
        try:
            return self._worker.resolver.resolve(config).props
        except ConfigError:  # its tasks cannot start either
            return config

    def _committed(self, name: str, config: Config) -> tuple[Admin, dict[Partition, int]]:
        admin, group = shared(self._client(name, config)), group_of(name, config, self._worker)
        self._recent_clients = [admin, *(client for client in self._recent_clients if client is not admin)][:_MAX_CLIENTS]
        try:
            return admin, admin.committed(group, ANSWER_TIMEOUT_S)
        finally:
            admin.close_group(group)

    def _admin(self, name: str, config: Config) -> Admin:
        return Admin(self._client(name, config))

    def _client(self, name: str, config: Config) -> dict[str, str]:
        return client_settings(f"connector-worker-adminclient-{name}", "admin", config, self._worker)

    def _validate_with_class(self, name: str, config: Config, offsets: Mapping[Partition, int | None]) -> bool:
        if any(offset is not None and offset < 0 for offset in offsets.values()):
            raise ConnectError(f"Failed to modify offsets for sink connector {name}")
        return connector_class(config).alter_offsets(config, offsets)

    def _write(self, name: str, config: Config, offsets: Mapping[Partition, int | None]) -> None:
        admin, group = self._admin(name, config), group_of(name, config, self._worker)
        topics = {topic: admin.describe(topic) for topic, _ in offsets}
        for topic, partition in offsets:
            info = topics[topic]
            if info is None or partition not in info.partitions:
                raise KafkaFailure("UNKNOWN_TOPIC_OR_PARTITION", f"There is no partition {partition} of topic '{topic}'.")
        changed = {p: offset for p, offset in offsets.items() if offset is not None}
        if changed:
            admin.commit(group, changed)
        removed = offsets.keys() - changed.keys()
        stored = admin.committed(group, partitions=removed)
        if stored or (removed and not admin.committed(group)):  # the coordinator refuses a group that it does not know
            group_offsets.remove(self._spark(), self._client(name, config), group, stored or removed)


def _lag(partition: Partition, committed: int, end: int) -> PartitionLag:
    return PartitionLag(*partition, None, committed - 1 if committed else None, end, max(0, end - committed))


def parse(changes: Sequence[tuple[Any, Any]]) -> dict[Partition, int | None]:
    """Offsets from the body of a request. Raises BadRequestError in Kafka's words."""
    return {_partition(partition): _offset(offset) for partition, offset in changes}


def _partition(partition: Any) -> Partition:
    if partition is None:
        raise BadRequestError("The partition for a sink connector offset cannot be null or missing")
    if TOPIC not in partition or PARTITION not in partition:
        raise BadRequestError(f"The partition for a sink connector offset must contain the keys '{TOPIC}' and '{PARTITION}'")
    topic, number = partition[TOPIC], partition[PARTITION]
    if topic is None:
        raise BadRequestError("Kafka topic names must be valid strings and may not be null")
    if number is None:
        raise BadRequestError("Kafka partitions must be valid numbers and may not be null")
    return java_text(topic), _integer(number, "partition", "Partition", bits=32)


def _offset(offset: Any) -> int | None:
    if offset is None:
        return None
    if OFFSET not in offset:
        raise BadRequestError(f"The offset for a sink connector should either be null or contain the key '{OFFSET}'")
    return _integer(offset[OFFSET], "offset", "Offset", bits=64)


def _integer(value: Any, field: str, title: str, bits: int) -> int:
    text = java_text(value)
    is_negative = text.startswith("-")  # as Java parses them
    most = 2 ** (bits - 1) - (0 if is_negative else 1)
    number = whole_number(text[is_negative or text.startswith("+") :], 0, most)
    if number is not None:
        return -number if is_negative else number
    raise BadRequestError(
        f"Failed to parse the following Kafka {field} value in the provided offsets: '{text}'. {title} values for "
        "sink connectors need to be integers."
    )
