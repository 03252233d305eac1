"""`CogroupedKStream`: several groups aggregated into one table (KIP-150)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.errors import ArgumentError
from headrace.streams import table
from headrace.streams.aggregation import Grouping, grace_ms, single_store, windowed_serde, windowed_store
from headrace.streams.flow import StreamFlow, TableFlow, copartitioned, repartition
from headrace.streams.functions import Aggregator, Function, check_function
from headrace.streams.graph import Graph, GraphNode, Operator
from headrace.streams.materialized import Materialized, MaterializedInternal, materialized_internal
from headrace.streams.operations import CogroupMerge, Fold, StreamAggregate
from headrace.streams.options import Named, take
from headrace.streams.views import StoredView
from headrace.streams.windows import SessionWindows, Windows

if TYPE_CHECKING:
    from headrace.streams.grouped_stream import KGroupedStream

AGGREGATE, MERGE = "COGROUPKSTREAM-AGGREGATE-", "COGROUPKSTREAM-MERGE-"
Options = Named | Materialized


class CogroupedKStream:
    """Groups, each with the function that adds its values to the aggregate. `windows`: after `windowed_by`."""

    def __init__(self, windows: Windows | SessionWindows | None = None) -> None:
        self._groups: dict[Grouping, Function] = {}
        self._parents: dict[Grouping, GraphNode] = {}
        self._windows = windows

    def cogroup(self, grouped_stream: KGroupedStream, aggregator: Function) -> CogroupedKStream:
        """Add a group; its aggregator takes key, value and aggregate. Raises ArgumentError for what is no function."""
        check_function(aggregator, "aggregator", Aggregator)
        self._groups[grouped_stream.grouping] = aggregator
        return self

    def windowed_by(self, windows: Windows | SessionWindows) -> CogroupedKStream:
        """Group by window as well."""
        windowed = CogroupedKStream(windows)
        windowed._groups, windowed._parents = self._groups, self._parents
        return windowed

    def aggregate(self, initializer: Function, *options: Options | Function, **keywords: Options) -> table.KTable:
        """One value per key (and window) of all groups; for sessions a function that makes one of two comes second."""
        functions = [option for option in options if not isinstance(option, Named | Materialized)]
        if len(functions) != isinstance(self._windows, SessionWindows):
            raise ArgumentError("aggregate takes an initializer, and a session merger if it is windowed by SessionWindows.")
        typed_options = tuple(option for option in options if isinstance(option, Named | Materialized))
        named, materialized = take(typed_options, keywords, Named, Materialized)
        graph = next(iter(self._groups)).flow.graph
        internal = materialized_internal(materialized or Materialized(), graph, AGGREGATE)
        merger = functions[0] if functions else None
        return self._table(graph, internal, named.name if named else None, (initializer, merger))  # type: ignore[arg-type]

    def _table(
        self, graph: Graph, internal: MaterializedInternal, name: str | None, functions: tuple[Function, Function | None]
    ) -> table.KTable:
        store = windowed_store(internal, self._windows)
        self._repartition(graph, internal)
        copartitioned(group.flow for group in self._parents)
        nodes: list[Operator] = []
        for number, (group, aggregator) in enumerate(self._groups.items()):
            node_name = graph.names.suffixed_or_generated(name, f"-cogroup-agg-{number}", AGGREGATE)
            fold = Fold(functions[0], aggregator, functions[1])
            node = Operator(node_name, StreamAggregate(fold, store.name, self._windows), single_store(store))
            node.versioned = internal.materialized.versioned if self._windows is None else None
            node.grace_ms = grace_ms(self._windows)
            graph.add(self._parents[group], node)
            nodes.append(node)
        merge = Operator(graph.names.suffixed_or_generated(name, "-cogroup-merge", MERGE), CogroupMerge(store.name))
        graph.add(nodes, merge)
        key_serde = windowed_serde(internal.key_serde, self._windows)
        flow = StreamFlow(graph, merge.name, merge, frozenset({merge.name}), key_serde, internal.value_serde)
        return table.KTable(TableFlow(flow, StoredView(store.name), internal.queryable_name))

    def _repartition(self, graph: Graph, internal: MaterializedInternal) -> None:
        for group in self._groups:
            if not group.repartition_required:
                self._parents[group] = group.flow.node
                continue
            prefix = group.grouped.name if group.grouped.name is not None else internal.store_name
            topic = repartition(graph, prefix, group.grouped.name is not None or internal.queryable_name is not None)
            topic.key_serde, topic.value_serde = group.grouped.key_serde, group.grouped.value_serde
            if group not in self._parents:
                graph.add(group.flow.node, topic)
                self._parents[group] = topic
