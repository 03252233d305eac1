"""Source topics: created, and filled by Kafka's own ProducerPerformance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.java import java
from benchmarks.process import BenchmarkError, Child

PARTITIONS = 2


def create_topic(broker: str, topic: str, partitions: int = PARTITIONS) -> None:
    """Create `topic` with one replica."""
    create_topics(broker, [topic], partitions)


def create_topics(broker: str, topics: Sequence[str], partitions: int = PARTITIONS) -> None:
    """Create topics with one replica, a hundred with each request."""
    admin = AdminClient({"bootstrap.servers": broker, "log_level": 4})
    for first in range(0, len(topics), 100):
        new = [NewTopic(topic, partitions, 1) for topic in topics[first : first + 100]]
        for future in admin.create_topics(new, operation_timeout=60).values():
            future.result(60)


def delete_topics(broker: str, suffix: str) -> None:
    """Delete the topics whose names end so."""
    admin = AdminClient({"bootstrap.servers": broker, "log_level": 4})
    topics = [topic for topic in admin.list_topics(timeout=60).topics if topic.endswith(suffix)]
    for future in admin.delete_topics(topics, operation_timeout=60).values() if topics else ():
        future.result(90)


def write(broker: str, topics: Sequence[str], value: bytes) -> None:
    """Write a record with this value to each topic."""
    producer = Producer({"bootstrap.servers": broker, "acks": "all", "log_level": 4})
    for topic in topics:
        producer.produce(topic, value)
    if producer.flush(60):
        raise BenchmarkError("Not every topic could be written to within a minute.")


def fill(broker: str, topic: str, records: int, size: int, log: Path, partitions: int = PARTITIONS) -> str:
    """Create `topic` and write to it as `append` does; returns what that returns."""
    create_topic(broker, topic, partitions)
    return append(broker, topic, records, size, log)


def append(broker: str, topic: str, records: int, size: int, log: Path) -> str:
    """Write `records` records of `size` random bytes (no key, no headers) to a topic.

    Returns the loader's own summary: records/s and its latencies. The partitions come out equal: the partitioner goes
    round them by size. The producer's settings are Kafka's defaults, so the batches are those of an ordinary producer.
    """
    properties = (f"bootstrap.servers={broker}", "acks=1", "partitioner.adaptive.partitioning.enable=false")
    child = Child(
        f"ProducerPerformance ({topic})",
        [
            *java(["-Xmx512M", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]),
            "org.apache.kafka.tools.ProducerPerformance",
            *("--topic", topic, "--num-records", str(records), "--record-size", str(size), "--throughput", "-1"),
            *("--command-property", *properties),
        ],
        log,
    )
    summary = child.wait(600).strip().splitlines()[-1]
    os.sync()  # the write-back of the load must not run into a measurement
    return summary
