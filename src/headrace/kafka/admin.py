"""Admin calls of the control plane: topics, offsets, group offsets, cluster facts. Every call ends within its timeout."""

# pyright: reportPrivateImportUsage=false
# (confluent_kafka.admin exports its classes without saying so)
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, cast
from weakref import WeakValueDictionary

from confluent_kafka import OFFSET_INVALID, IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from headrace.config.client_options import client_value
from headrace.kafka import clients
from headrace.kafka.batched_calls import BatchedCalls
from headrace.kafka.connection_diagnosis import ConnectionDiagnosis
from headrace.kafka.failures import REQUEST_TIMED_OUT, KafkaFailure, leader_moves
from headrace.kafka.groups import GroupOffsets, Partition
from headrace.retry import poll_until, retry_until

DEFAULT_TIMEOUT_S = 30.0
_PAUSE_S = 0.05
_CALM_S = 120.0
_ABSENT = "UNKNOWN_TOPIC_OR_PARTITION"  # retriable for the caller, who knows whether it will appear; not here
_NO_ID = "A" * 22
Value = TypeVar("Value")


@dataclass(frozen=True)
class TopicInfo:
    """What a broker says about a topic; a partition's leader is None while there is none, the id empty if brokers know no ids."""

    name: str
    partitions: Mapping[int, int | None]
    internal: bool
    replication_factor: int
    topic_id: str


@dataclass(frozen=True)
class ConfiguredValue:
    """The value of a topic's setting, as the broker has it."""

    value: str | None
    """None if it is secret."""
    is_own: bool
    """Set for this topic, not inherited from the broker."""


class Admin:
    """A Kafka admin client with our errors and explicit timeouts (seconds). Thread-safe; connects at the first call.

    Every method raises KafkaFailure (code = Kafka's error name), RetriableKafkaFailure if the cluster is not reached in time.
    """

    def __init__(self, props: Mapping[str, str]) -> None:
        """Takes settings of Kafka's Java admin client. Raises ConfigError."""
        self._props = dict(props)
        self._diagnosis = ConnectionDiagnosis(props)
        self.questions: dict[str, Any] = {}
        """What is asked through this client for many at once (`headrace.kafka.coalesced_requests`)."""
        self._lock = threading.Lock()
        self._groups: dict[str, GroupOffsets] = {}
        self._asking: list[AdminClient] = []
        # The client lives as long as this object: librdkafka cancels the calls under way of one that is collected.
        self._client = clients.admin(props, error_cb=self._diagnosis.on_error)
        self._creations = BatchedCalls(partial(_create_all, self._client), _is_of_request)

    @property
    def api_timeout_s(self) -> float:
        """How long a call may take for those who name no time of their own: `default.api.timeout.ms`."""
        return client_value("admin", self._props, "default.api.timeout.ms") / 1000

    def topics(
        self, timeout_s: float = DEFAULT_TIMEOUT_S, chosen: Callable[[str], object] = lambda name: True
    ) -> dict[str, TopicInfo]:
        """Every topic that this principal may describe and whose name is `chosen`."""
        return self.find(filter(chosen, self.partition_counts(timeout_s)), timeout_s)

    def partition_counts(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, int]:
        """How many partitions every topic has that this principal may describe: much cheaper than `topics`."""
        listing = self._call(lambda: self._client.list_topics(timeout=timeout_s), timeout_s)
        return {name: len(topic.partitions) for name, topic in listing.topics.items() if topic.error is None}

    def describe(self, name: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> TopicInfo | None:
        """One topic, or None if there is none of this name."""
        topic = self._describe([name], timeout_s)[name]
        if isinstance(topic, TopicInfo):
            return topic
        if topic.code == "UNKNOWN_TOPIC_OR_PARTITION":
            return None
        raise topic

    def find(self, names: Iterable[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, TopicInfo]:
        """Of these topics those that exist, and that this principal may describe."""
        topics = self._describe(list(names), timeout_s)
        return {name: info for name, info in topics.items() if isinstance(info, TopicInfo)}

    def topic_ids(self, names: Iterable[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, str]:
        """The ids of topics; those that do not exist, or whose brokers know no ids, are left out."""
        return {name: info.topic_id for name, info in self.find(names, timeout_s).items() if info.topic_id}

    def ask_for(self, name: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Ask for a topic as Kafka's clients do, so that brokers with `auto.create.topics.enable` create it."""
        self._call(lambda: self._client.list_topics(name, timeout=timeout_s), timeout_s)

    def create(
        self,
        name: str,
        partitions: int,
        replication_factor: int,
        configs: Mapping[str, str] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> None:
        """Create a topic; -1 partitions or replication factor: the broker's default. Returns when it can be described."""
        deadline = time.monotonic() + timeout_s
        topic = NewTopic(name, num_partitions=partitions, replication_factor=replication_factor, config=dict(configs or {}))
        self._wait(lambda: self._creations.call(name, (topic, timeout_s)), timeout_s)
        self._wait_until(name, deadline, lambda info: info is not None and None not in info.partitions.values())

    def add_partitions(self, topic: str, total: int, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Raise the number of partitions of a topic to `total`. Raises KafkaFailure."""
        asked = [NewPartitions(topic, total)]
        self._wait_all(lambda: self._client.create_partitions(asked, request_timeout=timeout_s), timeout_s)

    def delete(self, names: Iterable[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Delete topics; the first failure is raised after all have been tried. Returns when none can be described any more."""
        chosen, deadline = list(names), time.monotonic() + timeout_s
        if not chosen:
            return
        self._wait_all(
            lambda: self._client.delete_topics(chosen, operation_timeout=timeout_s, request_timeout=timeout_s), timeout_s
        )
        for name in chosen:
            self._wait_until(name, deadline, lambda info: info is None)

    def topic_configs(self, name: str, *, own_only: bool = False, timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, str | None]:
        """The settings of a topic with their values; `own_only`: without those inherited from the broker. Secrets are None."""
        settings = self.configs_of([name], timeout_s)[name]
        return {key: setting.value for key, setting in settings.items() if setting.is_own or not own_only}

    def configs_of(self, names: Sequence[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, dict[str, ConfiguredValue]]:
        """The settings of several topics, asked for at once. Raises KafkaFailure if one of them does not exist."""
        if not names:
            return {}
        resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in names]
        configs = self._wait_all(lambda: self._client.describe_configs(resources, request_timeout=timeout_s), timeout_s)
        dynamic_source = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        return {
            resource.name: {key: ConfiguredValue(entry.value, entry.source == dynamic_source) for key, entry in entries.items()}
            for resource, entries in configs.items()
        }

    def alter(self, topic: str, settings: Mapping[str, str | None], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Set settings of a topic, and unset those that are None; the others stay (KIP-339)."""
        operations = {True: AlterConfigOpType.SET, False: AlterConfigOpType.DELETE}
        entries = [ConfigEntry(k, v, incremental_operation=operations[v is not None]) for k, v in settings.items()]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        self._wait_all(lambda: self._client.incremental_alter_configs([resource], request_timeout=timeout_s), timeout_s)

    def partition_offsets(
        self,
        partitions: Iterable[Partition],
        which: Literal["earliest", "latest"] | int,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        *,
        read_committed: bool = False,
    ) -> dict[Partition, int]:
        """Offsets of partitions: the first one, the end, or (milliseconds given) the first at or after that time, else -1.

        `read_committed`: the end is the last stable offset.
        """
        spec = {"earliest": OffsetSpec.earliest, "latest": OffsetSpec.latest}.get(cast(str, which))
        asked: dict[Any, Any] = {
            TopicPartition(t, p): spec() if spec else OffsetSpec.for_timestamp(cast(int, which)) for t, p in partitions
        }
        if not asked:
            return {}
        level = IsolationLevel.READ_COMMITTED if read_committed else IsolationLevel.READ_UNCOMMITTED

        def ask(left_s: float) -> dict[Partition, int] | None:
            answers = self._retry(
                lambda left: self._client.list_offsets(asked, isolation_level=level, request_timeout=left), left_s
            )
            offsets = {(tp.topic, tp.partition): result.offset for tp, result in answers.items()}
            # librdkafka reports success without an offset where the connection broke while it waited for the answer.
            return None if OFFSET_INVALID in offsets.values() else offsets

        if (offsets := poll_until(ask, timeout_s, _PAUSE_S)) is None:
            raise self._diagnosis.failure(TimeoutError(), timeout_s)
        return offsets

    def delete_records(self, before: Mapping[Partition, int], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Delete the records of partitions that stand before an offset. Raises KafkaFailure."""
        asked = [TopicPartition(topic, partition, offset) for (topic, partition), offset in before.items()]
        self._wait_all(lambda: self._client.delete_records(asked, request_timeout=timeout_s), timeout_s)

    def committed(
        self, group: str, timeout_s: float = DEFAULT_TIMEOUT_S, partitions: Iterable[Partition] | None = None
    ) -> dict[Partition, int]:
        """The committed offsets of a consumer group: of these partitions, or of all there are; empty for an unknown group."""
        deadline = time.monotonic() + timeout_s
        if partitions is None:
            listing = self._call(lambda: self._client.list_topics(timeout=timeout_s), timeout_s)
            partitions = [(name, partition) for name, topic in listing.topics.items() for partition in topic.partitions]
        return self._group(group).read(partitions, max(deadline - time.monotonic(), _PAUSE_S))

    def commit(self, group: str, offsets: Mapping[Partition, int], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Set committed offsets of a consumer group that has no active member (KIP-396)."""
        self._group(group).write(offsets, timeout_s)

    def close_group(self, group: str) -> None:
        """Close what is open for the offsets of a group, if they are not asked for soon again."""
        with self._lock:
            offsets = self._groups.pop(group, None)
        if offsets is not None:
            offsets.close()

    def delete_group(self, group: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Delete a consumer group with its offsets; an unknown group is no error."""
        try:
            self._ask_coordinator(
                group, lambda client, left: client.delete_consumer_groups([group], request_timeout=left), timeout_s
            )
        except KafkaFailure as error:
            if error.code != "GROUP_ID_NOT_FOUND":
                raise

    def group_members(self, group: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> list[tuple[str, str]]:
        """Client id and host of each active member of a group; none for an unknown group."""
        answers = self._ask_coordinator(
            group, lambda client, left: client.describe_consumer_groups([group], request_timeout=left), timeout_s
        )
        return [(member.client_id, member.host) for member in answers.members]

    def _ask_coordinator(self, group: str, start: Callable[[Any, float], Mapping[str, Future]], timeout_s: float) -> Any:
        """A call that librdkafka sends to a group's coordinator: one that times out may end the process (see groups.py).

        So it is made sure first that the coordinator answers; then a client of its own asks, which after an outage finds the
        coordinator where a used one may not, with a time-out far beyond ours, and which is kept if we give up before.
        """
        self.committed(group, timeout_s)
        client = clients.admin(self._props)
        self._asking.append(client)
        try:
            group_offsets = self._wait(lambda: start(client, _CALM_S)[group], timeout_s)
        except KafkaFailure as error:
            if error.code != REQUEST_TIMED_OUT:
                self._asking.remove(client)
            raise
        self._asking.remove(client)
        return group_offsets

    def cluster_id(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> str:
        """The cluster's id."""
        return self._cluster(timeout_s).cluster_id

    def broker_count(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> int:
        """How many brokers are up."""
        return len(self._cluster(timeout_s).nodes)

    def _group(self, group: str) -> GroupOffsets:
        with self._lock:
            if group not in self._groups:
                self._groups[group] = GroupOffsets(self._props, group)
            return self._groups[group]

    def _cluster(self, timeout_s: float) -> Any:
        return self._wait(lambda: self._client.describe_cluster(request_timeout=timeout_s), timeout_s)

    def _describe(self, names: list[str], timeout_s: float) -> dict[str, TopicInfo | KafkaFailure]:
        if not names:
            return {}
        asked = TopicCollection(names)
        futures = self._call(lambda: self._client.describe_topics(asked, request_timeout=timeout_s), timeout_s)
        topics: dict[str, TopicInfo | KafkaFailure] = {}
        for name, future in futures.items():
            try:
                topics[name] = _info(self._wait(lambda future=future: future, timeout_s))
            except KafkaFailure as error:
                if self._diagnosis.is_failure(error):  # not this topic's fault: nothing can be known about any
                    raise
                topics[name] = error
        return topics

    def _wait_until(self, name: str, deadline: float, done: Callable[[TopicInfo | None], bool]) -> None:
        """News takes a moment to reach the brokers; where this principal may not see the topic, there is nothing to wait for."""

        def ask(left_s: float) -> bool:
            try:
                return done(self.describe(name, left_s))
            except KafkaFailure:
                return True

        poll_until(ask, deadline - time.monotonic(), _PAUSE_S)

    def _retry(self, start: Callable[[float], Mapping[Any, Future]], timeout_s: float) -> dict[Any, Any]:
        """`start(seconds left)`, again while a leader or coordinator moves, as Kafka's own admin client does."""
        deadline, refreshed = time.monotonic() + timeout_s, False

        def is_retriable(error: Exception) -> bool:
            return leader_moves(error) and not (refreshed and isinstance(error, KafkaFailure) and error.code == _ABSENT)

        def refresh(pause_s: float) -> None:
            # librdkafka uses leaders and epochs of before a broker was restarted until the metadata is asked for again. The
            # answer also distinguishes an absent topic from an absent cluster, which librdkafka does not.
            nonlocal refreshed
            left_s = max(deadline - time.monotonic(), pause_s)
            self._call(lambda: self._client.list_topics(timeout=left_s), timeout_s)
            refreshed = True
            time.sleep(pause_s)

        return retry_until(lambda left: self._wait_all(lambda: start(left), left), timeout_s, _PAUSE_S, is_retriable, refresh)

    def _wait_all(self, start: Callable[[], Mapping[Any, Future]], timeout_s: float) -> dict[Any, Any]:
        """Start a call with a future per item and wait for all; the first failure is raised at the end."""
        done, failed = {}, None
        for item, future in self._call(start, timeout_s).items():
            try:
                done[item] = self._wait(lambda future=future: future, timeout_s)
            except KafkaFailure as error:
                failed = failed or error
        if failed:
            raise failed
        return done

    def _wait(self, start: Callable[[], Future[Value]], timeout_s: float) -> Value:
        # A little longer than the request's own timeout, which gives the better message.
        return self._call(lambda: start().result(timeout_s + 1), timeout_s)

    def _call(self, action: Callable[[], Value], timeout_s: float) -> Value:
        try:
            result = action()
        except (KafkaException, TimeoutError) as error:
            self._client.poll(0)  # takes in what the connections have reported and logged
            raise self._diagnosis.failure(error, timeout_s) from None
        self._client.poll(0)
        self._diagnosis.forget()
        return result


_shared: WeakValueDictionary[frozenset[tuple[str, str]], Admin] = WeakValueDictionary()
_sharing = threading.Lock()


def shared(props: Mapping[str, str]) -> Admin:
    """The admin client for these settings that everybody in the process has; names of clients and groups do not count.

    A client is some threads and a dozen file descriptors: too much for each task of a worker with many. Raises ConfigError.
    """
    key = frozenset((name, str(value)) for name, value in props.items() if name not in ("client.id", "group.id"))
    with _sharing:
        admin = _shared.get(key)
        if admin is None:
            admin = _shared[key] = Admin(props)
        return admin


def _create_all(client: AdminClient, topics: Sequence[tuple[str, tuple[NewTopic, float]]]) -> Mapping[str, Future[None]]:
    longest_s = max(timeout_s for _, (_, timeout_s) in topics)
    return client.create_topics([topic for _, (topic, _) in topics], operation_timeout=longest_s, request_timeout=longest_s)


def _is_of_request(error: Exception) -> bool:
    """Whether another topic of a request may have caused this error: one that is invalid, or that has too many partitions."""
    return not isinstance(error, KafkaException) or error.args[0].name() in (
        "POLICY_VIOLATION", "INVALID_REQUEST", "UNKNOWN_SERVER_ERROR", "UNKNOWN",
    )  # fmt: skip


def _info(topic: Any) -> TopicInfo:
    leaders = {partition.id: partition.leader.id if partition.leader else None for partition in topic.partitions}
    replicas = max((len(partition.replicas) for partition in topic.partitions), default=0)
    return TopicInfo(topic.name, leaders, topic.is_internal, replicas, _uuid(topic.topic_id))


def _uuid(topic_id: object) -> str:
    """A topic id as Kafka's tools print it: URL-safe base64; empty where brokers know no ids."""
    text = str(topic_id).translate(str.maketrans("+/", "-_"))
    return "" if text == _NO_ID else text
