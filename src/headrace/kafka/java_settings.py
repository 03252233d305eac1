"""The settings of Kafka's Java clients that librdkafka has too, and how their names, values and ranges differ.

Sources: the configuration references of Kafka's consumer, producer and admin client, and librdkafka's CONFIGURATION.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headrace.config.types import comma_separated
from headrace.errors import ConfigError

MAX_INT = 2**31 - 1
CONSUMER, PRODUCER, ADMIN = "consumer", "producer", "admin"
EVERY = (CONSUMER, PRODUCER, ADMIN)

Translation = Callable[[str, str], dict[str, str]]
"""(Java name, value as text) -> librdkafka settings; raises ConfigError."""


@dataclass(frozen=True)
class JavaSetting:
    """One setting of the Java clients, and its translation."""

    roles: tuple[str, ...]
    """Of the clients that have it: consumer, producer, admin."""
    translate: Translation


def _copied_to(*names: str) -> Translation:
    return lambda java, value: dict.fromkeys(names or (java,), value.strip())


def _number(name: str | None, low: int, high: int, divisor: int = 1) -> Translation:
    """A whole number, moved into the range that librdkafka accepts."""

    def translate(java: str, value: str) -> dict[str, str]:
        try:
            number = int(value.strip())
        except ValueError:
            raise ConfigError.invalid(java, value, "Not a number of type INT") from None
        return {name or java: str(min(max(number // divisor, low), high))}

    return translate


def _servers(java: str, value: str) -> dict[str, str]:
    return {java: ",".join(comma_separated(value))}


def _milliseconds_metadata(java: str, value: str) -> dict[str, str]:
    age = _number(None, 1, 86_400_000)(java, value)[java]
    return {java: age, "topic.metadata.refresh.interval.ms": str(min(int(age), 3_600_000))}


def _fetch_max_bytes(java: str, value: str) -> dict[str, str]:
    """`fetch.max.bytes` may not be below `message.max.bytes`, nor near `receive.message.max.bytes`, in librdkafka."""
    size = int(_number(None, 1_000_000, 1_000_000_000)(java, value)[java])
    return {java: str(size), "receive.message.max.bytes": str(max(size + 1024, 100_000_000))}


def _offset_reset(java: str, value: str) -> dict[str, str]:
    policies = {"earliest": "earliest", "latest": "latest", "none": "error"}
    try:
        return {java: policies[value.strip().lower()]}
    except KeyError:
        raise ConfigError.invalid(java, value, "must be one of: earliest, latest, none") from None


_ASSIGNORS = {"RangeAssignor": "range", "RoundRobinAssignor": "roundrobin", "CooperativeStickyAssignor": "cooperative-sticky"}


def _assignors(java: str, value: str) -> dict[str, str]:
    """Keep the assignors that librdkafka has; it cannot mix eager ones with the cooperative one."""
    simple = [name.strip().rpartition(".")[2] for name in value.split(",")]
    assignors = [_ASSIGNORS[name] for name in simple if name in _ASSIGNORS]
    eager = [name for name in assignors if name != "cooperative-sticky"]
    return {java: ",".join(eager or assignors)} if assignors else {}


def _partitioner(_java: str, value: str) -> dict[str, str]:
    return {"partitioner": "random"} if value.strip().endswith("RoundRobinPartitioner") else {}


def _compression_level(codec: str) -> Translation:
    """The level applies only if this codec is used, so it has a name of its own until then. Java's zstd has more levels."""
    return _number(f"{codec}:compression.level", -1, 12)


_TIMES = (0, MAX_INT)

SETTINGS: Mapping[str, JavaSetting] = {
    "bootstrap.servers": JavaSetting(EVERY, _servers),
    "client.dns.lookup": JavaSetting(EVERY, _copied_to()),
    "client.id": JavaSetting(EVERY, _copied_to()),
    "client.rack": JavaSetting((CONSUMER,), _copied_to()),
    "connections.max.idle.ms": JavaSetting(EVERY, _number(None, *_TIMES)),
    "enable.metrics.push": JavaSetting(EVERY, _copied_to()),
    "metadata.max.age.ms": JavaSetting(EVERY, _milliseconds_metadata),
    "metadata.recovery.strategy": JavaSetting(EVERY, _copied_to()),
    "metadata.recovery.rebootstrap.trigger.ms": JavaSetting(EVERY, _number(None, *_TIMES)),
    "receive.buffer.bytes": JavaSetting(EVERY, _number("socket.receive.buffer.bytes", 0, 100_000_000)),
    "send.buffer.bytes": JavaSetting(EVERY, _number("socket.send.buffer.bytes", 0, 100_000_000)),
    "reconnect.backoff.ms": JavaSetting(EVERY, _number(None, 0, 3_600_000)),
    "reconnect.backoff.max.ms": JavaSetting(EVERY, _number(None, 0, 3_600_000)),
    "request.timeout.ms": JavaSetting(EVERY, _number("socket.timeout.ms", 10, 300_000)),
    "retry.backoff.ms": JavaSetting(EVERY, _number(None, 1, 300_000)),
    "retry.backoff.max.ms": JavaSetting(EVERY, _number(None, 1, 300_000)),
    "socket.connection.setup.timeout.ms": JavaSetting(EVERY, _number(None, 1000, MAX_INT)),
    # consumer
    "allow.auto.create.topics": JavaSetting((CONSUMER,), _copied_to()),
    "auto.commit.interval.ms": JavaSetting((CONSUMER,), _number(None, 0, 86_400_000)),
    "auto.offset.reset": JavaSetting((CONSUMER,), _offset_reset),
    "check.crcs": JavaSetting((CONSUMER,), _copied_to()),
    "enable.auto.commit": JavaSetting((CONSUMER,), _copied_to()),
    "fetch.max.bytes": JavaSetting((CONSUMER,), _fetch_max_bytes),
    "fetch.max.wait.ms": JavaSetting((CONSUMER,), _number("fetch.wait.max.ms", 0, 300_000)),
    "fetch.min.bytes": JavaSetting((CONSUMER,), _number(None, 1, 100_000_000)),
    "group.id": JavaSetting((CONSUMER,), _copied_to()),
    "group.instance.id": JavaSetting((CONSUMER,), _copied_to()),
    "group.protocol": JavaSetting((CONSUMER,), _copied_to()),
    "group.remote.assignor": JavaSetting((CONSUMER,), _copied_to()),
    "heartbeat.interval.ms": JavaSetting((CONSUMER,), _number(None, 1, 3_600_000)),
    "isolation.level": JavaSetting((CONSUMER,), _copied_to()),
    "max.partition.fetch.bytes": JavaSetting((CONSUMER,), _number(None, 1, 1_000_000_000)),
    "max.poll.interval.ms": JavaSetting((CONSUMER,), _number(None, 1, 86_400_000)),
    "partition.assignment.strategy": JavaSetting((CONSUMER,), _assignors),
    "session.timeout.ms": JavaSetting((CONSUMER,), _number(None, 1, 3_600_000)),
    # producer
    "acks": JavaSetting((PRODUCER,), _copied_to()),
    "batch.size": JavaSetting((PRODUCER,), _number(None, 1, MAX_INT)),
    "buffer.memory": JavaSetting((PRODUCER,), _number("queue.buffering.max.kbytes", 1, MAX_INT, divisor=1024)),
    "compression.type": JavaSetting((PRODUCER,), _copied_to()),
    "compression.gzip.level": JavaSetting((PRODUCER,), _compression_level("gzip")),
    "compression.lz4.level": JavaSetting((PRODUCER,), _compression_level("lz4")),
    "compression.zstd.level": JavaSetting((PRODUCER,), _compression_level("zstd")),
    "delivery.timeout.ms": JavaSetting((PRODUCER,), _number(None, *_TIMES)),
    "enable.idempotence": JavaSetting((PRODUCER,), _copied_to()),
    "linger.ms": JavaSetting((PRODUCER,), _number(None, 0, 900_000)),
    "max.in.flight.requests.per.connection": JavaSetting((PRODUCER,), _number(None, 1, 1_000_000)),
    "max.request.size": JavaSetting((PRODUCER,), _number("message.max.bytes", 1000, 1_000_000_000)),
    "partitioner.class": JavaSetting((PRODUCER,), _partitioner),
    "retries": JavaSetting((PRODUCER,), _number(None, 0, MAX_INT)),
    "transaction.timeout.ms": JavaSetting((PRODUCER,), _number(None, 1000, MAX_INT)),
    "transactional.id": JavaSetting((PRODUCER,), _copied_to()),
}
