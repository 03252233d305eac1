"""What a topology may have and what is not run here: said when an application is made, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.errors import TopologyError
from headrace.streams import operations as ops
from headrace.streams.nodes import ProcessorNode
from headrace.streams.stores import StoreKind
from headrace.streams.topology import Topology

_NO_HISTORY = ops.StreamAggregate, ops.CogroupMerge, ops.TableAggregate, ops.TableJoinMerge, ops.ForeignKeyRespond
_SEEN_THROUGH = ops.TableFilter, ops.TableMapValues, ops.TableTransformValues
_NEED_ROWS = ops.TableGroupBy, ops.TableJoin, ops.Suppress, ops.ForeignKeySend, ops.ForeignKeyChange


def refuse(topology: Topology) -> None:
    """Raise TopologyError for the first operation that is not run here."""
    for node in _processors(topology):
        for store in (topology.stores[name] for name in node.stores if name in topology.stores):
            if store.kind is StoreKind.VERSIONED and isinstance(node.operation, _NO_HISTORY):
                raise TopologyError(
                    f"{node.name}: the store {store.name} is versioned, and results of aggregations and joins keep only the "
                    "latest row of a key here. Keep them in another store, or read them as a table of their own topic."
                )
        if isinstance(node.operation, ops.UserProcessor | ops.TableTransformValues):
            _refuse_shared(topology, node)
        if isinstance(node.operation, ops.TableTransformValues) and (user := _who_needs_rows(topology, node)):
            raise TopologyError(
                f"{user} needs the rows of {node.name}, which is kept nowhere, and a transformer is called once for each change: "
                "give transform_values a store with Materialized.as_(…)."
            )


def _refuse_shared(topology: Topology, node: ProcessorNode) -> None:
    """Raise TopologyError for a store of a processor that another operator uses, too."""
    for store in node.stores:
        if others := [other.name for other in topology.nodes.values() if store in getattr(other, "stores", ()) and other != node]:
            raise TopologyError(
                f"{node.name} and {others[0]} use the same store {store}. A processor gets all records of a batch before the "
                "next operator does, so here a store belongs to one processor: do in one what these do."
            )


def _who_needs_rows(topology: Topology, table: ProcessorNode) -> str | None:
    """An operator that looks up rows of a table, or needs their old values; None if the table is kept, or there is none."""
    if table.operation.store is not None:  # type: ignore[union-attr]
        return None
    for node in _processors(topology):
        operation = node.operation
        looks = isinstance(operation, ops.StreamTableJoin | ops.ForeignKeyLookup) and operation.table == table.name
        if looks or (table.name in node.parents and isinstance(operation, _NEED_ROWS)):
            return node.name
        if table.name in node.parents and isinstance(operation, _SEEN_THROUGH) and (user := _who_needs_rows(topology, node)):
            return user
    return None


def _processors(topology: Topology) -> Iterator[ProcessorNode]:
    return (node for node in topology.nodes.values() if isinstance(node, ProcessorNode))
