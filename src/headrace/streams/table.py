"""`KTable`: the latest value per key, and its operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, overload

from headrace.errors import ArgumentError, TopologyError
from headrace.streams import foreign_key, grouped_table, stream, table_join
from headrace.streams.flow import TableFlow
from headrace.streams.functions import Function
from headrace.streams.graph import GraphNode, Operator
from headrace.streams.materialized import Materialized, MaterializedInternal
from headrace.streams.operations import (
    JoinKind,
    Operation,
    Suppress,
    TableFilter,
    TableGroupBy,
    TableMapValues,
    TableTransformValues,
    ToStream,
)
from headrace.streams.options import Grouped, Named, TableJoined, take
from headrace.streams.stores import StateStore, StoreKind
from headrace.streams.suppressed import Suppressed
from headrace.streams.views import DerivedView, SuppressedView

Options = Named | Materialized
_FILTER, _MAP, _TRANSFORM = "KTABLE-FILTER-", "KTABLE-MAPVALUES-", "KTABLE-TRANSFORMVALUES-"
_SUPPRESS = "KTABLE-SUPPRESS-"


class KTable:
    """The latest value per key. `queryable_store_name`: None if it has no named store."""

    def __init__(self, table: TableFlow) -> None:
        """table: what it is made of."""
        self.table = table
        self.flow, self.view, self.queryable_store_name = table.flow, table.view, table.queryable_store_name

    def filter(self, predicate: Function, *options: Options, **keywords: Options) -> KTable:
        """The rows for which the predicate of key and value is true; others are deleted downstream."""
        return self._filter(predicate, False, options, keywords)

    def filter_not(self, predicate: Function, *options: Options, **keywords: Options) -> KTable:
        """The rows for which the predicate of key and value is false; others are deleted downstream."""
        return self._filter(predicate, True, options, keywords)

    def map_values(self, mapper: Function, *options: Options, **keywords: Options) -> KTable:
        """Each row with a new value, of the value, or of key and value."""
        named, materialized = take(options, keywords, Named, Materialized)
        internal = self._materialized_internal(materialized, _MAP)
        name = self._name(named, _MAP)
        operation = TableMapValues(mapper, internal.queryable_name if internal else None)
        node = self._derived(name, operation, internal)
        return self._table(node, internal, internal.value_serde if internal else None)

    def transform_values(self, supplier: Any, *options: Options | str, **keywords: Options) -> KTable:
        """Each row with a new value, by a user transformer, with the names of stores that it uses."""
        stores = [option for option in options if isinstance(option, str)]
        typed_options = tuple(option for option in options if not isinstance(option, str))
        named, materialized = take(typed_options, keywords, Named, Materialized)
        internal = _named_only(materialized)
        name = self._name(named, _TRANSFORM)
        operation = TableTransformValues(supplier, internal.queryable_name if internal else None)
        node = self._derived(name, operation, internal, stores)
        return self._table(node, internal, internal.value_serde if internal else None)

    def to_stream(self, *options: Function | Named, **keywords: Named) -> stream.KStream:
        """The changes as records, deletions with a null value; with a function, each with a new key."""
        mappers = [option for option in options if not isinstance(option, Named)]
        (named,) = take(tuple(option for option in options if isinstance(option, Named)), keywords, Named)
        name = self.flow.graph.names.name_or_generated(named.name if named else None, "KTABLE-TOSTREAM-")
        changes = stream.KStream(self.flow.to(Operator(name, ToStream())))
        return changes.select_key(mappers[0]) if mappers else changes

    def suppress(self, suppressed: Suppressed) -> KTable:
        """Suppress changes until a window closes or a time is over. Raises TopologyError for a table that is not windowed, and
        ArgumentError for what is no Suppressed.
        """
        if not isinstance(suppressed, Suppressed):
            raise ArgumentError(f"`suppressed` is {suppressed!r}, but should be a Suppressed.")
        node, graph = self.flow.node, self.flow.graph
        if node.versioned:
            raise TopologyError("suppress() is only supported for non-versioned KTables")
        name = suppressed.name if suppressed.name is not None else graph.names.processor(_SUPPRESS)
        wait_ms = suppressed.wait_ms if suppressed.wait_ms is not None else window_grace_ms(node)
        if suppressed.name is not None:
            store_name = f"{suppressed.name}-store"
        else:
            store_name = graph.names.store(_SUPPRESS)
            if suppressed.buffer.logging_enabled:
                graph.generated_names.changelogs.append(f"{store_name}-changelog")
        self.view.enable_sending_old_values(True)
        store = StateStore(
            name=store_name,
            kind=StoreKind.BUFFER,
            key_serde=self.flow.key_serde,
            value_serde=self.flow.value_serde,
            logging_enabled=suppressed.buffer.logging_enabled,
            log_config=suppressed.buffer.log_config,
        )
        buffer = SuppressNode(name, Suppress(suppressed, wait_ms, store_name), lambda: (store,))
        sources = frozenset({self.flow.name})
        return KTable(TableFlow(self.flow.to(buffer, sources=sources), SuppressedView(self.view, store_name), None))

    def group_by(self, selector: Function, *options: Grouped, **keywords: Grouped) -> grouped_table.KGroupedTable:
        """Rows with a new key and value, to be aggregated by that key."""
        grouped: Grouped = take(options, keywords, Grouped)[0] or Grouped()
        node = Operator(self.flow.graph.names.name_or_generated(grouped.name, "KTABLE-SELECT-"), TableGroupBy(selector))
        flow = self.flow.to(node, key_serde=grouped.key_serde, value_serde=grouped.value_serde)
        self.view.enable_sending_old_values(True)
        return grouped_table.KGroupedTable(flow, grouped)

    @overload
    def join(self, other: KTable, joiner: Function, *options: Options, **keywords: Options) -> KTable: ...
    @overload
    def join(
        self, other: KTable, foreign_key_extractor: Function, joiner: Function, *options: TableJoined | Materialized,
        **keywords: TableJoined | Materialized,
    ) -> KTable: ...  # fmt: skip
    def join(self, other: KTable, *arguments: Any, **keywords: Any) -> KTable:
        """Rows of both tables with one key; or, with a function that gives the other table's key, each row with that one."""
        return self._join(JoinKind.INNER, other, arguments, keywords)

    @overload
    def left_join(self, other: KTable, joiner: Function, *options: Options, **keywords: Options) -> KTable: ...
    @overload
    def left_join(
        self, other: KTable, foreign_key_extractor: Function, joiner: Function, *options: TableJoined | Materialized,
        **keywords: TableJoined | Materialized,
    ) -> KTable: ...  # fmt: skip
    def left_join(self, other: KTable, *arguments: Any, **keywords: Any) -> KTable:
        """Like `join`, and the rows of this table that have no partner."""
        return self._join(JoinKind.LEFT, other, arguments, keywords)

    def outer_join(self, other: KTable, joiner: Function, *options: Options, **keywords: Options) -> KTable:
        """Like `join`, and the rows of both tables that have no partner."""
        return KTable(
            table_join.join(JoinKind.OUTER, self.table, _table(other), joiner, take(options, keywords, Named, Materialized))
        )

    def _join(self, kind: JoinKind, other: KTable, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> KTable:
        other_table = _table(other)
        functions = [function for function in arguments if not isinstance(function, Named | Materialized | TableJoined)]
        functions += [keywords.pop(name) for name in ("foreign_key_extractor", "joiner") if name in keywords]
        options = tuple(option for option in arguments if isinstance(option, Named | Materialized | TableJoined))
        if not 1 <= len(functions) <= 2:
            raise ArgumentError("A KTable's join takes a joiner, and before it the foreign key's extractor if there is one.")
        if len(functions) == 2:
            join_options = take(options, keywords, TableJoined, Materialized)
            return KTable(foreign_key.join(kind, self.table, other_table, (functions[0], functions[1]), join_options))
        options_of_join = take(options, keywords, Named, Materialized)
        return KTable(table_join.join(kind, self.table, other_table, functions[0], options_of_join))

    def _filter(self, predicate: Function, negate: bool, options: tuple[Options, ...], keywords: dict[str, Options]) -> KTable:
        named, materialized = take(options, keywords, Named, Materialized)
        internal = self._materialized_internal(materialized, _FILTER)
        name = self._name(named, _FILTER)
        self.view.enable_sending_old_values(False)
        operation = TableFilter(predicate, negate, internal.queryable_name if internal else None)
        node = self._derived(name, operation, internal)
        serde = internal.value_serde if internal else None
        return self._table(node, internal, serde or self.flow.value_serde)

    def _materialized_internal(self, materialized: Materialized | None, prefix: str) -> MaterializedInternal | None:
        if materialized is not None and materialized.name is None:
            self.flow.graph.names.store(prefix)  # takes a number, but no store: only a named one is materialized
        return _named_only(materialized)

    def _name(self, named: Named | None, prefix: str) -> str:
        return self.flow.graph.names.name_or_generated(named.name if named else None, prefix)

    def _derived(
        self, name: str, operation: Operation, internal: MaterializedInternal | None, uses: Iterable[str] = ()
    ) -> Operator:
        store = internal.store() if internal and internal.queryable_name is not None else None
        if store is not None and store.key_serde is None:
            store = replace(store, key_serde=self.flow.key_serde)
        node = Operator(name, operation, (lambda: (store,)) if store else None, uses)
        if internal:
            node.versioned = internal.materialized.versioned
        return node

    def _table(self, node: Operator, internal: MaterializedInternal | None, value_serde: Any) -> KTable:
        queryable = internal.queryable_name if internal else None
        key_serde = (internal.key_serde if internal else None) or self.flow.key_serde
        flow = self.flow.to(node, key_serde=key_serde, value_serde=value_serde)
        return KTable(TableFlow(flow, DerivedView(self.view, queryable), queryable))


class SuppressNode(Operator):
    """A buffer of changes; the optimizer refuses versioned tables in front of it."""

    versioned = False


def window_grace_ms(node: GraphNode, chain: str = "") -> int:
    """The grace period of the windowed aggregations upstream of an operator. Raises TopologyError if there is none."""
    if node.grace_ms is not None:
        return node.grace_ms
    chain = f"{node.name}->{chain}" if chain else node.name
    if not node.parents:
        raise TopologyError(f"Window close time is only defined for windowed computations. Got [{chain}].")
    return max(window_grace_ms(parent, chain) for parent in node.parents)


def _table(other: object) -> TableFlow:
    if not isinstance(other, KTable):
        raise ArgumentError(f"A KTable joins a KTable, not {other!r}.")
    return other.table


def _named_only(materialized: Materialized | None) -> MaterializedInternal | None:
    return MaterializedInternal(materialized, materialized.name or "", materialized.name) if materialized else None
