"""Operators that read and write topics: sources, tables from topics, sinks, repartition topics, global stores."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from headrace.errors import TopologyError
from headrace.streams.graph import GraphNode
from headrace.streams.nodes import RepartitionTopic
from headrace.streams.operations import RepartitionFilter, TableSource
from headrace.streams.options import Consumed, Partitioner, Produced
from headrace.streams.serdes import Serde
from headrace.streams.stores import StateStore
from headrace.streams.topology import Topology
from headrace.streams.views import SourceView
from headrace.values.java_hash import hash_order


class StreamSource(GraphNode):
    """`stream`: topics, or those that match a pattern."""

    def __init__(self, name: str, topics: tuple[str, ...] | re.Pattern[str], consumed: Consumed) -> None:
        super().__init__(name)
        self.topics = topics
        self.consumed = consumed

    def absorb(self, other: StreamSource) -> None:
        """Move the children of a source of the same topics here. Raises TopologyError for another reset policy."""
        if self.consumed.reset_policy != other.consumed.reset_policy:
            raise TopologyError("Can't configure different offset reset policies on the same input topic(s)")
        for child in list(other.children):
            other.remove_child(child)
            self.add_child(child)

    def write(self, topology: Topology) -> None:
        """Add a source."""
        topics = (self.topics,) if isinstance(self.topics, re.Pattern) else hash_order(self.topics, copied=True)
        topology.add_source(self.name, *topics, consumed=self.consumed)


class TableSourceNode(GraphNode):
    """`table`: a source, and the processor that turns its records into changes."""

    def __init__(self, source: str, processor: str, topic: str, consumed: Consumed, view: SourceView) -> None:
        super().__init__(processor)
        self.source, self.topic, self.consumed, self.view = source, topic, consumed, view
        self.reuses_source_topic = False

    def write(self, topology: Topology) -> None:
        """Add a source, a processor, and its store if an operator needs it."""
        store = self.view.store
        topology.add_source(self.source, self.topic, consumed=self.consumed)
        topology.add_operation(self.name, TableSource(store.name), (self.source,))
        if self.view.materialized:
            topology.add_state_store(store, self.name)
            if self.reuses_source_topic:
                topology.disable_logging(store.name)
                topology.use_source_as_changelog(store.name, self.topic)


class GlobalTableNode(GraphNode):
    """`global_table` and `add_global_store`. `supplier`: of the user processor, None for a table."""

    def __init__(self, source: str, processor: str, topic: str, store: StateStore, supplier: Any = None) -> None:
        super().__init__(processor)
        self.source, self.topic, self.store = source, topic, store
        self.supplier = supplier

    def write(self, topology: Topology) -> None:
        """Add a source and a processor that fills the store."""
        supplier = TableSource(self.store.name) if self.supplier is None else self.supplier
        topology.add_global_store(self.store, self.source, self.topic, self.name, supplier)


class StreamSink(GraphNode):
    """`to`: a topic, or a function that returns the topic of each record."""

    def __init__(self, name: str, topic: str | Callable[..., Any], produced: Produced) -> None:
        super().__init__(name)
        self.topic, self.produced = topic, produced

    def write(self, topology: Topology) -> None:
        """Add a sink."""
        topology.add_sink(self.name, self.topic, *self.parent_names, produced=self.produced)


class StoreNode(GraphNode):
    """`add_state_store`: a store that no operator uses yet."""

    def __init__(self, store: StateStore) -> None:
        super().__init__(store.name)
        self.store = store

    def write(self, topology: Topology) -> None:
        """Add the store."""
        topology.add_state_store(self.store)


class Repartition(GraphNode):
    """A repartition topic: filter, sink and source."""

    partitions: int | None = None
    """As in `RepartitionTopic`."""
    partitioner: Partitioner | None = None
    key_serde: Serde | None = None
    value_serde: Serde | None = None
    optimizable = True
    """Whether the optimizer may merge it with others."""
    drops_null_keys = False

    def __init__(self, source: str, sink: str, filter: str | None, topic: str) -> None:
        """filter: None for that of a regrouped table."""
        super().__init__(source)
        self.sink, self.filter, self.topic = sink, filter, topic

    def write(self, topology: Topology) -> None:
        """Add a filter and a sink, which end a sub-topology, and a source, which begins the next one."""
        topology.repartition_topics[self.topic] = RepartitionTopic(self.topic, self.partitions)
        parents = self.parent_names
        if self.filter is not None:
            topology.add_operation(self.filter, RepartitionFilter(self.drops_null_keys), parents)
            parents = (self.filter,)
        produced = Produced(None, self.key_serde, self.value_serde, self.partitioner)
        topology.add_sink(self.sink, self.topic, *parents, produced=produced)
        topology.add_source(self.name, self.topic, consumed=Consumed(None, self.key_serde, self.value_serde))
