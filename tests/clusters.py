"""Records in and out of a real cluster, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from headrace.errors import RetriableError
from headrace.kafka.admin import Admin
from tests.support import wait_until

Headers = list[tuple[str, bytes | None]]


class Sent(NamedTuple):
    """A record as a test sees it; timestamp in ms."""

    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: int
    partition: int


def record(
    key: bytes | None = None, value: bytes | None = b"v", headers: Headers | None = None,
    timestamp: int = 1_700_000_000_000, partition: int = 0,
) -> Sent:  # fmt: skip
    return Sent(key, value, headers or [], timestamp, partition)


class Cluster:
    """A cluster that tests write to and read from."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.admin = Admin({"bootstrap.servers": bootstrap})
        self.client = AdminClient({"bootstrap.servers": bootstrap})  # for what headrace itself has no use for

    def create(self, topic: str, partitions: int = 1, configs: dict[str, str] | None = None) -> None:
        self.admin.create(topic, partitions, 1, {"retention.ms": "-1", **(configs or {})}, timeout_s=120)

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions, and wait until they have leaders."""
        for future in self.client.create_partitions([NewPartitions(topic, partitions)]).values():
            future.result(120)
        wait_until(lambda: self._has_leaders(topic, partitions), 120, f"{partitions} partitions of {topic}")

    def alter(self, topic: str, settings: Mapping[str, str]) -> None:
        """Set settings of a topic, and wait until they are shown: Kafka answers before every thread of a broker knows them."""
        self.admin.alter(topic, settings)
        self.await_settings(topic, settings)

    def await_settings(self, topic: str, settings: Mapping[str, str]) -> None:
        """Wait until a topic is shown with these settings of its own, whoever has set them."""
        shown = lambda: self.admin.topic_configs(topic, own_only=True)  # noqa: E731
        wait_until(lambda: settings.items() <= shown().items(), 120, lambda: f"{topic} with {settings}: {shown()}")

    def _has_leaders(self, topic: str, partitions: int) -> bool:
        info = self.admin.describe(topic)
        return info is not None and len(info.partitions) == partitions and None not in info.partitions.values()

    def produce(self, topic: str, records: Iterable[Sent], settings: dict[str, object] | None = None) -> None:
        """Write, and return when everything is acknowledged; order is kept."""
        config = {"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "message.max.bytes": 20_000_000}
        producer, failures = Producer({**config, **(settings or {})}), []

        def done(error: object, _message: object) -> None:
            if error:
                failures.append(error)

        for r in records:
            while True:
                try:
                    producer.produce(topic, key=r.key, value=r.value, headers=[*r.headers], timestamp=r.timestamp,
                                     partition=r.partition, on_delivery=done)  # fmt: skip
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(120) == 0
        assert not failures

    def delete_before(self, topic: str, offset: int) -> None:
        """Delete the records of partition 0 before this offset, as retention does."""
        future = self.client.delete_records([TopicPartition(topic, 0, offset)])
        for one in future.values():
            one.result(120)

    def await_empty_group(self, group: str) -> None:
        """Wait until the last member is gone; static members, as our workers are, stay for the session time-out."""

        def empty() -> bool:
            found = self.client.describe_consumer_groups([group])[group].result(120)
            return not found.members

        wait_until(empty, 180, f"group {group} has no member")

    def size(self, topic: str) -> int:
        """The number of records by end offsets; 0 if there is no such topic, or it is so new that it has no leader."""
        info = self.admin.describe(topic)
        partitions = [(topic, p) for p in info.partitions] if info else []
        try:
            return sum(self.admin.partition_offsets(partitions, "latest").values())
        except RetriableError:
            return 0

    def read(self, topic: str, *, settled: bool = False) -> list[Sent]:
        """All records now in a topic, partition by partition in their order.

        settled: wait until transactions in it have ended first: one that is committed is so in each partition a little later.
        """
        info = self.admin.describe(topic)
        if info is None:
            return []
        ends = self.admin.partition_offsets([(topic, p) for p in info.partitions], "latest")

        def ended() -> bool:
            stable = self.admin.partition_offsets(ends, "latest", read_committed=True)
            return all(stable[partition] >= end for partition, end in ends.items())

        if settled:
            wait_until(ended, 180, f"the transactions in {topic} end")
        config = {"bootstrap.servers": self.bootstrap, "group.id": "reader", "enable.partition.eof": True}
        consumer = Consumer({**config, "enable.auto.commit": False, "fetch.message.max.bytes": 20_000_000})
        consumer.assign([TopicPartition(topic, p, 0) for p in info.partitions])
        found: list[Sent] = []
        open_partitions = {p for (_, p), end in ends.items() if end > 0}
        while open_partitions:
            message = consumer.poll(120)
            assert message is not None, f"no answer while reading {topic}"
            if message.error():
                open_partitions.discard(message.partition())
                continue
            headers: Any = message.headers() or []
            partition: Any = message.partition()
            if partition not in open_partitions:
                continue
            offset: Any = message.offset()
            if offset + 1 >= ends[topic, partition]:  # there may be no end to come, while others write
                open_partitions.discard(partition)
            found.append(Sent(message.key(), message.value(), headers, message.timestamp()[1], partition))
        consumer.close()
        return sorted(found, key=lambda r: r.partition)

    @contextmanager
    def member(self, group: str, topic: str) -> Iterator[None]:
        """Be the one member of a consumer group on a topic for a while."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": group, "enable.auto.commit": False})
        consumer.subscribe([topic])
        try:
            wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), 180, f"a member of {group}")
            yield
        finally:
            consumer.close()
