"""A topology: sources, processors, sinks and stores by name, and their sub-topologies. Kafka's `Topology`.

The nodes are frozen values; adding one makes Kafka's checks, with Kafka's messages. Its internal topics are derived in
`internal_topics`, its text in `describe`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headrace.errors import TopologyError
from headrace.streams.describe import describe
from headrace.streams.nodes import Node, ProcessorNode, RepartitionTopic, SinkNode, SourceNode
from headrace.streams.operations import Operation, TableSource, UserProcessor
from headrace.streams.options import Consumed, Produced
from headrace.streams.stores import StateStore, StoreType


@dataclass
class Topology:
    """Built by a StreamsBuilder, or by hand with `add_source`, `add_processor`, `add_state_store` and `add_sink`.

    Every `add_…` and `connect_…` returns the topology itself, and raises TopologyError, in Kafka's words: a
    name that is taken, a parent or a store that is not there.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    """By name, in the order in which they were added."""
    stores: dict[str, StateStore] = field(default_factory=dict)
    """By name, without global ones."""
    global_stores: dict[str, StateStore] = field(default_factory=dict)
    """By name."""
    global_topics: set[str] = field(default_factory=set)
    """Those that fill global stores."""
    repartition_topics: dict[str, RepartitionTopic] = field(default_factory=dict)
    """By name."""
    source_changelogs: dict[str, str] = field(default_factory=dict)
    """Store → the source topic that serves as its changelog."""
    copartitioned: list[frozenset[str]] = field(default_factory=list)
    """Groups of sources, by name, of which all topics need one number of partitions."""
    store_type: StoreType | None = None
    """Of stores without one; set by the builder's config."""
    _group: dict[str, str] = field(default_factory=dict, repr=False)  # node → another of its group; a root has itself
    _users: dict[str, str] = field(default_factory=dict, repr=False)  # store → its first processor

    def add_source(self, name: str, *topics: str | re.Pattern[str], consumed: Consumed | None = None) -> Topology:
        """Read topics, or the topics that match one pattern."""
        patterns = [topic for topic in topics if isinstance(topic, re.Pattern)]
        names = tuple(topic for topic in topics if isinstance(topic, str))
        self._check_new(name)
        if not topics:
            raise TopologyError("topics cannot be empty")
        if patterns and len(topics) > 1:
            raise TopologyError("A source reads topics or one pattern, not both.")
        for topic in names:
            self._check_unread(topic)
        for pattern in patterns:
            if any(pattern.fullmatch(topic) for topic in self._read_topics()):
                raise TopologyError(
                    f"Pattern {pattern.pattern} will match a topic that has already been registered by another source."
                )
        self._add(SourceNode(name, names, patterns[0] if patterns else None, consumed or Consumed()))
        return self

    def add_processor(self, name: str, supplier: Any, *parents: str) -> Topology:
        """Add a user processor; the stores that its `stores()` returns, if it has that method, are added and connected."""
        self.add_operation(name, UserProcessor(supplier), parents)
        for store in own_stores(supplier):
            self.add_state_store(store, name)
        return self

    def add_operation(self, name: str, operation: Operation, parents: Iterable[str]) -> Topology:
        """Add a processor of the DSL."""
        self._check_new(name)
        checked_parents = self._checked_parents(name, tuple(parents))
        self._add(ProcessorNode(name, checked_parents, operation))
        return self

    def add_sink(self, name: str, topic: str | Callable[..., Any], *parents: str, produced: Produced | None = None) -> Topology:
        """Write to a topic, or to that which a function of key, value and context returns."""
        self._check_new(name)
        checked_parents = self._checked_parents(name, parents)
        self._add(SinkNode(name, checked_parents, topic, produced or Produced()))
        return self

    def add_state_store(self, store: StateStore, *processors: str) -> Topology:
        """Add a store, and connect it with processors."""
        existing = self.stores.get(store.name)
        if existing is not None and existing is not store:
            raise TopologyError(f"A different StateStore has already been added with the name {store.name}")
        if store.name in self.global_stores:
            raise TopologyError(f"A different GlobalStateStore has already been added with the name {store.name}")
        self.stores[store.name] = store
        for processor in processors:
            self._connect(processor, store.name)
        return self

    def add_read_only_state_store(self, store: StateStore, source: str, topic: str, processor: str, supplier: Any) -> Topology:
        """A store that a topic fills by a processor; the topic is its changelog (KIP-813)."""
        self.add_source(source, topic, consumed=Consumed(reset_policy="earliest"))
        self.add_operation(processor, UserProcessor(supplier), (source,))
        self.add_state_store(store, processor)
        self.stores[store.name] = store.with_logging_disabled()
        self.use_source_as_changelog(store.name, topic)
        return self

    def add_global_store(self, store: StateStore, source: str, topic: str, processor: str, supplier: Any) -> Topology:
        """A store that every instance fills with the whole topic."""
        self._check_new(source)
        self._check_unread(topic)
        self._check_new(processor)
        if store.name in self.stores:
            raise TopologyError(f"A different StateStore has already been added with the name {store.name}")
        if store.name in self.global_stores:
            raise TopologyError(f"A different GlobalStateStore has already been added with the name {store.name}")
        if source == processor:
            raise TopologyError("sourceName and processorName must be different.")
        operation = supplier if isinstance(supplier, TableSource) else UserProcessor(supplier)
        self.global_topics.add(topic)
        self._add(SourceNode(source, (topic,), None, Consumed(None, store.key_serde, store.value_serde)))
        self._add(ProcessorNode(processor, (source,), operation, (store.name,)))
        self.global_stores[store.name] = store.with_logging_disabled()
        self.use_source_as_changelog(store.name, topic)
        return self

    def connect_processor_and_state_stores(self, processor: str, *stores: str) -> Topology:
        """Let a processor use stores."""
        if not stores:
            raise TopologyError("stateStoreNames cannot be empty")
        if isinstance(self.nodes.get(processor), SourceNode | SinkNode):
            raise TopologyError("State stores cannot be connect to sources or sinks.")
        for store in stores:
            self._connect(processor, store)
        return self

    def use_source_as_changelog(self, store: str, topic: str) -> None:
        """Use a source topic as the changelog of a store."""
        if store in self.source_changelogs:
            raise TopologyError(f"Source store {store} is already added.")
        self.source_changelogs[store] = topic

    def disable_logging(self, store: str) -> None:
        """Disable the changelog of a store."""
        self.stores[store] = self.stores[store].with_logging_disabled()

    def sources(self) -> Iterator[SourceNode]:
        """Every source, in order."""
        return (node for node in self.nodes.values() if isinstance(node, SourceNode))

    def groups(self) -> list[tuple[str, ...]]:
        """The names of the nodes of each sub-topology, in order; its index is its number."""
        nodes_by_root: dict[str, list[str]] = {}
        for name in self.nodes:
            nodes_by_root.setdefault(self._root(name), []).append(name)
        return [tuple(names) for names in nodes_by_root.values()]

    def is_global(self, group: Iterable[str]) -> bool:
        """Whether a group of nodes only fills a global store."""
        nodes = (self.nodes[name] for name in group)
        return any(
            isinstance(node, SourceNode) and len(node.topics) == 1 and node.topics[0] in self.global_topics for node in nodes
        )

    def describe(self) -> str:
        """The text of Kafka's `Topology.describe()`, byte for byte."""
        return describe(self.nodes, [(names, self.is_global(names)) for names in self.groups()])

    def check_copartitioned(self) -> None:
        """Raise TopologyError if topics that have to be co-partitioned are all given different numbers of partitions."""
        for group in self.copartitioned:
            topics = {topic for source in group for topic in self._topics_of(source)}
            counts = {topic: self.repartition_topics[topic].partitions for topic in topics if topic in self.repartition_topics}
            fixed = {topic: count for topic, count in counts.items() if count is not None}
            if fixed and fixed.keys() == topics and len(set(fixed.values())) > 1:
                raise TopologyError(f"Following topics do not have the same number of partitions: [{java_map(fixed)}]")

    def _add(self, node: Node) -> None:
        self.nodes[node.name] = node
        self._group[node.name] = node.name
        for parent in node.parents:
            self._unite(node.name, parent)

    def _topics_of(self, source: str) -> tuple[str, ...]:
        node = self.nodes.get(source)
        return node.topics if isinstance(node, SourceNode) else ()

    def _read_topics(self) -> Iterator[str]:
        return (topic for source in self.sources() for topic in source.topics if topic not in self.global_topics)

    def _check_new(self, name: str) -> None:
        if name in self.nodes:
            raise TopologyError(f"Processor {name} is already added.")

    def _check_unread(self, topic: str) -> None:
        if topic in self.global_topics or topic in self._read_topics():
            raise TopologyError(f"Topic {topic} has already been registered by another source.")
        if any(source.pattern and source.pattern.fullmatch(topic) for source in self.sources()):
            raise TopologyError(f"Topic {topic} matches a Pattern already registered by another source.")

    def _checked_parents(self, name: str, parents: tuple[str, ...]) -> tuple[str, ...]:
        if not parents:
            raise TopologyError("predecessorNames cannot be empty")
        for parent in parents:
            if parent == name:
                raise TopologyError(f"Parent node {parent} is unknown (self-reference).")
            if parent not in self.nodes:
                raise TopologyError(f"Parent node {parent} is unknown.")
            if isinstance(self.nodes[parent], SinkNode):
                raise TopologyError(f"Sink {parent} cannot be used a parent.")
        return parents

    def _connect(self, processor: str, store: str) -> None:
        if store in self.global_stores:
            raise TopologyError(
                f"Global StateStore {store} can be used by a Processor without being specified; "
                "it should not be explicitly passed."
            )
        if store not in self.stores:
            raise TopologyError(f"StateStore {store} is not added yet.")
        node = self.nodes.get(processor)
        if node is None:
            raise TopologyError(f"Processor {processor} is not added yet.")
        if not isinstance(node, ProcessorNode):
            raise TopologyError(f"cannot connect a state store {store} to a source node or a sink node.")
        self._unite(self._users.setdefault(store, processor), processor)
        if store not in node.stores:
            self.nodes[processor] = replace(node, stores=(*node.stores, store))

    def _root(self, name: str) -> str:
        while self._group[name] != name:
            name = self._group[name]
        return name

    def _unite(self, node: str, other: str) -> None:
        self._group[self._root(node)] = self._root(other)


def java_map(entries: Mapping[str, object]) -> str:
    """A sorted Java map as text: `{a=3, b=4}`."""
    return "{" + ", ".join(f"{key}={entries[key]}" for key in sorted(entries)) + "}"


def own_stores(supplier: Any) -> Iterable[StateStore]:
    """The stores of a user processor: those that its `stores()` returns, if it has that method."""
    stores = getattr(supplier, "stores", None)
    return (stores() if callable(stores) else None) or ()  # type: ignore[return-value]
