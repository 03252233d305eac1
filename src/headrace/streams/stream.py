"""`KStream`: a stream of records, and its operators.

User functions are stored as they are; the engine calls them with Columns. Options (`Named`, `Grouped` …) come last,
in any order or by keyword.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from headrace.errors import ArgumentError
from headrace.streams import branched, global_table, grouped_stream, stream_join, table
from headrace.streams.flow import FILTER, SINK, StreamFlow, TableFlow, repartition
from headrace.streams.functions import Function
from headrace.streams.graph import Operator
from headrace.streams.materialized import Materialized, materialized_internal
from headrace.streams.operations import FilterOperation as FilterOperation
from headrace.streams.operations import (
    FlatMap,
    FlatMapValues,
    ForEach,
    JoinKind,
    Map,
    MapValues,
    Operation,
    PassThrough,
    Peek,
    Print,
    SelectKey,
    TableSource,
    UserProcessor,
)
from headrace.streams.options import Grouped, Joined, Named, Printed, Produced, Repartitioned, StreamJoined, take, take_one
from headrace.streams.serdes import Serde
from headrace.streams.sources import Repartition, StreamSink
from headrace.streams.topology import own_stores
from headrace.streams.views import SourceView
from headrace.streams.windows import JoinWindows

if TYPE_CHECKING:
    from headrace.streams.branched import BranchedKStream
    from headrace.streams.global_table import GlobalKTable
    from headrace.streams.grouped_stream import KGroupedStream
    from headrace.streams.table import KTable

_KEY_SELECT, _TO_TABLE = "KSTREAM-KEY-SELECT-", "KSTREAM-TOTABLE-"


class KStream:
    """A stream of records. `repartition_required`: its key has changed, so whatever needs the key has to repartition first."""

    def __init__(self, flow: StreamFlow, repartition_required: bool = False) -> None:
        self.flow = flow
        self.repartition_required = repartition_required
        self._repartitioned: Repartition | None = None

    def filter(self, predicate: Function, *options: Named, **keywords: Named) -> KStream:
        """Keep the records for which the predicate of key and value is true."""
        return self._same(FILTER, FilterOperation(predicate), *take(options, keywords, Named))

    def filter_not(self, predicate: Function, *options: Named, **keywords: Named) -> KStream:
        """Keep the records for which the predicate of key and value is false."""
        return self._same(FILTER, FilterOperation(predicate, negate=True), *take(options, keywords, Named))

    def peek(self, action: Function, *options: Named, **keywords: Named) -> KStream:
        """Call an action with every record, and pass the record on."""
        return self._same("KSTREAM-PEEK-", Peek(action), *take(options, keywords, Named))

    def map_values(self, mapper: Function, *options: Named, **keywords: Named) -> KStream:
        """Give each record a new value, of the value, or of key and value."""
        return self._new_value("KSTREAM-MAPVALUES-", MapValues(mapper), *take(options, keywords, Named))

    def flat_map_values(self, mapper: Function, *options: Named, **keywords: Named) -> KStream:
        """Map each record to any number of values."""
        return self._new_value("KSTREAM-FLATMAPVALUES-", FlatMapValues(mapper), *take(options, keywords, Named))

    def select_key(self, mapper: Function, *options: Named, **keywords: Named) -> KStream:
        """Give each record a new key."""
        stream = self._new_key(_KEY_SELECT, SelectKey(mapper), *take(options, keywords, Named))
        return KStream(replace(stream.flow, value_serde=self.flow.value_serde), True)

    def map(self, mapper: Function, *options: Named, **keywords: Named) -> KStream:
        """Give each record a new key and value."""
        return self._new_key("KSTREAM-MAP-", Map(mapper), *take(options, keywords, Named))

    def flat_map(self, mapper: Function, *options: Named, **keywords: Named) -> KStream:
        """Map each record to any number of keys and values."""
        return self._new_key("KSTREAM-FLATMAP-", FlatMap(mapper), *take(options, keywords, Named))

    def for_each(self, action: Function, *options: Named, **keywords: Named) -> None:
        """Call an action with every record; ends the stream."""
        (named,) = take(options, keywords, Named)
        self.flow.to(Operator(self._name(named, "KSTREAM-FOREACH-"), ForEach(action)))

    foreach = for_each

    def print(self, printed: Printed) -> None:
        """Print every record; the default label is the name of this stream."""
        name = self.flow.graph.names.name_or_generated(printed.name, "KSTREAM-PRINTER-")
        self.flow.to(Operator(name, Print(printed, printed.label if printed.label is not None else self.flow.name)))

    def split(self, *options: Named, **keywords: Named) -> BranchedKStream[KStream]:
        """Split into branches; each record goes to the first one whose predicate is true."""
        (named,) = take(options, keywords, Named)
        name = named.name if named else None
        return branched.BranchedKStream(self.flow, name, lambda flow: KStream(flow, self.repartition_required))

    def merge(self, other_stream: KStream, *options: Named, **keywords: Named) -> KStream:
        """The records of both streams, without an order between them. Raises ArgumentError for what is no KStream."""
        if not isinstance(other_stream, KStream):
            raise ArgumentError(f"A KStream merges with a KStream, not with {other_stream!r}.")
        (named,) = take(options, keywords, Named)
        node = Operator(self._name(named, "KSTREAM-MERGE-"), PassThrough())
        node.merges = True
        self.flow.graph.add([self.flow.node, other_stream.flow.node], node)
        sources = self.flow.sources | other_stream.flow.sources
        flow = StreamFlow(self.flow.graph, node.name, node, sources)
        return KStream(flow, self.repartition_required or other_stream.repartition_required)

    def repartition(self, *options: Repartitioned, **keywords: Repartitioned) -> KStream:
        """Write to a repartition topic and read it, with an optional number of partitions."""
        repartitioned: Repartitioned = take(options, keywords, Repartitioned)[0] or Repartitioned()
        prefix = repartitioned.name if repartitioned.name is not None else self.flow.graph.names.processor("KSTREAM-REPARTITION-")
        node = repartition(self.flow.graph, prefix, repartitioned.name is not None)
        node.optimizable, node.partitions, node.partitioner = False, repartitioned.partitions, repartitioned.partitioner
        node.key_serde, node.value_serde = repartitioned.key_serde, repartitioned.value_serde or self.flow.value_serde
        key_serde = repartitioned.key_serde or self.flow.key_serde
        sources = frozenset({node.name})
        return KStream(self.flow.to(node, sources=sources, key_serde=key_serde, value_serde=node.value_serde))

    def to(self, topic: str | Callable[..., Any], *options: Produced, **keywords: Produced) -> None:
        """Write to an existing topic, or to that which a function of key, value and context returns."""
        produced: Produced = take(options, keywords, Produced)[0] or Produced()
        produced = replace(
            produced,
            key_serde=produced.key_serde or self.flow.key_serde,
            value_serde=produced.value_serde or self.flow.value_serde,
        )
        self.flow.to(StreamSink(self.flow.graph.names.name_or_generated(produced.name, SINK), topic, produced))

    def to_table(self, *options: Named | Materialized, **keywords: Named | Materialized) -> KTable:
        """The latest value per key; a null value deletes."""
        named, materialized = take(options, keywords, Named, Materialized)
        graph = self.flow.graph
        name = self._name(named, _TO_TABLE)
        internal = materialized_internal(
            materialized or Materialized.with_(self.flow.key_serde, self.flow.value_serde), graph, _TO_TABLE
        )
        serdes = {
            "key_serde": internal.key_serde or self.flow.key_serde,
            "value_serde": internal.value_serde or self.flow.value_serde,
        }
        flow = self.flow
        if self.repartition_required:
            topic = repartition(graph, name, named is not None)
            topic.key_serde, topic.value_serde = serdes["key_serde"], serdes["value_serde"]
            flow = flow.to(topic, sources=frozenset({topic.name}))
        view = SourceView(internal.store(), internal.queryable_name is not None)
        node = Operator(name, TableSource(internal.store_name), view.state_stores)
        node.versioned = internal.materialized.versioned
        return table.KTable(TableFlow(flow.to(node, **serdes), view, internal.queryable_name))

    def group_by_key(self, *options: Grouped, **keywords: Grouped) -> KGroupedStream:
        """Group records by their key."""
        grouped: Grouped = take(options, keywords, Grouped)[0] or Grouped(None, self.flow.key_serde, self.flow.value_serde)
        return grouped_stream.KGroupedStream(self.flow, grouped, self.repartition_required)

    def group_by(self, key_selector: Function, *options: Grouped, **keywords: Grouped) -> KGroupedStream:
        """Group records by a new key."""
        grouped: Grouped = take(options, keywords, Grouped)[0] or Grouped(None, None, self.flow.value_serde)
        named = Named(grouped.name) if grouped.name is not None else None
        stream = self._new_key(_KEY_SELECT, SelectKey(key_selector), named)
        return grouped_stream.KGroupedStream(stream.flow, grouped, True)

    @overload
    def join(self, other: KStream, joiner: Function, windows: JoinWindows, stream_joined: StreamJoined = ...) -> KStream: ...
    @overload
    def join(self, other: KTable, joiner: Function, joined: Joined = ...) -> KStream: ...
    @overload
    def join(self, other: GlobalKTable, key_selector: Function, joiner: Function, named: Named = ...) -> KStream: ...
    def join(self, other: Any, *arguments: Any, **keywords: Any) -> KStream:
        """Records with those of a stream near in time, or with the row of a table or global table; none without a partner."""
        return self._join(JoinKind.INNER, other, arguments, keywords)

    @overload
    def left_join(self, other: KStream, joiner: Function, windows: JoinWindows, stream_joined: StreamJoined = ...) -> KStream: ...
    @overload
    def left_join(self, other: KTable, joiner: Function, joined: Joined = ...) -> KStream: ...
    @overload
    def left_join(self, other: GlobalKTable, key_selector: Function, joiner: Function, named: Named = ...) -> KStream: ...
    def left_join(self, other: Any, *arguments: Any, **keywords: Any) -> KStream:
        """Like `join`, and the records of this stream that have no partner."""
        return self._join(JoinKind.LEFT, other, arguments, keywords)

    def outer_join(
        self, other: KStream, joiner: Function, windows: JoinWindows, stream_joined: StreamJoined | None = None
    ) -> KStream:
        """Like `join`, and the records of both streams that have no partner."""
        if not isinstance(other, KStream):
            raise ArgumentError(f"A KStream has an outer join with a KStream, not with {other!r}.")
        return self._join_stream(JoinKind.OUTER, other, joiner, windows, stream_joined)

    def process(self, supplier: Any, *options: Named | str, **keywords: Named) -> KStream:
        """Apply a user processor, with the names of stores that it uses; it may change the key."""
        return KStream(self._process("KSTREAM-PROCESSOR-", UserProcessor(supplier), options, keywords), True)

    def process_values(self, supplier: Any, *options: Named | str, **keywords: Named) -> KStream:
        """Apply a user processor, with the names of stores that it uses; it must not change the key."""
        flow = self._process("KSTREAM-PROCESSVALUES-", UserProcessor(supplier, keeps_key=True), options, keywords)
        return KStream(replace(flow, key_serde=self.flow.key_serde), self.repartition_required)

    def _join(self, kind: JoinKind, other: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> KStream:
        if isinstance(other, KStream):
            return self._join_stream(kind, other, *arguments, **keywords)
        if isinstance(other, table.KTable):
            return self._join_table(kind, other, *arguments, **keywords)
        if isinstance(other, global_table.GlobalKTable):
            flow = stream_join.join_global(kind, self.flow, other, *arguments, **keywords)
            return KStream(flow, self.repartition_required)
        raise ArgumentError(f"A KStream joins a KStream, a KTable or a GlobalKTable, not {other!r}.")

    def _join_stream(
        self, kind: JoinKind, other: KStream, joiner: Function, windows: JoinWindows, stream_joined: StreamJoined | None = None
    ) -> KStream:
        if not isinstance(windows, JoinWindows):
            raise ArgumentError(f"`windows` is {windows!r}, but should be JoinWindows.")
        joined: StreamJoined = take_one(stream_joined, StreamJoined) or StreamJoined()
        left_topic, right_topic = (None, None) if joined.name is None else (f"{joined.name}-left", f"{joined.name}-right")
        left = self._flow_for_join(left_topic, joined.key_serde, joined.value_serde)
        right = other._flow_for_join(right_topic, joined.key_serde, joined.other_value_serde)
        return KStream(stream_join.join(kind, left, right, joiner, windows, joined))

    def _join_table(self, kind: JoinKind, other: KTable, joiner: Function, joined: Joined | None = None) -> KStream:
        options: Joined = take_one(joined, Joined) or Joined()
        left = self._flow_for_join(options.name, options.key_serde, options.value_serde)
        return KStream(stream_join.join_table(kind, left, other.table, joiner, options))

    def _flow_for_join(self, topic_name: str | None, key_serde: Serde | None, value_serde: Serde | None) -> StreamFlow:
        """Behind a repartition topic if the key has changed; without a name for it, behind that of an earlier join."""
        if not self.repartition_required:
            return self.flow
        topic = repartition(self.flow.graph, self.flow.name if topic_name is None else topic_name, topic_name is not None)
        topic.key_serde, topic.value_serde = key_serde or self.flow.key_serde, value_serde or self.flow.value_serde
        if self._repartitioned is None or topic_name not in (None, self.flow.name):
            self._repartitioned = topic
            self.flow.graph.add(self.flow.node, topic)
        sources = frozenset({topic.name})
        return StreamFlow(self.flow.graph, topic.name, self._repartitioned, sources, topic.key_serde, topic.value_serde)

    def _name(self, named: Named | None, prefix: str) -> str:
        return self.flow.graph.names.name_or_generated(named.name if named else None, prefix)

    def _same(self, prefix: str, operation: Operation, named: Named | None) -> KStream:
        return KStream(self.flow.to(Operator(self._name(named, prefix), operation)), self.repartition_required)

    def _new_value(self, prefix: str, operation: Operation, named: Named | None) -> KStream:
        node = Operator(self._name(named, prefix), operation)
        node.changes_value = True
        return KStream(self.flow.to(node, value_serde=None), self.repartition_required)

    def _new_key(self, prefix: str, operation: Operation, named: Named | None) -> KStream:
        node = Operator(self._name(named, prefix), operation)
        node.changes_key = True
        return KStream(self.flow.to(node, key_serde=None, value_serde=None), True)

    def _process(
        self, prefix: str, operation: UserProcessor, options: tuple[Named | str, ...], keywords: dict[str, Any]
    ) -> StreamFlow:
        stores = [option for option in options if isinstance(option, str)]
        (named,) = take(tuple(option for option in options if not isinstance(option, str)), keywords, Named)
        # A user's name takes no number here: Kafka generates a name only if it needs one.
        name = named.name if named else self.flow.graph.names.processor(prefix)
        node = Operator(name, operation, lambda: own_stores(operation.supplier), stores)
        node.changes_value = self.flow.graph.processors_change
        node.changes_key = node.changes_value and not operation.keeps_key
        return self.flow.to(node, key_serde=None, value_serde=None)
