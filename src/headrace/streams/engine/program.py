"""The program of a sub-topology: its nodes in order, each compiled to Spark expressions.

The nodes are compiled once, before the first batch. This determines the types of all stores and repartition topics, and finds
functions that Spark refuses before anything has been read. The plan is run for every batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from headrace.errors import StreamsError
from headrace.streams import operations as ops
from headrace.streams.engine import sinks
from headrace.streams.engine.child_order import ChildOrder, child_order, with_child_number
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import (
    AggregationInput,
    Changes,
    Flow,
    Records,
    Regrouped,
    SubscriptionRegistrations,
    SubscriptionResponses,
)
from headrace.streams.engine.operators import (
    aggregates,
    foreign_keys,
    grace,
    joins,
    processors,
    sessions,
    sliding,
    stateless,
    stream_joins,
    suppress,
    tables,
    transformers,
)
from headrace.streams.nodes import Node, ProcessorNode, SinkNode, SourceNode
from headrace.streams.processor_groups import dependencies, owned_stores, processor_groups
from headrace.streams.topology import Topology
from headrace.streams.windows import SessionWindows, SlidingWindows

if TYPE_CHECKING:
    from headrace.streams.engine.sinks import SinkTopics

Operator = Callable[["Program", Context, ProcessorNode, Any, list[Flow]], Flow]


@dataclass(frozen=True)
class Program:
    """A sub-topology: its nodes in an order in which each comes after those it needs."""

    number: int
    """Of the sub-topology."""
    nodes: tuple[Node, ...]
    children: Mapping[str, tuple[Node, ...]]
    """The children of each node, in the order in which Kafka Streams passes a record to them."""
    child_order: ChildOrder
    tables_with_all_changes: frozenset[str]
    """Tables that stream-table joins or processors look up, and those that they are derived from."""
    read: Mapping[str, Mapping[str, str]]
    """By processor, the stores of tables that it reads, each with the operator whose result it is."""
    groups: Mapping[str, frozenset[str]]
    """By processor that shares a store, its group: itself and those that run together with it."""

    @classmethod
    def of(cls, topology: Topology, number: int, names: tuple[str, ...]) -> Program:
        """The program of a group of nodes."""
        added = [topology.nodes[name] for name in names]
        children = {node.name: tuple(other for other in added if node.name in other.parents) for node in added}
        read = {node.name: stores_read for node in added if (stores_read := owned_stores(node, added))}
        groups = processor_groups(added)
        before = {node.name: (*dependencies(node), *read.get(node.name, {}).values()) for node in added}
        # The dependencies of one processor run before its whole group; within a record its processors run one after the other.
        whole = {
            name: tuple(needed for member in groups[name] for needed in before[member] if needed not in groups[name])
            for name in groups
        }

        def all_before(node: Node) -> tuple[str, ...]:
            return (*before[node.name], *whole.get(node.name, ()))

        met = child_order(added, children, lambda node: (*all_before(node), *groups.get(node.name, ())))
        tables_with_all_changes = _tables_with_all_changes(
            added, {name for owner_by_store in read.values() for name in owner_by_store.values()}
        )
        return cls(number, _sorted(added, all_before), children, met, tables_with_all_changes, read, groups)

    @property
    def sources(self) -> tuple[SourceNode, ...]:
        """The sources of the sub-topology."""
        return tuple(node for node in self.nodes if isinstance(node, SourceNode))

    def run(self, context: Context, inputs: Mapping[str, Flow], topics: SinkTopics) -> None:
        """Compile inputs, by source, into the outputs of the context. Raises StreamsError."""
        self._run(self.nodes, context, inputs, topics)

    def infer_formats(self, context: Context, inputs: Mapping[str, Flow], topics: SinkTopics) -> None:
        """Compile the nodes that depend on these inputs only, which determines the formats of some of the written topics."""
        unknown = {source.name for source in self.sources} - set(inputs)
        for node in self.nodes:
            together = [member for member in self.nodes if member.name in self.groups.get(node.name, (node.name,))]
            if any(
                unknown.intersection((*dependencies(member), *self.read.get(member.name, {}).values())) for member in together
            ):
                unknown.add(node.name)
        self._run(tuple(node for node in self.nodes if node.name not in unknown), context, inputs, topics)

    def _run(self, nodes: tuple[Node, ...], context: Context, inputs: Mapping[str, Flow], topics: SinkTopics) -> None:
        context.flows.update(inputs)
        context.tables_with_all_changes, context.defaults = self.tables_with_all_changes, topics.defaults
        written: list[tuple[SinkNode, Flow]] = []
        for node in nodes:
            if isinstance(node, SinkNode):
                written += [(node, self.flow(context, parent, node.name)) for parent in node.parents]
            elif isinstance(node, ProcessorNode):
                self._process(context, node)
        context.write(sinks.rows(written, topics))

    def _process(self, context: Context, node: ProcessorNode) -> None:
        operation = node.operation
        # The inputs of a user processor are compiled with its group.
        is_grouped = isinstance(operation, ops.UserProcessor)
        parents = [] if is_grouped else [self.flow(context, parent, node.name) for parent in node.parents]
        if isinstance(operation, ops.Branch):
            for child, records in stateless.branch(node.name, operation, _records(node, parents)).items():
                context.flows[f"{node.name}>{child}"] = records
            return
        context.flows[node.name] = _OPERATORS[type(operation)](self, context, node, operation, parents)

    def flow(self, context: Context, parent: str, child: str) -> Flow:
        """The flow from a node to one of its children."""
        branch = f"{parent}>{child}"
        parent_flow = context.flows[branch if branch in context.flows else parent]
        place = self.child_order.get((parent, child))
        return parent_flow if place is None else with_child_number(parent_flow, place)

    def parent(self, node: ProcessorNode, index: int = 0) -> Node:
        """A parent of a node, with its own parents."""
        return next(candidate for candidate in self.nodes if candidate.name == node.parents[index])


def _sorted(nodes: list[Node], dependencies: Callable[[Node], tuple[str, ...]]) -> tuple[Node, ...]:
    names, remaining, in_order = {node.name for node in nodes}, list(nodes), []
    done: set[str] = set()
    while remaining:
        ready = [node for node in remaining if all(other in done or other not in names for other in dependencies(node))]
        in_order += ready
        done |= {node.name for node in ready}
        remaining = [node for node in remaining if node.name not in done]
    return tuple(in_order)


def _tables_with_all_changes(nodes: list[Node], read: set[str]) -> frozenset[str]:
    by_name = {node.name: node for node in nodes}
    joins_ = [node.operation for node in nodes if isinstance(node, ProcessorNode)]
    waiting = [*read, *(operation.table for operation in joins_ if isinstance(operation, ops.StreamTableJoin))]
    tables_with_all_changes: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in tables_with_all_changes:
            tables_with_all_changes.add(name)
            waiting.extend(by_name[name].parents)
    return frozenset(tables_with_all_changes)


def _records(node: ProcessorNode, flows: list[Flow]) -> Records:
    converted = [tables.to_stream(flow) if isinstance(flow, Changes) else flow for flow in flows]
    if not all(isinstance(flow, Records) for flow in converted):
        raise StreamsError(f"{node.name} cannot follow what comes before it.")
    records = cast("list[Records]", converted)
    return records[0] if len(records) == 1 else stateless.merged(node.name, records)


def _stateless(function: Callable[[str, Any, Records], Records]) -> Operator:
    return lambda _program, _context, node, operation, flows: function(node.name, operation, _records(node, flows))


def _pass(program: Program, context: Context, node: ProcessorNode, operation: Any, flows: list[Flow]) -> Flow:
    joins_ = [program.parent(node, i) for i in range(len(node.parents))]
    if len(joins_) == 2 and all(
        isinstance(side, ProcessorNode) and isinstance(side.operation, ops.StreamJoin) for side in joins_
    ):
        return _stream_join(program, context, node, cast("list[ProcessorNode]", joins_))
    return flows[0] if len(flows) == 1 else _records(node, flows)


def _stream_join(program: Program, context: Context, node: ProcessorNode, sides: list[ProcessorNode]) -> Flow:
    left, right = sides
    operation = cast(ops.StreamJoin, left.operation)
    right_operation = cast(ops.StreamJoin, right.operation)
    left_records, right_records = [cast(Records, context.flows[side.name]) for side in sides]
    stores = stream_joins.Sides(left_records, right_records, right_operation.other_store, operation.other_store)
    return stream_joins.join(context, node.name, operation, stores)


def _call_for_each(_program: Program, context: Context, node: ProcessorNode, operation: Any, flows: list[Flow]) -> Flow:
    return stateless.call_for_each(context, node.name, operation, _records(node, flows))


def _process(program: Program, context: Context, node: ProcessorNode, _operation: Any, _flows: list[Flow]) -> Flow:
    if node.name not in context.flows:  # the first of a group compiles all of them
        names = program.groups.get(node.name, (node.name,))
        nodes = [member for member in program.nodes if member.name in names and isinstance(member, ProcessorNode)]
        together = [_processing(program, context, member, nodes) for member in nodes]
        outputs = processors.process(context, together, _stores_of(program, context, nodes))
        for member, forwarded in zip(nodes, outputs, strict=True):
            context.flows[member.name] = forwarded.records
            context.flows.update({f"{member.name}>{child}": records for child, records in forwarded.by_child.items()})
    return context.flows[node.name]


def _processing(program: Program, context: Context, node: ProcessorNode, together: list[ProcessorNode]) -> processors.Processing:
    """A processor with its input from other operators, and its children in the group."""
    names = [member.name for member in together]
    outside = [program.flow(context, parent, node.name) for parent in node.parents if parent not in names]
    behind = [child.name for child in program.children[node.name] if child.name in names]
    forwards = tuple((names.index(name), program.child_order.get((node.name, name))) for name in behind)
    operation = cast(ops.UserProcessor, node.operation)
    records = _records(node, outside) if outside else None
    children = tuple(child.name for child in program.children[node.name])
    return processors.Processing(node.name, operation, records, forwards, frozenset(node.stores), children)


def _stores_of(program: Program, context: Context, nodes: list[ProcessorNode]) -> processors.ProcessorStores:
    """The stores of processors: their own, and the tables that they read."""
    tables_ = {store: owner for node in nodes for store, owner in program.read.get(node.name, {}).items()}
    read = {store: cast(Changes, context.flows[owner]) for store, owner in tables_.items()}
    own_stores = dict.fromkeys(store for node in nodes for store in node.stores if store not in read)
    return processors.ProcessorStores(tuple(own_stores), read)


def _aggregate(
    program: Program, context: Context, node: ProcessorNode, operation: ops.StreamAggregate, flows: list[Flow]
) -> Flow:
    stream_input = AggregationInput(_records(node, flows), operation, node.name)
    if any(
        isinstance(child, ProcessorNode) and isinstance(child.operation, ops.CogroupMerge)
        for child in program.children[node.name]
    ):
        return stream_input
    return _windowed(operation)(context, node.name, operation, [stream_input])


def _cogroup(_program: Program, context: Context, node: ProcessorNode, _operation: Any, flows: list[Flow]) -> Flow:
    inputs = cast("list[AggregationInput]", flows)
    return _windowed(inputs[0].operation)(context, node.name, inputs[0].operation, inputs)


def _windowed(operation: ops.StreamAggregate) -> Callable[[Context, str, ops.StreamAggregate, list[AggregationInput]], Changes]:
    if isinstance(operation.windows, SessionWindows):
        return sessions.aggregate
    return sliding.aggregate if isinstance(operation.windows, SlidingWindows) else aggregates.aggregate


def _table_source(
    _program: Program, context: Context, node: ProcessorNode, operation: ops.TableSource, flows: list[Flow]
) -> Flow:
    return tables.source(context, node.name, operation.store, bool(node.stores), _records(node, flows))


def _changes(function: Callable[[Context, str, Any, Changes], Flow]) -> Operator:
    return lambda _program, context, node, operation, flows: function(context, node.name, operation, cast(Changes, flows[0]))


def _transform(
    program: Program, context: Context, node: ProcessorNode, operation: ops.TableTransformValues, flows: list[Flow]
) -> Flow:
    stores = _stores_of(program, context, [node])
    stores = replace(stores, own=tuple(store for store in stores.own if store != operation.store))
    return transformers.transform(context, node.name, operation, cast(Changes, flows[0]), stores)


def _join_table(
    program: Program, context: Context, node: ProcessorNode, operation: ops.StreamTableJoin, flows: list[Flow]
) -> Flow:
    table = context.flows[operation.table]
    assert isinstance(table, Changes)
    records = _records(node, flows)
    if operation.grace_ms is not None and operation.buffer is not None:
        records = grace.buffer_records(context, node.name, operation.buffer, operation.grace_ms, records)
    return joins.stream_table(context, node.name, operation, records, table)


def _merge_tables(
    program: Program, context: Context, node: ProcessorNode, operation: ops.TableJoinMerge, flows: list[Flow]
) -> Flow:
    side, other_side = program.parent(node), program.parent(node, 1)
    assert isinstance(side, ProcessorNode) and isinstance(side.operation, ops.TableJoin)
    left, right = (cast(Changes, program.flow(context, join_side.parents[0], join_side.name)) for join_side in (side, other_side))
    changes = joins.tables(context, node.name, side.operation, left, right)
    return changes if operation.store is None else tables.materialize(context, operation.store, changes)


def _suppress(program: Program, context: Context, node: ProcessorNode, operation: ops.Suppress, flows: list[Flow]) -> Flow:
    windowed = operation.suppressed.wait_ms is None
    return suppress.suppress(context, node.name, operation, cast(Changes, flows[0]), windowed)


def _repartition_filter(_program: Program, _context: Context, node: ProcessorNode, operation: Any, flows: list[Flow]) -> Flow:
    if isinstance(flows[0], Regrouped):  # has no rows without a key
        return flows[0]
    return stateless.repartition_filter(node.name, operation, _records(node, flows))


def _receive_subscriptions(
    program: Program, context: Context, node: ProcessorNode, operation: ops.SubscriptionReceive, flows: list[Flow]
) -> Flow:
    return foreign_keys.receive(context, operation.store, cast(SubscriptionRegistrations, flows[0]))


def _join_subscriptions(
    program: Program, context: Context, node: ProcessorNode, operation: ops.SubscriptionJoin, flows: list[Flow]
) -> Flow:
    right = cast(Changes, context.flows[operation.table])
    return foreign_keys.join_subscriptions(node.name, cast(SubscriptionRegistrations, flows[0]), right)


def _join_foreign_table(
    program: Program, context: Context, node: ProcessorNode, operation: ops.ForeignTableJoin, flows: list[Flow]
) -> Flow:
    registrations = cast(SubscriptionRegistrations, context.flows[operation.receive])
    return foreign_keys.join_foreign_table(context, operation.store, cast(Changes, flows[0]), registrations)


def _join_responses(
    program: Program, context: Context, node: ProcessorNode, operation: ops.ResponseJoin, flows: list[Flow]
) -> Flow:
    send = next(candidate for candidate in program.nodes if candidate.name == operation.send)
    assert isinstance(send, ProcessorNode) and isinstance(send.operation, ops.SubscriptionSend)
    left = cast(Changes, context.flows[send.parents[0]])
    return foreign_keys.join_responses(
        node.name, operation, send.operation.extractor, left, cast(SubscriptionResponses, flows[0])
    )


def _same(_program: Program, _context: Context, node: ProcessorNode, _operation: Any, flows: list[Flow]) -> Flow:
    return flows[0]


_OPERATORS: dict[type, Operator] = {
    ops.FilterOperation: _stateless(stateless.filter_records),
    ops.SelectKey: _stateless(stateless.select_key),
    ops.Map: _stateless(stateless.map_records),
    ops.MapValues: _stateless(stateless.map_values),
    ops.FlatMap: _stateless(stateless.flat_map),
    ops.FlatMapValues: _stateless(stateless.flat_map_values),
    ops.RepartitionFilter: _repartition_filter,
    ops.Peek: _call_for_each,
    ops.ForEach: _call_for_each,
    ops.Print: _call_for_each,
    ops.UserProcessor: _process,
    ops.PassThrough: _pass,
    ops.StreamAggregate: _aggregate,
    ops.CogroupMerge: _cogroup,
    ops.TableSource: _table_source,
    ops.TableFilter: _changes(tables.filter_table),
    ops.TableMapValues: _changes(tables.map_table),
    ops.TableTransformValues: _transform,
    ops.ToStream: lambda p, c, n, o, f: tables.to_stream(cast(Changes, f[0])),
    ops.TableGroupBy: lambda p, c, n, o, f: tables.regroup(n.name, o, cast(Changes, f[0])),
    ops.TableAggregate: lambda p, c, n, o, f: tables.aggregate(c, n.name, o, cast(Regrouped, f[0])),
    ops.JoinBuffer: _same,
    ops.StreamJoin: _same,
    ops.SelfJoin: lambda p, c, n, o, f: stream_joins.self_join(c, n.name, o, _records(n, f), o.store),
    ops.StreamTableJoin: _join_table,
    ops.GlobalTableJoin: lambda p, c, n, o, f: joins.with_global(c, n.name, o, _records(n, f)),
    ops.TableJoin: _same,
    ops.TableJoinMerge: _merge_tables,
    ops.Suppress: _suppress,
    ops.SubscriptionSend: _changes(lambda c, n, o, changes: foreign_keys.send(n, o, changes)),
    ops.SubscriptionReceive: _receive_subscriptions,
    ops.SubscriptionJoin: _join_subscriptions,
    ops.ForeignTableJoin: _join_foreign_table,
    ops.ResponseJoin: _join_responses,
}  # fmt: skip
