"""The graph of a StreamsBuilder: linked operators, before they are optimized and written into a Topology.

A node of this graph may become several nodes of the topology (a join), or move (a repartition topic that several operators
share), so these objects are mutable; the topology's nodes are frozen.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from headrace.errors import StreamsError
from headrace.streams.naming import Names
from headrace.streams.operations import Operation
from headrace.streams.stores import StateStore
from headrace.streams.topology import Topology


class GraphNode:
    """An operator."""

    changes_key = False
    """Read by the optimizer, as `changes_value` and `merges`."""
    changes_value = False
    merges = False
    keeps_null_keys = False
    """Whether it is a left or outer join, which needs records without a key."""
    versioned: bool | None = None
    """Whether the result is a versioned table; None: its parents decide."""
    grace_ms: int | None = None
    """Of windowed aggregations, how long after its end a window may change."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parents: dict[GraphNode, None] = {}
        self.children: dict[GraphNode, None] = {}
        self.priority = -1
        self.written = False

    @property
    def parent_names(self) -> tuple[str, ...]:
        """The names of the parents, in order."""
        return tuple(parent.name for parent in self.parents)

    def add_child(self, child: GraphNode) -> None:
        """Link a child, unless it is linked already."""
        self.children[child] = None
        child.parents[self] = None

    def remove_child(self, child: GraphNode) -> None:
        """Unlink a child."""
        self.children.pop(child, None)
        child.parents.pop(self, None)

    def write(self, topology: Topology) -> None:
        """Add the nodes of this operator to the topology."""


class Operator(GraphNode):
    """One processor: its operation, its own stores, and the names of other stores that it uses."""

    def __init__(
        self, name: str, operation: Operation, stores: Callable[[], Iterable[StateStore]] | None = None, uses: Iterable[str] = ()
    ) -> None:
        super().__init__(name)
        self.operation = operation
        self.stores = stores or (lambda: ())
        self.uses = tuple(uses)

    def write(self, topology: Topology) -> None:
        """Add one processor with its stores."""
        topology.add_operation(self.name, self.operation, self.parent_names)
        for store in self.stores():
            topology.add_state_store(store, self.name)
        if self.uses:
            topology.connect_processor_and_state_stores(self.name, *self.uses)


@dataclass
class GeneratedNames:
    """Stores and internal topics whose names were generated (KIP-1111)."""

    changelogs: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    repartitions: list[str] = field(default_factory=list)

    def store(self, name: str, logged: bool) -> None:
        """Add a store, and its changelog topic if it has one."""
        self.stores.append(name)
        if logged:
            self.changelogs.append(f"{name}-changelog")

    def message(self) -> str:
        """Kafka's sentences about them; empty if there are none."""
        kinds = (("changelog topic", self.changelogs), ("state store", self.stores), ("repartition topic", self.repartitions))
        return "".join(f"Following {kind}(s) has not been named: {', '.join(names)}\n" for kind, names in kinds if names)


class Graph:
    """The operators of a builder, below one root, in the order in which they were added."""

    def __init__(self, processors_change: bool = False) -> None:
        """processors_change: whether the optimizer assumes that user processors change keys and values (KAFKA-19668)."""
        self.root = GraphNode("root")
        self.names = Names()
        self.generated_names = GeneratedNames()
        self.topology = Topology()
        self.processors_change = processors_change
        self.nodes: list[GraphNode] = []  # an operator with several parents is in here once for each
        self._priority = 0

    def add(self, parents: GraphNode | Iterable[GraphNode], node: GraphNode) -> None:
        """Add an operator below its parents. Raises StreamsError if there are none."""
        parent_nodes = [parents] if isinstance(parents, GraphNode) else list(parents)
        if not parent_nodes:
            raise StreamsError("Parent node collection can't be empty")
        for parent in parent_nodes:
            parent.add_child(node)
            node.priority, self._priority = self._priority, self._priority + 1
            self.nodes.append(node)

    def write(self) -> Topology:
        """Write every operator behind its parents, in the order in which they were added."""
        waiting: list[tuple[int, int, GraphNode]] = [(-1, 0, self.root)]
        count = 0
        while waiting:
            *_, node = heapq.heappop(waiting)
            if not node.written and all(parent.written for parent in node.parents):
                node.write(self.topology)
                node.written = True
            for child in node.children:
                count += 1
                heapq.heappush(waiting, (child.priority, count, child))
        self.topology.check_copartitioned()
        return self.topology
