"""Source offsets of connectors, each in the topic that it belongs to: the worker's, or the connector's own (KIP-618).

An own topic comes first; the worker's holds a copy, which is read where the own one has nothing, and may lag behind.
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
Own = tuple[tuple[str, ...], Callable[[], KafkaOffsetStore]]


class ConnectorOffsetTopic:
    """The offsets of connectors whose topic is another one than the worker's. Every method may be called from any thread."""

    def __init__(self, own: KafkaOffsetStore, shared: KafkaOffsetStore) -> None:
        self._own, self._shared = own, shared
        self.topic = own.topic

    def get(self, connector: str, partitions: Sequence[SourcePartition]) -> list[tuple[SourcePartition, SourceOffset | None]]:
        """The stored offsets of these partitions, None where there is none. Raises RetriableError."""
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
        if removed:  # first: else what was removed would be read from the copy
            self._shared.put(connector, removed, group_metadata)
        self._own.put(connector, offsets, group_metadata)
        self.copy_offsets(connector, [(p, o) for p, o in offsets if o is not None], group_metadata)

    def records(self, connector: str, offsets: Offsets) -> list[list[Entry]]:
        """See OffsetStore.records."""
        return self._own.records(connector, offsets)

    def copy_offsets(self, connector: str, offsets: Offsets, group_metadata: GroupMetadata = lambda: None) -> None:
        """Copy offsets that are stored in the own topic to the worker's; that it fails is only logged."""
        try:
            if offsets:
                self._shared.put(connector, offsets, group_metadata)
        except HeadraceError as error:
            log.warning("offsets.copy.failed", connector=connector, cause=str(error))


class OffsetStores:
    """Finds the store of a connector; a topic of its own is created, and read to its end, at the first request for it."""

    def __init__(self, shared: KafkaOffsetStore, own: Callable[[Props], Own | None]) -> None:
        """own: from a connector's resolved configuration to what distinguishes its topic from others, and how its store is made
        and started; None if it is the worker's.
        """
        self.shared, self._own = shared, own
        self._made: dict[tuple[str, ...], KafkaOffsetStore] = {}
        self._making = threading.Lock()

    def of(self, config: Props) -> KafkaOffsetStore | ConnectorOffsetTopic:
        """The store of a connector with this configuration. Raises ConfigError, ConnectError, RetriableError."""
        topic = self._own(config)
        if topic is None:
            return self.shared
        key, make = topic
        with self._making:
            if key not in self._made:
                self._made[key] = make()
            return ConnectorOffsetTopic(self._made[key], self.shared)

    def stop(self) -> None:
        """Close the stores that were opened."""
        with self._making:
            for store in self._made.values():
                store.stop()
            self._made.clear()
