"""Joins of a stream: with a stream in a window, with a table, with a global table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from headrace.errors import ArgumentError, StreamsError
from headrace.streams.flow import StreamFlow, TableFlow, copartitioned
from headrace.streams.functions import Function
from headrace.streams.global_table import GlobalKTable
from headrace.streams.graph import Graph, GraphNode, Operator
from headrace.streams.operations import (
    GlobalTableJoin,
    JoinBuffer,
    JoinKind,
    PassThrough,
    SelfJoin,
    StreamJoin,
    StreamTableJoin,
)
from headrace.streams.options import Joined, Named, StreamJoined, take_one
from headrace.streams.stores import StateStore, StoreKind, StoreSupplier
from headrace.streams.topology import Topology
from headrace.streams.windows import JoinWindows

WINDOWED = "KSTREAM-WINDOWED-"
_LEFT_JOIN, _JOIN, _MERGE = "KSTREAM-LEFTJOIN-", "KSTREAM-JOIN-", "KSTREAM-MERGE-"
_THIS = {True: "KSTREAM-OUTERTHIS-", False: "KSTREAM-JOINTHIS-"}
_OTHER = {True: "KSTREAM-OUTEROTHER-", False: "KSTREAM-JOINOTHER-"}


@dataclass(frozen=True)
class JoinNames:
    """The processors of a stream-stream join."""

    this_windowed: str
    other_windowed: str
    this: str
    other: str
    merge: str
    this_generated: str
    """What unnamed stores are called after, also if the operators are named; as `other_generated`."""
    other_generated: str
    this_suffix: str
    """Of a named operator or store of this side; it depends on the kind of the join."""
    other_suffix: str


@dataclass(frozen=True)
class JoinStores:
    """The buffers of both sides, and for a left or outer join the store of records that may stay unmatched."""

    this: StateStore
    other: StateStore
    shared: StateStore | None
    """Of records that may remain without a partner; None for an inner join."""


class StreamStreamJoin(GraphNode):
    """The processors behind the two buffers of a join."""

    def __init__(self, names: JoinNames, this: StreamJoin, other: StreamJoin, stores: JoinStores) -> None:
        super().__init__(names.merge)
        self.names, self.this, self.other, self.stores = names, this, other, stores
        self.self_join = False
        self.keeps_null_keys = this.kind is not JoinKind.INNER

    def write(self, topology: Topology) -> None:
        """Add both sides and the processor that merges them; a self-join is one processor over one store."""
        names = self.names
        if self.self_join:
            join = SelfJoin(self.this.joiner, self.this.windows, self.stores.this.name)
            topology.add_operation(names.merge, join, (names.this_windowed,))
            topology.add_state_store(self.stores.this, names.merge)
            return
        sides = (names.this, self.this, names.this_windowed, self.stores.other), (
            names.other, self.other, names.other_windowed, self.stores.this,
        )  # fmt: skip
        for name, operation, buffer, store in sides:
            topology.add_operation(name, operation, (buffer,))
            topology.add_state_store(store, name)
            if self.stores.shared:
                topology.add_state_store(self.stores.shared, name)
        topology.add_operation(names.merge, PassThrough(), (names.this, names.other))


class StreamTableJoinNode(Operator):
    """A stream with a table; a versioned one if records wait for it."""

    def write(self, topology: Topology) -> None:
        """One processor. Raises ArgumentError if records are to wait for a table that has no (or too short a) history."""
        super().write(topology)
        assert isinstance(self.operation, StreamTableJoin)
        if self.operation.grace_ms is None:
            return
        for name in self.uses:
            store = topology.stores[name]
            if store.kind is not StoreKind.VERSIONED:
                raise ArgumentError("KTable must be versioned to use a grace period in a stream table join.")
            if self.operation.grace_ms > (store.retention_ms or 0):
                raise ArgumentError("History retention must be at least grace period.")


def join(
    kind: JoinKind, left: StreamFlow, right: StreamFlow, joiner: Function, windows: JoinWindows, joined: StreamJoined
) -> StreamFlow:
    """Two streams in a window. Raises StreamsError."""
    sources = copartitioned([left, right])
    graph = left.graph
    names = _names(graph, joined.name, kind)
    stores = _stores(graph, names, joined, windows, kind)
    sides = (left, names.this_windowed, stores.this), (right, names.other_windowed, stores.other)
    for flow, windowed, store in sides:
        flow.to(Operator(windowed, JoinBuffer(store.name, windows), _single_store(store)))
    shared = stores.shared.name if stores.shared else None
    node = StreamStreamJoin(
        names,
        StreamJoin(kind, joiner, windows, stores.other.name, shared),
        StreamJoin(kind, joiner, windows, stores.this.name, shared),
        stores,
    )
    graph.add([left.node, right.node], node)
    return StreamFlow(graph, node.name, node, sources, joined.key_serde, None)


def _single_store(store: StateStore) -> Callable[[], tuple[StateStore, ...]]:
    return lambda: (store,)


def _names(graph: Graph, name: str | None, kind: JoinKind) -> JoinNames:
    left_outer, right_outer = kind is not JoinKind.INNER, kind is JoinKind.OUTER
    this_suffix = "-outer-this-join" if right_outer else "-this-join"
    other_suffix = "-outer-other-join" if left_outer else "-other-join"
    this_windowed = graph.names.suffixed_or_generated(name, "-this-windowed", WINDOWED)
    other_windowed = graph.names.suffixed_or_generated(name, "-other-windowed", WINDOWED)
    this_generated, other_generated = graph.names.processor(_THIS[right_outer]), graph.names.processor(_OTHER[left_outer])
    return JoinNames(
        this_windowed,
        other_windowed,
        this_generated if name is None else name + this_suffix,
        other_generated if name is None else name + other_suffix,
        graph.names.suffixed_or_generated(name, "-merge", _MERGE),
        this_generated,
        other_generated,
        this_suffix,
        other_suffix,
    )


def _stores(graph: Graph, names: JoinNames, joined: StreamJoined, windows: JoinWindows, kind: JoinKind) -> JoinStores:
    this_supplier, other_supplier = joined.this_store_supplier, joined.other_store_supplier
    if this_supplier and other_supplier and this_supplier.name == other_supplier.name:
        raise StreamsError("Both StoreSuppliers have the same name.  StoreSuppliers must provide unique names")
    base = joined.store_name
    sides = (
        (this_supplier, names.this_generated if base is None else base + names.this_suffix),
        (other_supplier, names.other_generated if base is None else base + names.other_suffix),
    )
    serdes = joined.value_serde, joined.other_value_serde
    buffers = [
        _from_supplier(supplier, joined, windows) if supplier else _window_store(f"{name}-store", joined, windows)
        for supplier, name in sides
    ]
    stores = [replace(store, value_serde=serde) for store, serde in zip(buffers, serdes, strict=True)]
    shared = None if kind is JoinKind.INNER else _outer_join_store(names, joined, kind)
    # In Kafka only `StreamJoined.as_` and `with_store_name` name the stores; those of suppliers count as generated without it.
    for store in (*stores, *([shared] if shared else [])) if base is None else ():
        graph.generated_names.store(store.name, store.logging_enabled)
    return JoinStores(stores[0], stores[1], shared)


def _window_store(name: str, joined: StreamJoined, windows: JoinWindows) -> StateStore:
    return StateStore(
        name=name,
        kind=StoreKind.WINDOW,
        retention_ms=windows.retention_ms,
        window_size_ms=windows.size_ms,
        persistent=joined.store_type.persistent if joined.store_type else None,
        retain_duplicates=True,
        key_serde=joined.key_serde,
        logging_enabled=joined.logging_enabled,
        log_config={**joined.topic_config, "cleanup.policy": "delete"},
    )


def _from_supplier(supplier: StoreSupplier, joined: StreamJoined, windows: JoinWindows) -> StateStore:
    if not supplier.retain_duplicates:
        raise StreamsError("The StoreSupplier must set retainDuplicates=true, found retainDuplicates=false")
    if (supplier.retention_ms, supplier.window_size_ms) != (windows.retention_ms, windows.size_ms):
        raise StreamsError(
            f"Window settings mismatch. WindowBytesStoreSupplier settings {supplier} must match JoinWindows settings {windows} "
            "for the window size and retention period"
        )
    return replace(
        _window_store(supplier.name, joined, windows), persistent=supplier.persistent, logging_enabled=True, log_config={}
    )


def _outer_join_store(names: JoinNames, joined: StreamJoined, kind: JoinKind) -> StateStore:
    suffix = "-outer-shared-join" if kind is JoinKind.OUTER else "-left-shared-join"
    supplier = joined.this_store_supplier
    if supplier and supplier.name:
        name = supplier.name + suffix
    elif joined.store_name is not None:
        name = joined.store_name + suffix
    else:
        name = "KSTREAM-OUTERSHARED-" + names.this_generated.removeprefix(_THIS[kind is JoinKind.OUTER])
    by = joined.store_type or supplier
    return StateStore(
        name=f"{name}-store",
        kind=StoreKind.BUFFER,
        persistent=by.persistent if by else None,
        key_serde=joined.key_serde,
        logging_enabled=joined.logging_enabled,
        log_config=joined.topic_config,
    )


def join_table(kind: JoinKind, left: StreamFlow, right: TableFlow, joiner: Function, joined: Joined) -> StreamFlow:
    """A stream with a table. Raises ArgumentError."""
    sources = copartitioned([left, right.flow])
    graph = left.graph
    name = graph.names.name_or_generated(joined.name, _JOIN if kind is JoinKind.INNER else _LEFT_JOIN)
    buffer = _grace_buffer(graph, name, joined, right) if joined.grace_ms is not None else None
    operation = StreamTableJoin(kind, joiner, right.flow.name, joined.grace_ms, buffer.name if buffer else None)
    node = StreamTableJoinNode(name, operation, _single_store(buffer) if buffer else None, right.view.stores())
    node.keeps_null_keys = kind is JoinKind.LEFT
    return left.to(node, sources=sources, key_serde=joined.key_serde or left.key_serde, value_serde=None)


def _grace_buffer(graph: Graph, name: str, joined: Joined, right: TableFlow) -> StateStore:
    if right.flow.node.versioned is False:
        raise ArgumentError("KTable must be versioned to use a grace period in a stream table join.")
    store = StateStore(name=f"{name}-Buffer", kind=StoreKind.BUFFER, key_serde=joined.key_serde, value_serde=joined.value_serde)
    if joined.name is None:
        graph.generated_names.store(store.name, True)
    return store


def join_global(
    kind: JoinKind, left: StreamFlow, right: GlobalKTable, key_selector: Function, joiner: Function, named: Named | None = None
) -> StreamFlow:
    """A stream with a global table, by a derived key; no repartition topic. Raises ArgumentError."""
    take_one(named, Named)
    name = left.graph.names.name_or_generated(named.name if named else None, _LEFT_JOIN)
    node = Operator(name, GlobalTableJoin(kind, joiner, key_selector, right.store))
    node.keeps_null_keys = kind is JoinKind.LEFT
    return left.to(node, value_serde=None)
