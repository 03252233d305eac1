"""How the result of an operator is stored: Kafka's `Materialized`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headrace.errors import ArgumentError
from headrace.streams.arguments import check_fields, choice
from headrace.streams.durations import Duration, milliseconds
from headrace.streams.naming import valid_name
from headrace.streams.serdes import Serde
from headrace.streams.stores import StateStore, StoreKind, StoreSupplier, StoreType

if TYPE_CHECKING:
    from headrace.streams.graph import Graph


@dataclass(frozen=True)
class Materialized:
    """A store's name or supplier, formats, changelog and retention. Raises ArgumentError for what is another thing."""

    store_name: str | None = None
    """None takes that of the supplier, else a generated one."""
    supplier: StoreSupplier | None = None
    """Also decides where the store is, and how long it retains rows."""
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    logging_enabled: bool = True
    topic_config: Mapping[str, str] = field(default_factory=dict)
    """Settings of the changelog topic."""
    retention_ms: int | None = None
    """Of windows and sessions; None is that of the windows. With a supplier only the changelog goes by it."""
    store_type: StoreType | None = None
    """Of a store without a supplier; None: by `default.dsl.store`."""

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def as_(cls, store: str | StoreSupplier | StoreType) -> Materialized:
        """With a name, a supplier (see `Stores`) or a store type. Raises TopologyError for an illegal name."""
        if isinstance(store, StoreSupplier):
            return cls(supplier=store)
        return cls(store_type=store) if isinstance(store, StoreType) else cls(store_name=valid_name(store))

    @classmethod
    def with_(cls, key_serde: Serde | None = None, value_serde: Serde | None = None) -> Materialized:
        """With formats of key and value."""
        return cls(key_serde=key_serde, value_serde=value_serde)

    def with_key_serde(self, key_serde: Serde | None) -> Materialized:
        """With another format of keys."""
        return replace(self, key_serde=key_serde)

    def with_value_serde(self, value_serde: Serde | None) -> Materialized:
        """With another format of values."""
        return replace(self, value_serde=value_serde)

    def with_logging_enabled(self, config: Mapping[str, str]) -> Materialized:
        """With a changelog topic that has these settings."""
        return replace(self, logging_enabled=True, topic_config=dict(config))

    def with_logging_disabled(self) -> Materialized:
        """Without a changelog topic: the store cannot be restored."""
        return replace(self, logging_enabled=False, topic_config={})

    def with_caching_enabled(self) -> Materialized:
        """Has no effect: a batch passes on the last change of each key."""
        return self

    def with_caching_disabled(self) -> Materialized:
        """Has no effect: a batch passes on the last change of each key."""
        return self

    def with_retention(self, retention: Duration) -> Materialized:
        """With a retention of windows. Raises ArgumentError if it is negative."""
        retention_ms = milliseconds(retention, "retention")
        if retention_ms < 0:
            raise ArgumentError("Retention must not be negative.")
        return replace(self, retention_ms=retention_ms)

    def with_store_type(self, store_type: StoreType) -> Materialized:
        """With a store type. Raises ArgumentError if there is a supplier, and for another type."""
        if self.supplier:
            raise ArgumentError("Cannot set store type when store supplier is pre-configured.")
        return replace(self, store_type=choice(StoreType, store_type, "store_type"))

    @property
    def name(self) -> str | None:
        """The store's name, if one was given."""
        return self.supplier.name if self.supplier else self.store_name

    @property
    def versioned(self) -> bool:
        """Whether the store is versioned."""
        return self.supplier is not None and self.supplier.kind is StoreKind.VERSIONED


@dataclass(frozen=True)
class MaterializedInternal:
    """A Materialized whose store has a name."""

    materialized: Materialized
    store_name: str
    queryable_name: str | None
    """None if the name was generated, but for a global table without a Materialized."""

    @property
    def key_serde(self) -> Serde | None:
        """The format of keys."""
        return self.materialized.key_serde

    @property
    def value_serde(self) -> Serde | None:
        """The format of values."""
        return self.materialized.value_serde

    def store(
        self, kind: StoreKind = StoreKind.KEY_VALUE, retention_ms: int | None = None, size_ms: int | None = None
    ) -> StateStore:
        """The store: of the supplier's kind if that is versioned, with a retention and window size in milliseconds. Raises
        ArgumentError for a supplier of another kind.
        """
        supplier, materialized = self.materialized.supplier, self.materialized
        placement = supplier or materialized.store_type
        if supplier is not None and self.materialized.versioned:
            kind, retention_ms = StoreKind.VERSIONED, supplier.retention_ms
        if supplier is not None:
            supplier.check_kind(kind)
        return StateStore(
            name=self.store_name,
            kind=kind,
            retention_ms=retention_ms,
            window_size_ms=size_ms,
            persistent=placement.persistent if placement else None,
            key_serde=materialized.key_serde,
            value_serde=materialized.value_serde,
            logging_enabled=materialized.logging_enabled,
            log_config=materialized.topic_config,
        )


def materialized_internal(materialized: Materialized, graph: Graph, prefix: str) -> MaterializedInternal:
    """A Materialized with a store name: the user's, or a generated one, which takes a number and is recorded as generated."""
    if materialized.name is not None:
        return MaterializedInternal(materialized, materialized.name, materialized.name)
    name = graph.names.store(prefix)
    graph.generated_names.store(name, materialized.logging_enabled)
    return MaterializedInternal(materialized, name, None)
