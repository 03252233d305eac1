"""Joins of two tables by their key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace.streams.flow import StreamFlow, TableFlow, copartitioned
from headrace.streams.functions import Function
from headrace.streams.graph import GraphNode
from headrace.streams.materialized import materialized_internal
from headrace.streams.operations import JoinKind, TableJoin, TableJoinMerge
from headrace.streams.stores import StateStore
from headrace.streams.topology import Topology
from headrace.streams.views import JoinView

MERGE, JOIN_THIS, JOIN_OTHER = "KTABLE-MERGE-", "KTABLE-JOINTHIS-", "KTABLE-JOINOTHER-"


class TableTableJoin(GraphNode):
    """Both sides of a join and the processor that merges them."""

    def __init__(self, merge: str, sides: tuple[tuple[str, TableJoin, tuple[str, ...]], ...], store: StateStore | None) -> None:
        super().__init__(merge)
        self.sides, self.store = sides, store

    def write(self, topology: Topology) -> None:
        """Three processors; each side uses the other's stores."""
        (this, left, left_stores), (other, right, right_stores) = self.sides
        topology.add_operation(this, left, (right.other,))
        topology.add_operation(other, right, (left.other,))
        topology.add_operation(self.name, TableJoinMerge(self.store.name if self.store else None), (this, other))
        if self.store:
            topology.add_state_store(self.store, self.name)
        topology.connect_processor_and_state_stores(this, *right_stores)
        topology.connect_processor_and_state_stores(other, *left_stores)


def join(kind: JoinKind, left: TableFlow, right: TableFlow, joiner: Function, options: list[Any]) -> TableFlow:
    """Rows of both tables with one key. options: a Named and a Materialized, or None. Raises ArgumentError."""
    named, materialized = options
    graph, name = left.flow.graph, named.name if named else None
    internal = materialized_internal(materialized, graph, MERGE) if materialized else None
    merge = graph.names.name_or_generated(name, MERGE)
    sources = copartitioned([left.flow, right.flow])
    if kind is not JoinKind.INNER:
        left.view.enable_sending_old_values(True)
    if kind is JoinKind.OUTER:
        right.view.enable_sending_old_values(True)
    left_stores, right_stores = left.view.stores(), right.view.stores()
    this = graph.names.suffixed_or_generated(name, "-join-this", JOIN_THIS)
    other = graph.names.suffixed_or_generated(name, "-join-other", JOIN_OTHER)
    sides = (
        (this, TableJoin(kind, joiner, right.flow.name), left_stores),
        (other, TableJoin(kind, joiner, left.flow.name), right_stores),
    )
    key_serde = (internal.key_serde if internal else None) or left.flow.key_serde
    store = replace(internal.store(), key_serde=key_serde) if internal else None
    node = TableTableJoin(merge, sides, store)
    node.versioned = internal is not None and internal.materialized.versioned
    graph.add([left.flow.node, right.flow.node], node)
    flow = StreamFlow(graph, merge, node, sources, key_serde, internal.value_serde if internal else None)
    # A generated store is materialized and looked up, and Kafka returns its name as the queryable one.
    store_name = store.name if store else None
    return TableFlow(flow, JoinView(left.view, right.view, store_name), store_name)
