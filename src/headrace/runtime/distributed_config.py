"""The configuration of a distributed worker: Kafka Connect's `DistributedConfig`."""

from __future__ import annotations

from typing import Any

from headrace.config import Importance, Type, option, validators
from headrace.config.types import invalid
from headrace.config.validators import Lambda, NonEmptyString
from headrace.errors import ConfigError
from headrace.runtime.worker_config import WorkerConfig

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
MAX_INT = 2**31 - 1
ALGORITHMS = {
    f"Hmac{name}": digest
    for name, digest in (
        ("MD5", "md5"),
        ("SHA1", "sha1"),
        ("SHA224", "sha224"),
        ("SHA256", "sha256"),
        ("SHA384", "sha384"),
        ("SHA512", "sha512"),
        ("SHA3-224", "sha3_224"),
        ("SHA3-256", "sha3_256"),
        ("SHA3-384", "sha3_384"),
        ("SHA3-512", "sha3_512"),
    )
}
"""Java's names of the signatures between workers → names of Python's hashlib."""


def _partitions(name: str, value: int | None) -> None:
    if value is not None and value != -1 and value < 1:
        raise invalid(name, value, "Number of partitions must be positive, or -1 to use the broker's default")


def _replication(name: str, value: int | None) -> None:
    if value is not None and value != -1 and value < 1:
        why = (
            "Replication factor must be positive and not larger than the number of brokers in the Kafka cluster, "
            "or -1 to use the broker's default"
        )
        raise invalid(name, value, why)


PARTITIONS = Lambda(_partitions, "Positive number, or -1 to use the broker's default")
REPLICATION = Lambda(
    _replication,
    "Positive number not larger than the number of brokers in the Kafka cluster, or -1 to use the broker's default",
)


def _algorithm(name: str, value: str) -> None:
    if value not in ALGORITHMS:
        names = ", ".join(ALGORITHMS)
        raise invalid(name, value, f"the algorithm is not supported by this worker; the supported algorithms are: [{names}]")


def _verification(name: str, value: list[str] | None) -> None:
    if not value:
        raise invalid(name, value or [], "At least one signature verification algorithm must be provided")
    for algorithm in value:
        _algorithm(name, algorithm)


def _protocol(name: str, value: str | None) -> None:
    if value is None or value.lower() not in ("eager", "compatible", "sessioned"):
        raise invalid(name, value, "Invalid Connect protocol compatibility")


ALGORITHM = Lambda(_algorithm, "one of " + ", ".join(ALGORITHMS))


def _topic(kind: str, content: str) -> Any:
    return option(f"{kind}.storage.topic", Type.STRING, importance=HIGH, doc=f"Topic that keeps {content}; compacted.")


def _topic_partitions(kind: str, default: int) -> Any:
    doc = f"Partitions of the {kind} topic when the worker creates it."
    return option(f"{kind}.storage.partitions", Type.INT, default, validator=PARTITIONS, importance=LOW, doc=doc)


def _topic_replication(kind: str) -> Any:
    doc = f"Replication factor of the {kind} topic when the worker creates it."
    return option(f"{kind}.storage.replication.factor", Type.SHORT, 3, validator=REPLICATION, importance=LOW, doc=doc)


def _ms(name: str, default: int, doc: str, importance: Importance = MEDIUM, **fields: Any) -> Any:
    return option(name, Type.INT, default, importance=importance, doc=doc + ", in ms.", **fields)


def _event_topic(kind: str, content: str) -> Any:
    doc = f"Topic that keeps {content}; by default the status topic's name with `-{kind}` behind it, empty: none, memory only."
    return option(f"{kind}.storage.topic", Type.STRING, None, importance=LOW, doc=doc)


def _retention(kind: str, days: int) -> Any:
    doc = f"How long the {kind} topic keeps what is in it, in ms, when the worker creates it."
    return option(f"{kind}.storage.retention.ms", Type.LONG, days * 86_400_000, importance=LOW, doc=doc)


class DistributedConfig(WorkerConfig):
    """A worker of a group that keeps configurations, offsets and statuses in Kafka topics."""

    internal_topics_creation: bool = option(
        "internal.topics.automatic.creation.enable", Type.BOOLEAN, True, importance=MEDIUM,
        doc="Whether the worker creates internal topics that are missing (KIP-1209); with `false` it ends instead.",
    )  # fmt: skip

    group_id: str = option(
        "group.id",
        Type.STRING,
        validator=NonEmptyString(),
        importance=HIGH,
        doc="Name of the group of workers; no consumer group of a sink connector may have the same.",
    )
    config_topic: str = _topic("config", "connector configurations")
    config_replication_factor: int = _topic_replication("config")
    offset_topic: str = _topic("offset", "source connector offsets")
    offset_partitions: int = _topic_partitions("offset", 25)
    offset_replication_factor: int = _topic_replication("offset")
    status_topic: str = _topic("status", "connector and task statuses, and active topics")
    status_partitions: int = _topic_partitions("status", 5)
    status_replication_factor: int = _topic_replication("status")
    history_topic: str | None = _event_topic("history", "the states of connectors and tasks, with their causes")
    history_retention_ms: int = _retention("history", 7)
    audit_topic: str | None = _event_topic("audit", "who changed what over REST or the page")
    audit_retention_ms: int = _retention("audit", 90)
    session_timeout_ms: int = _ms("session.timeout.ms", 10000, "When a silent worker counts as gone", HIGH)
    heartbeat_interval_ms: int = _ms("heartbeat.interval.ms", 3000, "How often a worker shows that it is alive", HIGH)
    rebalance_timeout_ms: int = _ms("rebalance.timeout.ms", 60000, "How long workers may take to rejoin the group", HIGH)
    worker_sync_timeout_ms: int = _ms("worker.sync.timeout.ms", 3000, "How long to wait for the config topic to be read")
    worker_unsync_backoff_ms: int = _ms(
        "worker.unsync.backoff.ms",
        300000,
        "How long a worker stays out of the group after it could not catch up",
        without_effect="a worker that cannot read the config topic stays in the group and reads on",
    )
    connect_protocol: str = option(
        "connect.protocol",
        Type.STRING,
        "sessioned",
        validator=Lambda(_protocol, "[eager, compatible, sessioned]"),
        importance=LOW,
        doc="Shown in the metrics; workers share work and sign their internal requests (KIP-507) in the same way with each.",
    )
    rebalance_delay_ms: int = _ms(
        "scheduled.rebalance.max.delay.ms",
        300000,
        "How long the work of a worker that left waits for its return",
        LOW,
        without_effect="the tasks of a worker that is gone wait for its return for session.timeout.ms",
        validator=validators.Range(0, MAX_INT),
    )
    exactly_once_source_support: str = option(
        "exactly.once.source.support",
        Type.STRING,
        "disabled",
        validator=validators.CaseInsensitiveValidString("disabled", "enabled", "preparing"),
        importance=HIGH,
        doc="Whether source connectors may write exactly once (KIP-618); to switch it on, restart all workers with "
        "`preparing`, then all with `enabled`.",
    )
    key_generation_algorithm: str = option(
        "inter.worker.key.generation.algorithm",
        Type.STRING,
        "HmacSHA256",
        validator=ALGORITHM,
        importance=LOW,
        doc="Algorithm of the keys that sign requests between workers.",
    )
    key_size: int | None = option(
        "inter.worker.key.size",
        Type.INT,
        None,
        importance=LOW,
        doc="Size of these keys in bits; null: the algorithm's own.",
    )
    key_ttl_ms: int = _ms(
        "inter.worker.key.ttl.ms", 3600000, "How long such a key is used", LOW, validator=validators.Range(0, MAX_INT)
    )
    signature_algorithm: str = option(
        "inter.worker.signature.algorithm",
        Type.STRING,
        "HmacSHA256",
        validator=ALGORITHM,
        importance=LOW,
        doc="Algorithm that signs requests between workers.",
    )
    verification_algorithms: list[str] = option(
        "inter.worker.verification.algorithms",
        Type.LIST,
        ["HmacSHA256"],
        validator=Lambda(_verification, "one or more of " + ", ".join(ALGORITHMS)),
        importance=LOW,
        doc="Algorithms accepted on requests from other workers; has to contain `inter.worker.signature.algorithm`.",
    )
    client_id: str = option("client.id", Type.STRING, "", importance=LOW, doc="Name of the worker in the broker's logs.")
    request_timeout_ms: int = _ms(
        "request.timeout.ms", 40000, "How long to wait for the answer of a broker", validator=validators.Range(0)
    )
    retry_backoff_ms: int = option(
        "retry.backoff.ms",
        Type.LONG,
        100,
        validator=validators.Range(0),
        importance=LOW,
        doc="Pause before a failed request to a broker is repeated, in ms.",
    )

    def check(self) -> None:
        """Check rules between options; raises ConfigError in Kafka's words."""
        super().check()
        if self.signature_algorithm not in self.verification_algorithms:
            raise invalid(
                "inter.worker.signature.algorithm",
                self.signature_algorithm,
                "Signature algorithm must be present in inter.worker.verification.algorithms list",
            )
        if self.key_size is not None and self.key_size < 40:
            raise ConfigError(
                f"Unable to create key generator with algorithm {self.key_generation_algorithm} and key size "
                f"{self.key_size}: Key length must be at least 40 bits"
            )

    @property
    def exactly_once_enabled(self) -> bool:
        """Whether source connectors may run exactly once on this worker."""
        return self.exactly_once_source_support.lower() == "enabled"

    @property
    def transactional_leader_enabled(self) -> bool:
        """Whether the leader of a group of Kafka Connect would write in transactions."""
        return self.exactly_once_source_support.lower() in ("enabled", "preparing")

    @property
    def worker_group(self) -> str | None:
        """`group.id`; a standalone worker has none."""
        return self.group_id
