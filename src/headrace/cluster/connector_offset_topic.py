"""Source offsets in the worker's topic or in a connector's own topic (KIP-618).

An own topic takes precedence; the worker's topic has a copy, which is read for missing offsets, and may be behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from weakref import WeakValueDictionary

import structlog

from headrace.background import in_background
from headrace.cluster.offset_records import identity
from headrace.cluster.offset_store import KafkaOffsetStore, Offsets
from headrace.connectors.base import Props, SourceOffset, SourcePartition
from headrace.errors import HeadraceError, RetriableError
from headrace.kafka.group_transactions import GroupMetadata

log = structlog.get_logger(__name__)

# How long a store may take to start: a crashed source task may leave a transaction with offsets open for a minute
# (`transaction.timeout.ms`); brokers check for such transactions every ten seconds.
START_S = 100.0
_UNUSED_S = 600.0
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


@dataclass
class _Opened:
    """The store of an own topic, once it is started."""

    store: Future[KafkaOffsetStore]
    used_s: float = 0.0
    """When it was last asked for, by time.monotonic."""


class OffsetStores:
    """Returns the offset store of a connector; an own topic is created, and read to its end, at the first request.

    A store is closed when nobody has it any more, and it was not asked for in a while: the connector was deleted, or has other
    client settings now. Every method may be called from any thread.
    """

    def __init__(
        self, shared: KafkaOffsetStore, topic_of: Callable[[Props], OwnTopic | None], unused_s: float = _UNUSED_S
    ) -> None:
        """topic_of: returns, for a connector's resolved configuration, the identity of its own topic, and a function that
        creates it and its store, which is started here; None if it uses the worker's topic. unused_s: how long a store stays
        open for the next request.
        """
        self.shared, self._own, self._unused_s = shared, topic_of, unused_s
        self._opened: dict[tuple[str, ...], _Opened] = {}
        self._in_use: WeakValueDictionary[tuple[str, ...], ConnectorOffsetTopic] = WeakValueDictionary()
        self._lock = threading.Lock()
        self._stopped = False

    def of(self, config: Props) -> KafkaOffsetStore | ConnectorOffsetTopic:
        """The store of a connector with this configuration. Raises ConfigError, ConnectError, RetriableError."""
        topic = self._own(config)
        unused = self._take_unused(None if topic is None else topic[0])
        if unused:
            in_background(lambda: _stop(unused), "stop-offsets")
        if topic is None:
            return self.shared
        while True:
            store = self._open(*topic)
            if store is not None:
                return store

    def _open(self, key: tuple[str, ...], make: Callable[[], KafkaOffsetStore]) -> ConnectorOffsetTopic | None:
        """The store of this key; None if it was closed before this caller got it."""
        with self._lock:
            self._require_running()
            is_first = key not in self._opened
            opened = self._opened.setdefault(key, _Opened(Future()))
        if is_first:  # without the lock: its cluster may be away, and other connectors have other clusters
            self._start(key, opened, make)
        store = opened.store.result()
        with self._lock:
            self._require_running()
            if self._opened.get(key) is not opened:
                return None
            opened.used_s = time.monotonic()
            return self._in_use.setdefault(key, ConnectorOffsetTopic(store, self.shared))

    def _start(self, key: tuple[str, ...], opened: _Opened, make: Callable[[], KafkaOffsetStore]) -> None:
        try:
            store = make()
            try:
                store.start(START_S)
                with self._lock:
                    self._require_running()
                    opened.used_s = time.monotonic()
                    opened.store.set_result(store)
            except BaseException:
                store.stop()  # its clients, and the thread that reads, go on otherwise
                raise
        except BaseException as error:
            with self._lock:
                self._opened.pop(key, None)
            opened.store.set_exception(error)

    def _require_running(self) -> None:
        if self._stopped:
            raise RetriableError("The worker is being stopped.")

    def _take_unused(self, wanted: tuple[str, ...] | None) -> list[KafkaOffsetStore]:
        """Forget the stores that nobody uses, but for the wanted one; returns them."""
        before = time.monotonic() - self._unused_s
        with self._lock:
            unused = [
                key
                for key, opened in self._opened.items()
                if opened.store.done() and opened.used_s <= before and key != wanted and key not in self._in_use
            ]
            return [self._opened.pop(key).store.result() for key in unused]

    def stop(self) -> None:
        """Close the stores that were opened; one that is being started is closed by its caller."""
        with self._lock:
            self._stopped = True
            stores = [opened.store.result() for opened in self._opened.values() if opened.store.done()]
            self._opened.clear()
        _stop(stores)


def _stop(stores: Iterable[KafkaOffsetStore]) -> None:
    for store in stores:
        store.stop()
