"""Source offsets in the worker's topic or in a connector's own topic (KIP-618).

An own topic takes precedence; the worker's topic has a copy, which is read for missing offsets, and may be behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import structlog

from headrace.cluster.offset_records import identity
from headrace.cluster.offset_store import KafkaOffsetStore, Offsets
from headrace.connectors.base import Props, SourceOffset, SourcePartition
from headrace.errors import HeadraceError
from headrace.kafka.group_transactions import GroupMetadata

log = structlog.get_logger(__name__)

OWN_TOPIC = "offsets.storage.topic"
Entry = tuple[str, bytes, bytes | None]
OwnTopic = tuple[tuple[str, ...], Callable[[], KafkaOffsetStore]]


class ConnectorOffsetTopic:
    """The offsets of connectors with an own offset topic. Every method may be called from any thread."""

    def __init__(self, own: KafkaOffsetStore, shared: KafkaOffsetStore) -> None:
        self._own, self._shared = own, shared
        self.topic = own.topic

    def get(self, connector: str, partitions: Sequence[SourcePartition]) -> list[tuple[SourcePartition, SourceOffset | None]]:
        """The stored offsets of these partitions, None if there is none. Raises RetriableError."""
        offsets = self._own.get(connector, partitions)
        missing = [partition for partition, offset in offsets if offset is None]
        if not missing:
            return offsets
        shared = {identity(p): o for p, o in self._shared.get(connector, missing)}
        return [(p, shared.get(identity(p)) if o is None else o) for p, o in offsets]

    def all(self, connector: str, answer_s: float | None = None) -> list[tuple[SourcePartition, SourceOffset]]:
        """Every stored offset of the connector. Raises RetriableError as `KafkaOffsetStore.all` does, of either topic."""
        by_partition = {identity(p): (p, o) for p, o in self._shared.all(connector, answer_s)}
        by_partition |= {identity(p): (p, o) for p, o in self._own.all(connector, answer_s)}
        return list(by_partition.values())

    def put(self, connector: str, offsets: Offsets, group_metadata: GroupMetadata = lambda: None) -> None:
        """Store offsets, None removes one; durable in the own topic when this returns. Raises DataError, KafkaFailure."""
        removed = [(p, o) for p, o in offsets if o is None]
        if removed:  # first: else removed offsets would be read from the copy
            self._shared.put(connector, removed, group_metadata)
        self._own.put(connector, offsets, group_metadata)
        self.copy_offsets(connector, [(p, o) for p, o in offsets if o is not None], group_metadata)

    def records(self, connector: str, offsets: Offsets) -> list[list[Entry]]:
        """The records that store each of these offsets (see `OffsetStore.records`)."""
        return self._own.records(connector, offsets)

    def copy_offsets(self, connector: str, offsets: Offsets, group_metadata: GroupMetadata = lambda: None) -> None:
        """Copy offsets from the own topic to the worker's; a failure is only logged."""
        try:
            if offsets:
                self._shared.put(connector, offsets, group_metadata)
        except HeadraceError as error:
            log.warning("offsets.copy.failed", connector=connector, cause=str(error))


class OffsetStores:
    """Returns the offset store of a connector; an own topic is created, and read to its end, at the first request."""

    def __init__(self, shared: KafkaOffsetStore, topic_of: Callable[[Props], OwnTopic | None]) -> None:
        """topic_of: returns, for a connector's resolved configuration, the identity of its own topic, and a function that
        creates and starts its store; None if it uses the worker's topic.
        """
        self.shared, self._own = shared, topic_of
        self._stores: dict[tuple[str, ...], KafkaOffsetStore] = {}
        self._lock = threading.Lock()

    def of(self, config: Props) -> KafkaOffsetStore | ConnectorOffsetTopic:
        """The store of a connector with this configuration. Raises ConfigError, ConnectError, RetriableError."""
        topic = self._own(config)
        if topic is None:
            return self.shared
        key, make = topic
        with self._lock:
            if key not in self._stores:
                self._stores[key] = make()
            return ConnectorOffsetTopic(self._stores[key], self.shared)

    def stop(self) -> None:
        """Close the stores that were opened."""
        with self._lock:
            for store in self._stores.values():
                store.stop()
            self._stores.clear()
