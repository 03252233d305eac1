"""`StreamsBuilder`: builds a topology, without side effects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from headrace.errors import ArgumentError, TopologyError
from headrace.streams.config import TopologyConfig
from headrace.streams.flow import SOURCE, StreamFlow, TableFlow
from headrace.streams.global_table import GlobalKTable
from headrace.streams.graph import Graph
from headrace.streams.materialized import Materialized, MaterializedInternal, materialized_internal
from headrace.streams.optimizer import optimize
from headrace.streams.options import Consumed, take
from headrace.streams.sources import GlobalTableNode, StoreNode, StreamSource, TableSourceNode
from headrace.streams.stores import StateStore
from headrace.streams.stream import KStream
from headrace.streams.table import KTable
from headrace.streams.topology import Topology
from headrace.streams.unsupported import require_supported
from headrace.streams.views import SourceView

TABLE_SOURCE = "KTABLE-SOURCE-"
PROCESS_FIX = "__enable.process.processValue.fix__"  # an internal setting of Kafka Streams, read by the builder only
Topics = str | Iterable[str] | re.Pattern[str]


class StreamsBuilder:
    """Collects operators. `config`: settings of Kafka Streams that the topology depends on; `build` takes them as well."""

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self._config = dict(config or {})
        self._graph = Graph(str(self._config.get(PROCESS_FIX, False)).lower() == "true")

    def stream(self, topics: Topics, *options: Consumed, **keywords: Consumed) -> KStream:
        """The records of a topic, of several, or of all whose name matches a compiled pattern. Raises ArgumentError for what is
        none of them.
        """
        if not isinstance(topics, re.Pattern | Iterable):
            raise ArgumentError(f"`topics` is {topics!r}, but should be a topic, several, or a compiled pattern.")
        consumed: Consumed = take(options, keywords, Consumed)[0] or Consumed()
        subscription = topics if isinstance(topics, re.Pattern) else (topics,) if isinstance(topics, str) else tuple(topics)
        name = self._graph.names.name_or_generated(consumed.name, SOURCE)
        node = StreamSource(name, subscription, consumed)
        self._graph.add(self._graph.root, node)
        return KStream(StreamFlow(self._graph, name, node, frozenset({name}), consumed.key_serde, consumed.value_serde))

    def table(self, topic: str, *options: Consumed | Materialized, **keywords: Consumed | Materialized) -> KTable:
        """The latest value per key of a topic; a null value deletes."""
        consumed, internal = self._table_options(topic, options, keywords)
        source, name = self._table_names(consumed)
        view = SourceView(internal.store(), internal.queryable_name is not None)
        node = TableSourceNode(source, name, topic, consumed, view)
        node.versioned = internal.materialized.versioned
        self._graph.add(self._graph.root, node)
        flow = StreamFlow(self._graph, name, node, frozenset({source}), consumed.key_serde, consumed.value_serde)
        return KTable(TableFlow(flow, view, internal.queryable_name))

    def global_table(self, topic: str, *options: Consumed | Materialized, **keywords: Consumed | Materialized) -> GlobalKTable:
        """The latest value per key of a topic, complete in every instance. Raises TopologyError for a versioned store."""
        consumed, internal = self._table_options(topic, options, keywords, logged=False)
        if internal.materialized.versioned:
            raise TopologyError("GlobalTables cannot be versioned.")
        source, name = self._table_names(consumed)
        self._graph.add(self._graph.root, GlobalTableNode(source, name, topic, internal.store()))
        return GlobalKTable(internal.store_name, internal.queryable_name)

    def add_state_store(self, store: StateStore) -> StreamsBuilder:
        """Add a store for user processors; returns the builder. Raises ArgumentError for what is no store."""
        if not isinstance(store, StateStore):
            raise ArgumentError(f"`store` is {store!r}, but should be a StateStore.")
        self._graph.add(self._graph.root, StoreNode(store))
        return self

    def add_global_store(self, store: StateStore, topic: str, consumed: Consumed, supplier: Any) -> StreamsBuilder:
        """Add a store that a user processor fills from a topic, complete in every instance; returns the builder."""
        source, name = self._table_names(consumed)
        self._graph.add(self._graph.root, GlobalTableNode(source, name, topic, store, supplier))
        return self

    def build(self, config: Mapping[str, Any] | None = None) -> Topology:
        """The topology, optimized by `topology.optimization` of the config.

        Raises ConfigError, and TopologyError, also for unsupported operations.
        """
        topology = self.draft(config)
        require_supported(topology)
        return topology

    def draft(self, config: Mapping[str, Any] | None = None) -> Topology:
        """The topology for a description only, with unsupported operations too. Raises TopologyError, ConfigError."""
        settings = TopologyConfig({**self._config, **(config or {})})
        optimize(self._graph, settings.optimizations)
        topology = self._graph.write()
        topology.store_type = settings.store_type
        if settings.ensure_explicit_naming and (message := self._graph.generated_names.message()):
            raise TopologyError(message)
        return topology

    def _table_names(self, consumed: Consumed) -> tuple[str, str]:
        names = self._graph.names
        return names.suffixed_or_generated(consumed.name, "-source", SOURCE), names.name_or_generated(consumed.name, TABLE_SOURCE)

    def _table_options(
        self, topic: str, options: tuple[Consumed | Materialized, ...], keywords: dict[str, Any], *, logged: bool = True
    ) -> tuple[Consumed, MaterializedInternal]:
        """The serdes of Consumed win over those of Materialized; a generated store name begins with the topic's."""
        if not isinstance(topic, str):
            raise ArgumentError(f"A table reads one topic, not {topic!r}.")
        consumed, materialized = take(options, keywords, Consumed, Materialized)
        always_queryable = not logged and materialized is None  # Kafka's global tables, even by a generated name
        materialized = materialized or Materialized()
        if consumed is None:
            consumed = Consumed(None, materialized.key_serde, materialized.value_serde)
        else:
            materialized = replace(materialized, key_serde=consumed.key_serde, value_serde=consumed.value_serde)
        if not logged:
            materialized = materialized.with_logging_disabled()
        internal = materialized_internal(materialized, self._graph, f"{topic}-")
        return consumed, replace(internal, queryable_name=internal.store_name) if always_queryable else internal
