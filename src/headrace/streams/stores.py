"""State stores: kind, retention and changelog. `Stores` is the factory, as Kafka's `Stores`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from headrace.errors import ArgumentError, ConfigError
from headrace.streams.arguments import check_fields
from headrace.streams.durations import Duration, as_java, milliseconds
from headrace.streams.serdes import Serde


class StoreType(StrEnum):
    """The type of stores without a supplier: `default.dsl.store`."""

    ROCKS_DB = "rocksDB"
    IN_MEMORY = "in_memory"

    @property
    def persistent(self) -> bool:
        """Whether it is on disk."""
        return self is StoreType.ROCKS_DB


class StoreKind(StrEnum):
    """The kind of a store, which decides the format of its changelog."""

    KEY_VALUE = "key-value"
    VERSIONED = "versioned"
    WINDOW = "window"
    SESSION = "session"
    BUFFER = "buffer"


WINDOWED = (StoreKind.WINDOW, StoreKind.SESSION)


@dataclass(frozen=True)
class StoreSupplier:
    """A named storage of a kind."""

    name: str
    kind: StoreKind
    persistent: bool = True
    """Whether its rows are on disk."""
    retention_ms: int | None = None
    """Of windows and sessions; of a versioned store its history."""
    window_size_ms: int | None = None
    """Of windows only."""
    retain_duplicates: bool = False
    """Of windows only: whether it keeps every value of a key and window, not the last one."""

    def check_kind(self, kind: StoreKind) -> None:
        """Raise ArgumentError unless it is of this kind."""
        if self.kind is not kind:
            raise ArgumentError(f"The store supplier {self.name} is of kind {self.kind}, but should be {kind}.")


@dataclass(frozen=True, eq=False)
class StateStore:
    """A store of a topology, and Kafka's `StoreBuilder`. Two stores are the same only if they are one object."""

    name: str
    kind: StoreKind
    retention_ms: int | None = None
    """Of windows and sessions; of a versioned store its history."""
    log_retention_ms: int | None = None
    """That of the changelog, where it is another one."""
    window_size_ms: int | None = None
    """Of windows only."""
    persistent: bool | None = True
    """Whether its rows are on disk; None: by `default.dsl.store`."""
    retain_duplicates: bool = False
    """As in `StoreSupplier`."""
    key_serde: Serde | None = None
    """None, as of `value_serde`: it follows from the type of the rows; in the store of a processor, from the configuration."""
    value_serde: Serde | None = None
    logging_enabled: bool = True
    """Whether it has a changelog topic."""
    log_config: Mapping[str, str] = field(default_factory=dict)
    """Settings of the changelog topic."""
    timestamped: bool = False
    """Whether processors get and put values with their times (`ValueAndTimestamp`)."""
    with_headers: bool = False
    """Whether they get and put values with headers (`ValueTimestampHeaders`, of sessions `AggregationWithHeaders`; KIP-1271)."""

    def __post_init__(self) -> None:
        check_fields(self)

    def with_logging_enabled(self, config: Mapping[str, str]) -> StateStore:
        """With a changelog topic that has these settings."""
        return replace(self, logging_enabled=True, log_config=dict(config))

    def with_logging_disabled(self) -> StateStore:
        """Without a changelog topic: the store cannot be restored."""
        return replace(self, logging_enabled=False, log_config={})

    def with_caching_enabled(self) -> StateStore:
        """Has no effect: a batch writes the last change of each key."""
        return self

    def with_caching_disabled(self) -> StateStore:
        """Has no effect: a batch writes the last change of each key."""
        return self

    def with_default_serdes(self, key: Serde | None, value: Serde | None) -> StateStore:
        """With these serdes where it has none of its own. Raises ConfigError if it then lacks one."""
        key, value = self.key_serde or key, self.value_serde or value
        if key is None or value is None:
            raise ConfigError(
                f"The store {self.name} has no serde of keys or values: give its builder both, or set default.*.serde."
            )
        return replace(self, key_serde=key, value_serde=value)


def _at_least_zero(duration: Duration, what: str) -> int:
    value = milliseconds(duration, what)
    if value < 0:
        raise ArgumentError(f"{what} cannot be negative")
    return value


def _window(name: str, retention: Duration, size: Duration, retain_duplicates: bool, persistent: bool) -> StoreSupplier:
    retention_ms, size_ms = _at_least_zero(retention, "retentionPeriod"), _at_least_zero(size, "windowSize")
    if size_ms > retention_ms:
        raise ArgumentError(
            f"The retention period of the window store {name} must be no smaller than its window size. "
            f"Got size=[{as_java(size_ms)}], retention=[{as_java(retention_ms)}]"
        )
    return StoreSupplier(name, StoreKind.WINDOW, persistent, retention_ms, size_ms, retain_duplicates)


def _store_from(supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None, kind: StoreKind) -> StateStore:
    supplier.check_kind(kind)
    return StateStore(
        name=supplier.name,
        kind=supplier.kind,
        retention_ms=supplier.retention_ms,
        window_size_ms=supplier.window_size_ms,
        persistent=supplier.persistent,
        retain_duplicates=supplier.retain_duplicates,
        key_serde=key_serde,
        value_serde=value_serde,
    )


class Stores:
    """Kafka's factory of suppliers (for `Materialized.as_`, `StreamJoined`) and of stores (for `add_state_store`).

    Suppliers with timestamps or headers equal the others: a store always has the time of a row, and headers if its builder says
    so.

    Every method raises ArgumentError for an impossible duration.
    """

    @staticmethod
    def persistent_key_value_store(name: str) -> StoreSupplier:
        """Latest value per key, on disk."""
        return StoreSupplier(name, StoreKind.KEY_VALUE)

    @staticmethod
    def in_memory_key_value_store(name: str) -> StoreSupplier:
        """Latest value per key, in memory."""
        return StoreSupplier(name, StoreKind.KEY_VALUE, persistent=False)

    persistent_timestamped_key_value_store = persistent_key_value_store
    persistent_timestamped_key_value_store_with_headers = persistent_key_value_store

    @staticmethod
    def lru_map(name: str, max_cache_size: int) -> StoreSupplier:
        """Latest value per key, in memory. max_cache_size: of how many keys; none is thrown away here. Raises ArgumentError."""
        if max_cache_size < 0:
            raise ArgumentError("maxCacheSize cannot be negative")
        return StoreSupplier(name, StoreKind.KEY_VALUE, persistent=False)

    @staticmethod
    def persistent_versioned_key_value_store(
        name: str, history_retention: Duration, segment_interval: Duration | None = None
    ) -> StoreSupplier:
        """Values per key with their time (KIP-889), on disk. segment_interval: how files are cut in Kafka."""
        history_ms = _at_least_zero(history_retention, "historyRetention")
        if segment_interval is not None and milliseconds(segment_interval, "segmentInterval") < 1:
            raise ArgumentError("segmentInterval cannot be zero or negative")
        return StoreSupplier(name, StoreKind.VERSIONED, retention_ms=history_ms)

    @staticmethod
    def persistent_window_store(
        name: str, retention_period: Duration, window_size: Duration, retain_duplicates: bool
    ) -> StoreSupplier:
        """Values per key and window, on disk."""
        return _window(name, retention_period, window_size, retain_duplicates, True)

    persistent_timestamped_window_store = persistent_window_store
    persistent_timestamped_window_store_with_headers = persistent_window_store

    @staticmethod
    def in_memory_window_store(
        name: str, retention_period: Duration, window_size: Duration, retain_duplicates: bool
    ) -> StoreSupplier:
        """Values per key and window, in memory."""
        return _window(name, retention_period, window_size, retain_duplicates, False)

    @staticmethod
    def persistent_session_store(name: str, retention_period: Duration) -> StoreSupplier:
        """Values per key and session, on disk."""
        return StoreSupplier(name, StoreKind.SESSION, True, _at_least_zero(retention_period, "retentionPeriod"))

    persistent_session_store_with_headers = persistent_session_store

    @staticmethod
    def in_memory_session_store(name: str, retention_period: Duration) -> StoreSupplier:
        """Values per key and session, in memory."""
        return StoreSupplier(name, StoreKind.SESSION, False, _at_least_zero(retention_period, "retentionPeriod"))

    @staticmethod
    def key_value_store_builder(supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None) -> StateStore:
        """A store of the latest value per key. Raises ArgumentError for a supplier of another kind."""
        return _store_from(supplier, key_serde, value_serde, StoreKind.KEY_VALUE)

    @staticmethod
    def timestamped_key_value_store_builder(
        supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None
    ) -> StateStore:
        """A store of the latest value per key and its time. Raises ArgumentError for a supplier of another kind."""
        return replace(_store_from(supplier, key_serde, value_serde, StoreKind.KEY_VALUE), timestamped=True)

    @staticmethod
    def timestamped_key_value_store_with_headers_builder(
        supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None
    ) -> StateStore:
        """A store of the latest value per key, its time and headers. Raises ArgumentError for a supplier of another kind."""
        return replace(_store_from(supplier, key_serde, value_serde, StoreKind.KEY_VALUE), timestamped=True, with_headers=True)

    @staticmethod
    def versioned_key_value_store_builder(
        supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None
    ) -> StateStore:
        """A store of values with their time. Raises ArgumentError for a supplier of another kind."""
        return _store_from(supplier, key_serde, value_serde, StoreKind.VERSIONED)

    @staticmethod
    def window_store_builder(supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None) -> StateStore:
        """A store of values per window. Raises ArgumentError for a supplier of another kind."""
        return _store_from(supplier, key_serde, value_serde, StoreKind.WINDOW)

    @staticmethod
    def timestamped_window_store_builder(
        supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None
    ) -> StateStore:
        """A store of values per window and their times. Raises ArgumentError for a supplier of another kind."""
        return replace(_store_from(supplier, key_serde, value_serde, StoreKind.WINDOW), timestamped=True)

    @staticmethod
    def timestamped_window_store_with_headers_builder(
        supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None
    ) -> StateStore:
        """A store of values per window, their times and headers. Raises ArgumentError for a supplier of another kind."""
        return replace(_store_from(supplier, key_serde, value_serde, StoreKind.WINDOW), timestamped=True, with_headers=True)

    @staticmethod
    def session_store_builder(supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None) -> StateStore:
        """A store of values per session. Raises ArgumentError for a supplier of another kind."""
        return _store_from(supplier, key_serde, value_serde, StoreKind.SESSION)

    @staticmethod
    def session_store_with_headers_builder(
        supplier: StoreSupplier, key_serde: Serde | None, value_serde: Serde | None
    ) -> StateStore:
        """A store of values per session and their headers. Raises ArgumentError for a supplier of another kind."""
        return replace(_store_from(supplier, key_serde, value_serde, StoreKind.SESSION), with_headers=True)
