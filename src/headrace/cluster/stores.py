"""What a worker keeps: configurations, states and offsets, each in its store; on Kafka here, without it in `memory`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headrace.cluster.config_store import ConfigStore
from headrace.cluster.offset_store import OffsetStore
from headrace.cluster.status_store import StatusStore
from headrace.config import Config
from headrace.errors import ConnectError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.fenced import FencedWriter
from headrace.kafka.internal_topics import InternalTopic, config_topic, ensure, offset_topic, status_topic
from headrace.kafka.log import CompactedLog, Log, LogFactory, OnRecord
from headrace.kafka.member_writes import MemberWrites
from headrace.kafka.membership import client_id

log = logging.getLogger(__name__)

WRITE_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Transactions:
    """The transactional writers of a worker; member: its name in the group."""

    group: str
    member: str
    fenced: FencedWriter
    writes: MemberWrites
    admin: Admin

    def start(self, timeout_s: float) -> None:
        """Get ready; without the right to use transactional ids, to write the plain way if the worker is alone in its group.

        Raises ConnectError, in a sentence that names the rights, if it is not; KafkaFailure.
        """
        try:
            self.writes.start(timeout_s)
        except KafkaFailure as error:
            if error.code != "TRANSACTIONAL_ID_AUTHORIZATION_FAILED":
                raise
            self._go_without(timeout_s)

    def _go_without(self, timeout_s: float) -> None:
        rights = (
            f"it needs the rights Write and Describe on the transactional ids 'connect-cluster-{self.group}' and "
            f"'headrace-{self.group}-*'"
        )
        others = {client for client, _ in self.admin.group_members(self.group, timeout_s)} - {client_id(self.member)}
        if others:
            raise ConnectError(
                f"This worker may not write in transactions: {rights}. Without them a worker can only run alone, and group "
                f"'{self.group}' has {len(others)} other member{'s' if len(others) > 1 else ''}: {', '.join(sorted(others))}."
            )
        log.warning(
            "THIS WORKER WRITES WITHOUT TRANSACTIONS, which its principal may not use: %s. It has to stay the only worker of "
            "group '%s': if another one takes its place while it still runs, nothing keeps it from storing older offsets.",
            rights, self.group,
        )  # fmt: skip
        self.writes.without_transactions()
        self.fenced.without_transactions()


@dataclass(frozen=True)
class Stores:
    """The three stores of a worker."""

    config: ConfigStore
    status: StatusStore
    offsets: OffsetStore
    transactions: Transactions | None = None
    prepare: Mapping[str, Callable[[], object]] | None = None

    def start(self) -> None:
        """Make or verify each topic, then read it: offsets, states, configurations, as Connect does.

        Raises ConfigError, ConnectError; what was started stays so until stop().
        """
        for name, store in (("offsets", self.offsets), ("status", self.status), ("config", self.config)):
            if self.prepare:
                self.prepare[name]()
            store.start()
            if name == "offsets" and self.transactions:
                self.transactions.start(WRITE_TIMEOUT_S)

    def stop(self) -> None:
        """Close them: states under way are waited for a few seconds."""
        for store in (self.status, self.offsets, self.config):
            store.stop()
        if self.transactions:
            self.transactions.writes.stop()

    @property
    def writes(self) -> MemberWrites | None:
        """What only a member of the group may write; None where there is no group."""
        return self.transactions.writes if self.transactions else None


def kafka_stores(config: Config, member: str) -> Stores:
    """The stores of a distributed worker, on its internal topics.

    Takes the worker's configuration, and its name in the group; nothing is connected before start(). Raises ConfigError.
    """
    props = {name: str(value) for name, value in config.originals.items() if value is not None}
    topics = {"offsets": offset_topic(props), "status": status_topic(props), "config": config_topic(props)}
    admin = Admin(props)
    timeout_s = float(props.get("default.api.timeout.ms", "60000")) / 1000
    backoff_s = float(props.get("retry.backoff.ms", "100")) / 1000

    def make_log(name: str, *, committed: bool) -> LogFactory:
        level = "read_committed" if committed else "read_uncommitted"
        writing = {**props, "delivery.timeout.ms": _delivery_timeout(name), "client.id": _client_id(props, topics[name])}
        reading = {**props, "isolation.level": level, "client.id": writing["client.id"]}

        def make(on_record: OnRecord) -> Log:
            return CompactedLog(topics[name].name, writing, reading, on_record, admin=admin)

        return make

    group = props.get("group.id", "")
    fenced = FencedWriter(topics["config"].name, props, f"connect-cluster-{group}")
    writes = MemberWrites(props, f"headrace-{group}-{member}", topics["config"].name)
    return Stores(
        config=ConfigStore(make_log("config", committed=True), fenced, topics["config"].name),
        status=StatusStore(make_log("status", committed=False)),
        offsets=OffsetStore(make_log("offsets", committed=True), writes, topics["offsets"].name),
        transactions=Transactions(group, member, fenced, writes, admin),
        prepare={name: lambda topic=topic: ensure(admin, topic, timeout_s, backoff_s) for name, topic in topics.items()},
    )


def _delivery_timeout(name: str) -> str:
    """States have to arrive some day, in order; what a caller waits for must not be written after it was told of a failure."""
    return str(2**31 - 1) if name == "status" else str(int(WRITE_TIMEOUT_S * 1000))


def _client_id(props: Mapping[str, str], topic: InternalTopic) -> str:
    """As Connect names its clients: the worker's client id, or its group, then what the topic is for."""
    what = {"offset": "offsets", "status": "statuses", "config": "configs"}[topic.setting.partition(".")[0]]
    return f"{props.get('client.id') or 'connect-' + props.get('group.id', '')}-{what}".replace("--", "-")
