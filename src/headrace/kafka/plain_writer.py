"""Writes without transactions, for a principal that may not use transactional ids: durable, but without fencing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from headrace.kafka import clients
from headrace.kafka.failures import timed_out
from headrace.kafka.groups import GroupOffsets

_TRANSACTIONS = ("transactional.id", "transaction.timeout.ms")

Record = tuple[str, bytes, bytes | None]
"""Topic, key, value."""


class DeliveryReports:
    """The delivery reports of one write."""

    def __init__(self) -> None:
        self.errors: list[KafkaError] = []
        self.ends: dict[int, int] = {}
        """Partition → the offset after its last record."""

    def add(self, error: KafkaError | None, message: Message) -> None:
        """Add a report: `on_delivery` of a producer."""
        if error is not None:
            self.errors.append(error)
        else:
            partition = message.partition() or 0
            self.ends[partition] = max(self.ends.get(partition, 0), (message.offset() or 0) + 1)


class PlainWriter:
    """Writes records and commits offsets of groups. Not thread-safe."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """props: Java settings of a producer; those of transactions are left out. Raises ConfigError."""
        self._props = {name: value for name, value in props.items() if name not in _TRANSACTIONS}
        self._producer: Producer = clients.producer(self._props, linger_ms="0")
        self._groups: dict[str, GroupOffsets] = {}

    def write(self, records: Sequence[Record], deadline: float) -> dict[int, int]:
        """Write records; returns, once acknowledged, the offset after the last of them by partition.

        deadline: of the monotonic clock. Raises KafkaException, RetriableKafkaFailure after the deadline: they may be written
        nevertheless.
        """
        reports = DeliveryReports()
        for topic, key, value in records:
            self._producer.produce(topic, value, key, on_delivery=reports.add)
        waiting = self._producer.flush(max(deadline - time.monotonic(), 0.1))
        if reports.errors:
            raise KafkaException(reports.errors[0])
        if waiting:
            raise timed_out(f"{waiting} records were not acknowledged in time.")
        return reports.ends

    def commit(self, offsets: Mapping[str, Mapping[tuple[str, int], int]], deadline: float) -> None:
        """Set committed offsets of groups. Raises KafkaFailure."""
        for group, group_offsets in offsets.items():
            if group not in self._groups:
                self._groups[group] = GroupOffsets(self._props, group)
            self._groups[group].write(group_offsets, max(deadline - time.monotonic(), 0.1))

    def stop(self) -> None:
        """Drop records in flight."""
        clients.purge(self._producer)
