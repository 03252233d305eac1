"""Admin calls of the control plane: topics, offsets, group offsets, cluster facts. Every call ends within its timeout."""

# pyright: reportPrivateImportUsage=false
# (confluent_kafka.admin exports its classes without saying so)
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
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
from headrace.kafka.failures import KafkaFailure, RetriableKafkaFailure, beyond_librdkafka, leader_moves
from headrace.kafka.groups import GroupOffsets, Partition
from headrace.kafka.topic_info import ConfiguredValue, TopicInfo
from headrace.retry import await_result, poll_until, retry_until

DEFAULT_TIMEOUT_S = 30.0
_PAUSE_S = 0.05
_REFRESH_S = 2.0
_LONG_TIMEOUT_S = 120.0
_ABSENT = "UNKNOWN_TOPIC_OR_PARTITION"  # retriable for callers that wait for the topic; not here
_NO_TOPIC = "!"  # no topic can have this name: the answer has the brokers, and not thousands of topics
Value = TypeVar("Value")


class Admin:
    """A Kafka admin client with our errors and explicit timeouts (seconds). Thread-safe; connects at the first call.

    Every method raises KafkaFailure (code = Kafka's error name), RetriableKafkaFailure if the cluster is not reached in time.
    """

    def __init__(self, props: Mapping[str, str]) -> None:
        """Takes settings of Kafka's Java admin client. Raises ConfigError."""
        self._props = dict(props)
        self._diagnosis = ConnectionDiagnosis(props)
        self.coalesced_requests: dict[str, Any] = {}
        """Shared requests of many tasks (`headrace.kafka.coalesced_requests`), by name."""
        self._lock, self._refreshing = threading.Lock(), threading.Lock()
        self._groups: dict[str, GroupOffsets] = {}
        self._busy_clients: list[tuple[AdminClient, Future[Any]]] = []  # whose answer has not come
        # Kept as long as this object: librdkafka cancels running calls of a client that is collected.
        self._client = clients.admin(props, error_cb=self._diagnosis.on_error)
        self._creations = BatchedCalls(partial(_create_all, self._client), _is_of_request)

    @property
    def api_timeout_s(self) -> float:
        """The default time-out of calls: `default.api.timeout.ms`, in seconds."""
        return client_value("admin", self._props, "default.api.timeout.ms") / 1000

    def topics(
        self, timeout_s: float = DEFAULT_TIMEOUT_S, selects: Callable[[str], object] = lambda name: True
    ) -> dict[str, TopicInfo]:
        """Every topic that this principal may describe and that `selects` accepts by name."""
        return self.find(filter(selects, self.partition_counts(timeout_s)), timeout_s)

    def partition_counts(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, int]:
        """The partition count of every topic that this principal may describe: much cheaper than `topics`."""
        listing = self._call(lambda: self._client.list_topics(timeout=timeout_s), timeout_s)
        return {name: len(topic.partitions) for name, topic in listing.topics.items() if topic.error is None}

    def describe(self, name: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> TopicInfo | None:
        """Describe a topic; None if it does not exist."""
        topic = self._describe([name], timeout_s)[name]
        if isinstance(topic, TopicInfo):
            return topic
        if topic.code == _ABSENT:
            return None
        raise topic

    def find(self, names: Iterable[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, TopicInfo]:
        """Describe those of these topics that exist and that this principal may describe."""
        return {name: info for name, info in self.described(names, timeout_s).items() if info is not None}

    def described(self, names: Iterable[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, TopicInfo | None]:
        """Describe topics, None for one that does not exist; those that this principal may not describe are left out."""
        topics: dict[str, TopicInfo | None] = {}
        for name, info in self._describe(list(names), timeout_s).items():
            if isinstance(info, TopicInfo):
                topics[name] = info
            elif info.code == _ABSENT:
                topics[name] = None
        return topics

    def topic_ids(self, names: Iterable[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, str]:
        """The ids of topics; missing topics, and topics without an id, are left out."""
        return {name: info.topic_id for name, info in self.find(names, timeout_s).items() if info.topic_id}

    def request_topic(self, name: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Request a topic's metadata as Kafka's clients do, so that brokers with `auto.create.topics.enable` create it."""
        self._call(lambda: self._client.list_topics(name, timeout=timeout_s), timeout_s)

    def create(
        self,
        name: str,
        partitions: int,
        replication_factor: int,
        configs: Mapping[str, str] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        *,
        exist_ok: bool = False,
    ) -> bool:
        """Create a topic; -1 partitions or replication factor: the broker's default. Returns when it can be described.

        exist_ok: return False if it exists already; otherwise that is a KafkaFailure.
        """
        topic, deadline = NewTopic(name, partitions, replication_factor, config=dict(configs or {})), time.monotonic() + timeout_s
        try:
            self._wait(lambda: self._creations.call(name, (topic, timeout_s)), timeout_s)
        except ValueError as error:  # librdkafka bounds the numbers itself; no broker takes more
            raise beyond_librdkafka(partitions, replication_factor, str(error)) from None
        except KafkaFailure as failure:
            if exist_ok and failure.code == "TOPIC_ALREADY_EXISTS":
                return False
            raise
        self._wait_until(name, deadline, lambda info: info is not None and None not in info.partitions.values())
        return True

    def add_partitions(self, topic: str, total: int, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Raise the number of partitions of a topic to `total`. Raises KafkaFailure."""
        new_partitions = [NewPartitions(topic, total)]
        self._wait_all(lambda: self._client.create_partitions(new_partitions, request_timeout=timeout_s), timeout_s)

    def delete(self, names: Iterable[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Delete topics; the first failure is raised at the end. Returns when none of them can be described any more."""
        selects, deadline = list(names), time.monotonic() + timeout_s
        if not selects:
            return
        self._wait_all(
            lambda: self._client.delete_topics(selects, operation_timeout=timeout_s, request_timeout=timeout_s), timeout_s
        )
        for name in selects:
            self._wait_until(name, deadline, lambda info: info is None)

    def topic_configs(self, name: str, *, own_only: bool = False, timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, str | None]:
        """The settings of a topic with their values; `own_only`: without those inherited from the broker. Secrets are None."""
        settings = self.configs_of([name], timeout_s)[name]
        return {key: setting.value for key, setting in settings.items() if setting.is_own or not own_only}

    def configs_of(self, names: Sequence[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, dict[str, ConfiguredValue]]:
        """The settings of several topics, by one request. Raises KafkaFailure if one of them does not exist."""
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
        position: Literal["earliest", "latest"] | int,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        *,
        read_committed: bool = False,
    ) -> dict[Partition, int]:
        """Offsets of partitions: the first one, the end, or (milliseconds given) the first at or after that time, else -1.

        `read_committed`: the end is the last stable offset.
        """
        spec = {"earliest": OffsetSpec.earliest, "latest": OffsetSpec.latest}.get(cast(str, position))
        requests: dict[Any, Any] = {
            TopicPartition(t, p): spec() if spec else OffsetSpec.for_timestamp(cast(int, position)) for t, p in partitions
        }
        if not requests:
            return {}
        level = IsolationLevel.READ_COMMITTED if read_committed else IsolationLevel.READ_UNCOMMITTED

        def ask(left_s: float) -> dict[Partition, int] | None:
            results = self._retry(
                lambda left: self._client.list_offsets(requests, isolation_level=level, request_timeout=left), left_s
            )
            offsets = {(tp.topic, tp.partition): result.offset for tp, result in results.items()}
            # librdkafka reports success without an offset if the connection broke before the response.
            return None if OFFSET_INVALID in offsets.values() else offsets

        if (offsets := poll_until(ask, timeout_s, _PAUSE_S)) is None:
            raise self._diagnosis.failure(TimeoutError(), timeout_s)
        return offsets

    def delete_records(self, before: Mapping[Partition, int], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Delete the records of partitions before an offset. Raises KafkaFailure."""
        topic_partitions = [TopicPartition(topic, partition, offset) for (topic, partition), offset in before.items()]
        self._wait_all(lambda: self._client.delete_records(topic_partitions, request_timeout=timeout_s), timeout_s)

    def committed(
        self, group: str, timeout_s: float = DEFAULT_TIMEOUT_S, partitions: Iterable[Partition] | None = None
    ) -> dict[Partition, int]:
        """The committed offsets of a consumer group, of these partitions or of all; empty for an unknown group."""
        deadline = time.monotonic() + timeout_s
        if partitions is None:
            listing = self._call(lambda: self._client.list_topics(timeout=timeout_s), timeout_s)
            partitions = [(name, partition) for name, topic in listing.topics.items() for partition in topic.partitions]
        return self._group(group).read(partitions, max(deadline - time.monotonic(), _PAUSE_S))

    def commit(self, group: str, offsets: Mapping[Partition, int], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Set committed offsets of a consumer group that has no active member (KIP-396)."""
        self._group(group).write(offsets, timeout_s)

    def close_group(self, group: str) -> None:
        """Close the consumer for a group's offsets."""
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

    def group_members(self, group: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> list[tuple[str, str, str, set[Partition]]]:
        """Client id, host, the coordinator's id and the partitions of each member; no partitions while the group rebalances."""
        description = self._ask_coordinator(
            group, lambda client, left: client.describe_consumer_groups([group], request_timeout=left), timeout_s
        )
        taken = [{(p.topic, p.partition) for p in member.assignment.topic_partitions} for member in description.members]
        return [(m.client_id, m.host, m.member_id, partitions) for m, partitions in zip(description.members, taken, strict=True)]

    def _ask_coordinator(self, group: str, start: Callable[[Any, float], Mapping[str, Future]], timeout_s: float) -> Any:
        """A call that librdkafka sends to a group's coordinator; its time-out may crash the process (see groups.py).

        So the coordinator is checked first, by the offset of any partition. Then a new client, which finds the coordinator even
        after an outage, makes the call with a time-out far beyond ours, and is kept if our time-out ends first.
        """
        deadline = time.monotonic() + timeout_s
        some = [(name, 0) for name in self.partition_counts(timeout_s)][:1]  # that this principal may describe
        self.committed(group, max(deadline - time.monotonic(), _PAUSE_S), some)
        client = clients.admin(self._props)
        answer = self._call(lambda: start(client, _LONG_TIMEOUT_S)[group], timeout_s)
        with self._lock:
            self._busy_clients.append((client, answer))
        try:
            return self._wait(lambda: answer, timeout_s)
        finally:
            with self._lock:  # also those whose answer came after an earlier time-out
                self._busy_clients = [(client, answer) for client, answer in self._busy_clients if not answer.done()]

    def cluster_id(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> str:
        """The cluster's id."""
        return self._cluster(timeout_s).cluster_id

    def broker_count(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> int:
        """The number of running brokers."""
        return len(self._cluster(timeout_s).brokers)

    def _group(self, group: str) -> GroupOffsets:
        with self._lock:
            if group not in self._groups:
                self._groups[group] = GroupOffsets(self._props, group)
            return self._groups[group]

    def _cluster(self, timeout_s: float) -> Any:
        def ask(left_s: float) -> Any:  # librdkafka's describe_cluster aborts the process while all brokers are fenced
            return self._call(lambda: self._client.list_topics(_NO_TOPIC, left_s), timeout_s)

        return retry_until(ask, timeout_s, _PAUSE_S, lambda error: isinstance(error, RetriableKafkaFailure))

    def _describe(self, names: list[str], timeout_s: float) -> dict[str, TopicInfo | KafkaFailure]:
        if not names:
            return {}
        collection = TopicCollection(names)
        futures = self._call(lambda: self._client.describe_topics(collection, request_timeout=timeout_s), timeout_s)
        topics: dict[str, TopicInfo | KafkaFailure] = {}
        for name, future in futures.items():
            try:
                topics[name] = TopicInfo.of(self._wait(lambda future=future: future, timeout_s))
            except KafkaFailure as error:
                if self._diagnosis.is_failure(error):  # an error of the cluster, not of this topic
                    raise
                topics[name] = error
        return topics

    def _wait_until(self, name: str, deadline: float, done: Callable[[TopicInfo | None], bool]) -> None:
        """Wait until all brokers know a change; returns at once if this principal may not describe the topic."""

        def ask(left_s: float) -> bool:
            try:
                return done(self.describe(name, left_s))
            except KafkaFailure:
                return True

        poll_until(ask, deadline - time.monotonic(), _PAUSE_S)

    def _retry(self, start: Callable[[float], Mapping[Any, Future]], timeout_s: float) -> dict[Any, Any]:
        """Call `start(seconds left)`; retried while a leader or coordinator moves, as in Kafka's own admin client."""
        deadline, refreshed = time.monotonic() + timeout_s, False

        def is_retriable(error: Exception) -> bool:
            return leader_moves(error) and not (refreshed and isinstance(error, KafkaFailure) and error.code == _ABSENT)

        def refresh(pause_s: float) -> None:
            # librdkafka uses leaders and epochs from before a broker's restart until metadata is requested again.
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
        return self._call(lambda: await_result(start(), timeout_s + 1, _REFRESH_S, self._refresh), timeout_s)

    def _refresh(self) -> None:
        """Request metadata: if no broker was registered before, librdkafka waits for the controller without asking again.

        Of the calls that wait, one asks: the answer has all topics, and is for all.
        """
        if self._refreshing.acquire(blocking=False):
            try:
                with suppress(KafkaException):
                    self._client.list_topics(timeout=_REFRESH_S)
            finally:
                self._refreshing.release()

    def _call(self, action: Callable[[], Value], timeout_s: float) -> Value:
        try:
            result = action()
        except (KafkaException, TimeoutError) as error:
            self._client.poll(0)  # handles reported errors and log lines of the connections
            raise self._diagnosis.failure(error, timeout_s) from None
        self._client.poll(0)
        self._diagnosis.forget()
        return result


_shared: WeakValueDictionary[frozenset[tuple[str, str]], Admin] = WeakValueDictionary()
_sharing = threading.Lock()


def shared(props: Mapping[str, str]) -> Admin:
    """The shared admin client of this process for these settings, without `client.id` and `group.id`.

    A client has some threads and a dozen file descriptors: too many for each task of a large worker. Raises ConfigError.
    """
    key = frozenset((name, str(value)) for name, value in props.items() if name not in ("client.id", "group.id"))
    with _sharing:
        if (admin := _shared.get(key)) is None:
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
