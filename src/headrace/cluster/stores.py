"""The stores of a worker: configurations, statuses and offsets; on Kafka here, without it in `standalone.stores`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from headrace.background import side_by_side
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.connector_offset_topic import START_S, OffsetStores, OwnTopic
from headrace.cluster.event_log import EventLogs, EventTopic, kafka_event_logs
from headrace.cluster.offset_records import encode_key
from headrace.cluster.offset_store import KafkaOffsetStore
from headrace.cluster.status_store import StatusStore
from headrace.cluster.worker_topics import config_topic, offset_topic, status_topic
from headrace.connect_config.rules import OFFSETS_TOPIC
from headrace.connectors.base import Props
from headrace.errors import ConnectError
from headrace.kafka.admin import Admin, shared
from headrace.kafka.client_settings import same_connection, servers
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.group_transactions import GroupTransactions
from headrace.kafka.internal_topics import WorkerTopic, ensure
from headrace.kafka.log import CompactedLog, LogFactory, OnRecord, RecordLog
from headrace.kafka.membership import client_id
from headrace.kafka.transactional_writer import TransactionalWriter
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.plan import client_settings

log = structlog.get_logger(__name__)

WRITE_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class WorkerTransactions:
    """The transactional writers of a worker."""

    group: str
    """The worker's `group.id`."""
    member: str
    """The worker's name in the group."""
    offsets: str
    """The topic that `writes` writes to."""
    fenced: TransactionalWriter
    """Of the config topic: the leader fences the one before."""
    writes: GroupTransactions
    """Of source offsets, by a member of the group."""
    admin: Admin

    def start(self, timeout_s: float) -> None:
        """Start the writers; a worker without rights to its transactional ids uses no transactions if it is alone in its group.

        Raises ConnectError, which names the missing rights, if it is not alone; KafkaFailure.
        """
        try:
            self.writes.start(timeout_s)
        except KafkaFailure as error:
            if error.code != "TRANSACTIONAL_ID_AUTHORIZATION_FAILED":
                raise
            return self._disable_transactions(timeout_s)
        if open_partitions := self._open_transactions(timeout_s):
            log.info("offsets.transactions-completed", topic=self.offsets, partitions=open_partitions)
            self.writes.complete([(self.offsets, partition) for partition in open_partitions], encode_key("", None), timeout_s)
        return None

    def _open_transactions(self, timeout_s: float) -> list[int]:
        """The partitions of the offset topic with open transactions. Raises KafkaFailure."""
        topic = self.admin.describe(self.offsets, timeout_s)
        partitions = [(self.offsets, partition) for partition in topic.partitions] if topic else []
        ends = self.admin.partition_offsets(partitions, "latest", timeout_s)
        stable = self.admin.partition_offsets(partitions, "latest", timeout_s, read_committed=True)
        return sorted(partition for (topic, partition), end in ends.items() if stable[topic, partition] < end)

    def _disable_transactions(self, timeout_s: float) -> None:
        rights = (
            f"it needs the rights Write and Describe on the transactional ids 'connect-cluster-{self.group}' and "
            f"'headrace-{self.group}-*'"
        )
        other_members = {client for client, *_ in self.admin.group_members(self.group, timeout_s)} - {client_id(self.member)}
        if other_members:
            raise ConnectError(
                f"This worker may not write in transactions: {rights}. Without them a worker can only run alone, and group "
                f"'{self.group}' has {len(other_members)} other member{'s' if len(other_members) > 1 else ''}: "
                f"{', '.join(sorted(other_members))}."
            )
        hint = "it has to stay the only worker: a successor could not keep it from storing older offsets"
        log.warning("worker.writes-without-transactions", group=self.group, cause=str(rights), hint=hint)
        self.writes.without_transactions()
        self.fenced.without_transactions()


@dataclass(frozen=True)
class WorkerStores:
    """The three stores of a worker, and those of connectors with an offset topic of their own."""

    config: ConfigStore
    status: StatusStore
    offsets: KafkaOffsetStore
    transactions: WorkerTransactions | None = None
    """None, as `own_offsets` and `prepare`, of a standalone worker."""
    own_offsets: OffsetStores | None = None
    prepare: Mapping[str, Callable[[], object]] | None = None
    """By `offsets`, `status` and `config`: creates the topic if it is missing, and verifies it."""
    events: EventLogs = field(default_factory=EventLogs)

    def start(self) -> None:
        """Create or verify each topic, then read it: offsets, states, configurations, as Connect does.

        Raises ConfigError, ConnectError; stores that were started run until stop().
        """
        for name, store in (("offsets", self.offsets), ("status", self.status), ("config", self.config)):
            if self.prepare:
                self.prepare[name]()
            if name == "offsets" and self.transactions:  # open transactions of an earlier process would delay reading
                self.transactions.start(WRITE_TIMEOUT_S)
            store.start(START_S)
        self.events.start()

    def stop(self) -> None:
        """Close the stores, after waiting a few seconds for statuses in flight."""
        side_by_side(self.status.stop, self.offsets.stop, self.config.stop, thread="stop-stores")  # each ends a poll first
        self.events.stop()
        if self.own_offsets:
            self.own_offsets.stop()
        if self.transactions:
            self.transactions.writes.stop()

    @property
    def writes(self) -> GroupTransactions | None:
        """The writer that is restricted to members of the group; None without a group."""
        return self.transactions.writes if self.transactions else None


def kafka_stores(config: DistributedConfig, member: str) -> WorkerStores:
    """The stores of a distributed worker, on its internal topics.

    member: its name in the group. Nothing is connected before start(). Raises ConfigError.
    """
    props = {name: str(value) for name, value in config.internal_client_props().items() if value is not None}
    topics = {"offsets": offset_topic(config), "status": status_topic(config), "config": config_topic(config)}
    admin = shared(props)
    ready = partial(ensure, admin, timeout_s=admin.api_timeout_s, backoff_s=config.retry_backoff_ms / 1000)

    def make_log(name: str, *, committed: bool) -> LogFactory:
        level = "read_committed" if committed else "read_uncommitted"
        writing = {**props, "delivery.timeout.ms": _delivery_timeout(name), "client.id": _client_id(config, topics[name])}
        reading = {**props, "isolation.level": level, "client.id": writing["client.id"]}

        def make(on_record: OnRecord) -> RecordLog:
            return CompactedLog(topics[name].name, writing, reading, on_record, admin=admin)

        return make

    group = config.group_id
    fenced = TransactionalWriter(topics["config"].name, props, f"connect-cluster-{group}")
    writes = GroupTransactions(props, f"headrace-{group}-{member}", topics["config"].name)
    offsets = KafkaOffsetStore(make_log("offsets", committed=True), writes, topics["offsets"].name)
    make_events = partial(_event_log, config=config, props=props, admin=admin)
    return WorkerStores(
        config=ConfigStore(
            make_log("config", committed=True),
            fenced,
            topics["config"].name,
            transactional_leader=config.transactional_leader_enabled,
        ),
        status=StatusStore(make_log("status", committed=False)),
        offsets=offsets,
        transactions=WorkerTransactions(group, member, topics["offsets"].name, fenced, writes, admin),
        own_offsets=OffsetStores(offsets, partial(_connector_topic, worker=config, writes=writes)),
        events=kafka_event_logs(_event_topics(config), admin, make_events, create=config.internal_topics_creation),
        prepare={name: partial(ready, topic) for name, topic in topics.items()},
    )


def _connector_topic(connector: Props, worker: DistributedConfig, writes: GroupTransactions) -> OwnTopic | None:
    """The connector's own offset topic, if it has one, on the cluster that the connector writes to."""
    name = str(connector.get(OFFSETS_TOPIC) or "").strip() or worker.offset_topic
    client_id = f"{worker.group_id}-{name}-offsets"
    producer = client_settings(client_id, "producer", connector, worker)
    internal = worker.internal_client_props()
    same_cluster = servers(producer) == servers(internal)
    # Else the worker's own writer may lack the rights on the topic: offsets are written as the connector, as in Kafka Connect.
    fenced = writes if same_connection(producer, internal) else None
    if name == worker.offset_topic and (same_cluster or not worker.exactly_once_enabled):
        return None
    consumer, admin_client = (client_settings(client_id, kind, connector, worker) for kind in ("consumer", "admin"))

    def make() -> KafkaOffsetStore:
        admin = Admin(admin_client)
        topic = replace(offset_topic(worker), name=name, setting=OFFSETS_TOPIC)
        ensure(admin, topic, admin.api_timeout_s, worker.retry_backoff_ms / 1000)
        writing = {**producer, "delivery.timeout.ms": str(int(WRITE_TIMEOUT_S * 1000))}
        reading = {**consumer, "isolation.level": "read_committed", "group.id": worker.group_id}
        return KafkaOffsetStore(lambda on_record: CompactedLog(name, writing, reading, on_record, admin=admin), fenced, name)

    clients = (producer, consumer, admin_client)
    return (name, *(f"{key}={value}" for client in clients for key, value in sorted(client.items()))), make


def _event_topics(config: DistributedConfig) -> dict[str, EventTopic | None]:
    configured = {
        "history": (config.history_topic, f"{config.status_topic}-history", config.history_retention_ms),
        "audit": (config.audit_topic, f"{config.status_topic}-audit", config.audit_retention_ms),
    }
    topics = {
        kind: (by_default if name is None else name.strip(), retention_ms)
        for kind, (name, by_default, retention_ms) in configured.items()
    }
    factor = config.status_replication_factor
    return {kind: EventTopic(name, factor, retention_ms) if name else None for kind, (name, retention_ms) in topics.items()}


def _event_log(topic: str, config: DistributedConfig, props: Mapping[str, str], admin: Admin) -> LogFactory:
    clients = {**props, "client.id": f"{_client_stem(config)}-events"}
    # A record ends the wait of a fetch, and no caller waits for the end of a topic whose records have all expired.
    reading = {"fetch.max.wait.ms": "5000", **clients}
    # No caller waits for an event, and many connectors may start at once: events are sent in batches.
    return lambda on_record: CompactedLog(topic, clients, reading, on_record, admin=admin, linger_ms=100)


def _delivery_timeout(name: str) -> str:
    """Statuses are retried without limit, in order; other records must not be written after their caller has seen a failure."""
    return str(2**31 - 1) if name == "status" else str(int(WRITE_TIMEOUT_S * 1000))


def _client_id(config: DistributedConfig, topic: WorkerTopic) -> str:
    """The client id as in Connect: the worker's client id or group, and the content of the topic."""
    content = {"offset": "offsets", "status": "statuses", "config": "configs"}[topic.setting.partition(".")[0]]
    return f"{_client_stem(config)}-{content}".replace("--", "-")


def _client_stem(config: DistributedConfig) -> str:
    return config.client_id or f"connect-{config.group_id}"
