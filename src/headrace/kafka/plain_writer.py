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
        failed: list[KafkaError] = []
        ends: dict[int, int] = {}

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                failed.append(error)
            else:
                partition = message.partition() or 0
                ends[partition] = max(ends.get(partition, 0), (message.offset() or 0) + 1)

        for topic, key, value in records:
            self._producer.produce(topic, value, key, on_delivery=delivered)
        waiting = self._producer.flush(max(deadline - time.monotonic(), 0.1))
        if failed:
            raise KafkaException(failed[0])
        if waiting:
            raise timed_out(f"{waiting} records were not acknowledged in time.")
        return ends

    def commit(self, offsets: Mapping[str, Mapping[tuple[str, int], int]], deadline: float) -> None:
        """Set committed offsets of groups. Raises KafkaFailure."""
        for group, group_offsets in offsets.items():
            if group not in self._groups:
                self._groups[group] = GroupOffsets(self._props, group)
            self._groups[group].write(group_offsets, max(deadline - time.monotonic(), 0.1))

    def stop(self) -> None:
        """Drop records in flight."""
        clients.purge(self._producer)
