"""Adds aggregations of streams, plain and windowed, to the graph; shared by `KGroupedStream` and its windowed variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from headrace.errors import ArgumentError
from headrace.streams.flow import StreamFlow, TableFlow, repartition
from headrace.streams.graph import Graph, GraphNode, Operator
from headrace.streams.materialized import Materialized, MaterializedInternal, materialized_internal
from headrace.streams.operations import Aggregation, Count, EmitStrategy, Reduce, StreamAggregate
from headrace.streams.options import Grouped, Named
from headrace.streams.serdes import Serde, Serdes, WindowedSerde
from headrace.streams.stores import StateStore, StoreKind
from headrace.streams.views import StoredView
from headrace.streams.windows import SessionWindows, SlidingWindows, Windows

AGGREGATE, REDUCE = "KSTREAM-AGGREGATE-", "KSTREAM-REDUCE-"


@dataclass(eq=False)
class Grouping:
    """A stream grouped by key, which may have to be repartitioned first; a topic named by the user is created once."""

    flow: StreamFlow
    grouped: Grouped
    """Its name is that of the repartition topic; None makes one of the store's name."""
    repartition_required: bool
    topic: GraphNode | None = None
    """The repartition topic of an earlier aggregation, which shares it if the user named it."""

    def parent(self, internal: MaterializedInternal) -> StreamFlow:
        """The flow in front of an aggregation into this store."""
        if not self.repartition_required:
            return self.flow
        named = self.grouped.name is not None
        prefix = self.grouped.name if self.grouped.name is not None else internal.store_name
        topic = repartition(self.flow.graph, prefix, named or internal.queryable_name is not None)
        topic.key_serde, topic.value_serde = self.grouped.key_serde, self.grouped.value_serde
        if self.topic is None or not named:
            self.topic = topic
        self.flow.graph.add(self.flow.node, self.topic)
        return replace(self.flow, name=topic.name, node=self.topic, sources=frozenset({topic.name}))


def aggregate(
    grouping: Grouping,
    aggregation: Aggregation,
    options: tuple[Named | None, Materialized | None],
    windows: Windows | SessionWindows | None = None,
    emit: EmitStrategy = EmitStrategy.ON_WINDOW_UPDATE,
) -> TableFlow:
    """A table of one aggregate per key, or per key and window. options: of the operator. Raises ArgumentError."""
    named, materialized = options
    graph, grouped = grouping.flow.graph, grouping.grouped
    prefix = REDUCE if isinstance(aggregation, Reduce) else AGGREGATE
    if materialized is not None and materialized.name is None and isinstance(aggregation, Count):
        _skip_number(graph, windows)
    value_serde = Serdes.long() if isinstance(aggregation, Count) else grouped.value_serde if prefix == REDUCE else None
    materialized = materialized or Materialized.with_(grouped.key_serde, value_serde)
    materialized = replace(
        materialized, key_serde=materialized.key_serde or grouped.key_serde, value_serde=materialized.value_serde or value_serde
    )
    internal = materialized_internal(materialized, graph, prefix)
    name = graph.names.name_or_generated(named.name if named else None, prefix)
    store = windowed_store(internal, windows)
    flow = grouping.parent(internal)
    node = Operator(name, StreamAggregate(aggregation, store.name, windows, emit), single_store(store))
    node.versioned = materialized.versioned if windows is None else False
    node.grace_ms = grace_ms(windows)
    key_serde = windowed_serde(materialized.key_serde, windows)
    result = flow.to(node, key_serde=key_serde, value_serde=materialized.value_serde)
    return TableFlow(result, StoredView(store.name), internal.queryable_name)


def _skip_number(graph: Graph, windows: Windows | SessionWindows | None) -> None:
    """For a count with an unnamed Materialized Kafka generates two names, unless its windows slide."""
    if not isinstance(windows, SlidingWindows):
        graph.names.store(AGGREGATE)


def single_store(store: StateStore) -> Callable[[], tuple[StateStore, ...]]:
    """A supplier of one store, for an operator."""
    return lambda: (store,)


def grace_ms(windows: Windows | SessionWindows | None) -> int | None:
    """The grace period after the end of a window, or after the last record of a session."""
    return windows.gap_ms + windows.grace_ms if isinstance(windows, SessionWindows) else windows.grace_ms if windows else None


def windowed_serde(key_serde: Serde | None, windows: Windows | SessionWindows | None) -> Serde | None:
    """The format of a key with its window."""
    if windows is None or key_serde is None:
        return key_serde
    if isinstance(windows, SessionWindows):
        return WindowedSerde("session_windowed", inner=key_serde)
    return WindowedSerde("time_windowed", inner=key_serde, size_ms=windows.size_ms)


def windowed_store(internal: MaterializedInternal, windows: Windows | SessionWindows | None) -> StateStore:
    """The store of an aggregation. Raises ArgumentError if its retention is too short for the windows."""
    if windows is None:
        return internal.store()
    configured_ms = internal.materialized.retention_ms
    retention_ms = windows.retention_ms if configured_ms is None else configured_ms
    if windows.retention_ms > retention_ms:
        raise ArgumentError(_retention_too_short(internal.store_name, windows, retention_ms))
    if isinstance(windows, SessionWindows):
        store = internal.store(StoreKind.SESSION, retention_ms)
    else:
        store = internal.store(StoreKind.WINDOW, retention_ms, windows.size_ms)
    supplier = internal.materialized.supplier
    if supplier is None:
        return store
    # As in Kafka only the changelog goes by the Materialized or the windows, but no window that is still open is forgotten.
    kept_ms = max(supplier.retention_ms or 0, windows.retention_ms)
    return replace(store, retention_ms=kept_ms, log_retention_ms=retention_ms)


def _retention_too_short(store: str, windows: Windows | SessionWindows, retention_ms: int) -> str:
    grace = f" grace=[{windows.grace_ms}], retention=[{retention_ms}]"
    if isinstance(windows, SessionWindows):
        return (
            f"The retention period of the session store {store} must be no smaller than the session inactivity gap plus the "
            f"grace period. Got gap=[{windows.gap_ms}],{grace}"
        )
    if isinstance(windows, SlidingWindows):
        return (
            f"The retention period of the window store {store} must be no smaller than 2 * time difference plus the grace "
            f"period. Got time difference=[{windows.difference_ms}],{grace}"
        )
    return (
        f"The retention period of the window store {store} must be no smaller than its window size plus the grace period. "
        f"Got size=[{windows.size_ms}],{grace}"
    )
