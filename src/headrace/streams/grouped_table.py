"""`KGroupedTable`: a table grouped by a new key; every aggregation is behind a repartition topic."""

from __future__ import annotations

from dataclasses import replace

from headrace.streams import table
from headrace.streams.flow import REPARTITION_SUFFIX, SINK, SOURCE, StreamFlow, TableFlow
from headrace.streams.functions import Aggregator, Function, Reducer, check_function
from headrace.streams.graph import Operator
from headrace.streams.materialized import Materialized, materialized_internal
from headrace.streams.operations import Aggregation, Count, Fold, Reduce, TableAggregate
from headrace.streams.options import Grouped, Named, take
from headrace.streams.serdes import Serdes
from headrace.streams.sources import Repartition
from headrace.streams.views import StoredView

Options = Named | Materialized
AGGREGATE, REDUCE = "KTABLE-AGGREGATE-", "KTABLE-REDUCE-"


class KGroupedTable:
    """A table grouped by a new key. An update first removes the old value from its group, then adds the new one."""

    def __init__(self, flow: StreamFlow, grouped: Grouped) -> None:
        self._flow, self._grouped = flow, grouped
        self._topic: Repartition | None = None

    def count(self, *options: Options, **keywords: Options) -> table.KTable:
        """The number of rows of each new key."""
        return self._aggregate(Count(), take(options, keywords, Named, Materialized))

    def reduce(self, adder: Function, subtractor: Function, *options: Options, **keywords: Options) -> table.KTable:
        """One value per new key, reduced two at a time."""
        check_function(subtractor, "subtractor", Reducer)
        return self._aggregate(Reduce(adder, subtractor), take(options, keywords, Named, Materialized))

    def aggregate(
        self, initializer: Function, adder: Function, subtractor: Function, *options: Options, **keywords: Options
    ) -> table.KTable:
        """One value per new key, beginning with the initializer's."""
        check_function(subtractor, "subtractor", Aggregator)
        fold = Fold(initializer, adder, subtractor=subtractor)
        return self._aggregate(fold, take(options, keywords, Named, Materialized))

    def _aggregate(self, aggregation: Aggregation, options: list) -> table.KTable:
        named, materialized = options
        name, graph, grouped = named.name if named else None, self._flow.graph, self._grouped
        value_serde = {Count: Serdes.long(), Reduce: grouped.value_serde}.get(type(aggregation))
        materialized = materialized or Materialized()
        materialized = replace(
            materialized,
            key_serde=materialized.key_serde or grouped.key_serde,
            value_serde=materialized.value_serde or value_serde,
        )
        internal = materialized_internal(materialized, graph, AGGREGATE)
        sink = graph.names.suffixed_or_generated(name, "-sink", SINK)
        source = graph.names.suffixed_or_generated(name, "-source", SOURCE)
        function = graph.names.name_or_generated(name, REDUCE if isinstance(aggregation, Reduce) else AGGREGATE)
        topic = (grouped.name if grouped.name is not None else internal.store_name) + REPARTITION_SUFFIX
        if self._topic is None or grouped.name is None:
            self._topic = Repartition(source, sink, None, topic)
            self._topic.optimizable = False
            self._topic.key_serde, self._topic.value_serde = grouped.key_serde, grouped.value_serde
        graph.add(self._flow.node, self._topic)
        store = internal.store()
        node = Operator(function, TableAggregate(aggregation, store.name), lambda: (store,))
        node.versioned = materialized.versioned
        flow = replace(self._flow, name=source, node=self._topic, sources=frozenset({source}))
        result = flow.to(node, key_serde=materialized.key_serde, value_serde=materialized.value_serde)
        return table.KTable(TableFlow(result, StoredView(store.name), internal.queryable_name))
