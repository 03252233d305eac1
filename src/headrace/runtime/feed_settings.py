"""The settings of a lane's clients. Feeds with equal settings share lanes: settings of a single task are left out."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.config.client_options import client_value
from headrace.runtime.plan import is_default_client_id
from headrace.spark.kafka import ONE_REQUEST, with_api_timeout
from headrace.spark.topic_writer import PRODUCER

# A lane assigns, seeks and stores offsets itself.
_OWN = {
    "enable.auto.commit": "false",
    "auto.offset.reset": "none",
    "allow.auto.create.topics": "false",
}
_CONSUMER = {
    # How long a broker keeps a request that it has nothing for; a partition that is added waits for its end (Kafka: 500).
    "fetch.max.wait.ms": "250",
    # A poll is to take all that a broker gives of a partition (1 MiB): what is left makes the next request be one for the other
    # partitions only, which a broker keeps for as long as they have nothing. One busy feed among thirty idle ones copied
    # 47,000 records of 200 bytes in a second with Kafka's way, and copies 300,000.
    "max.poll.records": "20000",
    # One poll beyond a lane's limit of bytes in flight (32 MiB) has to fit into `buffer.memory` below.
    "fetch.max.bytes": str(16 << 20),
}
_NOT_FOR_CONSUMER = {"group.id", "group.instance.id", "key.deserializer", "value.deserializer", *_OWN}
_BUFFER_BYTES = 64 << 20
_PRODUCER = {
    **PRODUCER,
    **ONE_REQUEST,
    # With one request in flight batches fill while the one before is on its way.
    "linger.ms": "0",
    "buffer.memory": str(_BUFFER_BYTES),
    # What sends wait for holds up all feeds of the lane, also where the producer is one feed's own (exactly once).
    "max.block.ms": "2000",
}
_CALLED = ("partitioner.class", "interceptor.classes")
_NOT_FOR_PRODUCER = {"key.serializer", "value.serializer", "transactional.id"}


def lane_consumer(settings: Mapping[str, str]) -> dict[str, str]:
    """Java consumer settings of a lane, from those of a task."""
    chosen = {k: v for k, v in settings.items() if k not in _NOT_FOR_CONSUMER}
    if is_default_client_id(chosen.get("client.id", "")):
        del chosen["client.id"]
    return {**_CONSUMER, **with_api_timeout(chosen), **_OWN}


def batch_limit(producer: Mapping[str, str], partitions: int, lanes: int) -> int | None:
    """The largest `batch.size` in bytes of a feed with so many partitions, spread over so many lanes; None: the user has set one.

    A producer takes a whole batch of `buffer.memory` for each partition that it has records for. A feed whose topics accept no
    records keeps them, and leaves half of the memory to the lane's other feeds. A power of two: few settings make few lanes. Only
    feeds with the same setting share a lane with one whose user has set it.
    """
    if {**PRODUCER, **producer}["batch.size"] != PRODUCER["batch.size"]:
        return None
    return 1 << ((_BUFFER_BYTES // 2 // max(1, -(-partitions // lanes))).bit_length() - 1)


def lane_producer(settings: Mapping[str, str], batch_bytes: int | None) -> dict[str, str]:
    """Java producer settings of a lane, from those of a task (`headrace.runtime.plan.TaskPlan.producer`).

    batch_bytes: the largest batch that the task's topics accept, None: no limit known.
    """
    chosen = {k: v for k, v in settings.items() if k not in _NOT_FOR_PRODUCER}
    if is_default_client_id(chosen.get("client.id", "")):
        del chosen["client.id"]
    merged = {**_PRODUCER, **chosen}
    return merged if batch_bytes is None else {**merged, "batch.size": str(min(batch_bytes, int(merged["batch.size"])))}


def has_own_code(*clients: Mapping[str, str]) -> bool:
    """Whether clients with these settings call classes of a user for each record, which may throw or take long."""
    names = [name.strip() for client in clients for key in _CALLED for name in client.get(key, "").split(",")]
    return any(name and not name.startswith("org.apache.kafka.") for name in names)


def commit_interval_ms(boundary_ms: int | None, producer: Mapping[str, str]) -> int:
    """How long a transaction of a lane gathers records, 0: no longer than there are records to read.

    boundary_ms: that of `transaction.boundary=interval`; no more than half of the `transaction.timeout.ms` of these producer
    settings, after which brokers abort a transaction: its records would be read again and again.
    """
    return min(boundary_ms, client_value("producer", producer, "transaction.timeout.ms") // 2) if boundary_ms else 0
