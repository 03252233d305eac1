"""The text of a topology: Kafka's `Topology.describe()`, byte for byte.

Nodes are ordered by size, which is the number of paths downstream of a node. Kafka counts it while it links the nodes, in the
order of a hash map, and sorts successors and predecessors by the count so far: so does this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.streams.java_order import TreeSet
from headrace.streams.nodes import Node, ProcessorNode, SourceNode
from headrace.values.java_hash import hash_order


def _compare(node: _Described, other: _Described) -> int:
    if node is other:
        return 0
    if node.size != other.size:
        return other.size - node.size
    return -1 if node.name < other.name else 1


@dataclass(eq=False)
class _Described:
    """A node with what it is linked to."""

    name: str
    head: str
    size: int = 1
    predecessors: TreeSet[_Described] = field(default_factory=lambda: TreeSet(_compare))
    successors: TreeSet[_Described] = field(default_factory=lambda: TreeSet(_compare))

    def grow(self, delta: int) -> None:
        self.size += delta
        for predecessor in self.predecessors:
            predecessor.grow(delta)

    def text(self) -> str:
        lines = [self.head]
        if not self.head.startswith("Sink"):
            lines.append(f"      --> {_names(self.successors)}")
        if not self.head.startswith("Source"):
            lines.append(f"      <-- {_names(self.predecessors)}")
        return "\n".join(lines)


def describe(nodes: Mapping[str, Node], groups: Iterable[tuple[tuple[str, ...], bool]]) -> str:
    """The sub-topologies and global stores, each with its number.

    nodes: of the topology, by name; groups: the names of those of each part, and whether it is that of a global store.
    """
    parts = ["Topologies:\n "]
    for number, (names, is_global) in enumerate(groups):
        parts.append("  " + (_global_store if is_global else _subtopology)(nodes, number, names))
    return "".join(parts)


def _subtopology(all_nodes: Mapping[str, Node], number: int, names: tuple[str, ...]) -> str:
    nodes = _link(all_nodes, names)
    nodes.sort(key=lambda node: (-node.size, node.name))
    return f"Sub-topology: {number}\n" + "".join(f"    {node.text()}\n" for node in nodes) + "\n"


def _global_store(all_nodes: Mapping[str, Node], number: int, names: tuple[str, ...]) -> str:
    nodes = "".join(f"    {node.text()}\n" for node in _link(all_nodes, names, ordered=True))
    return f"Sub-topology: {number} for global store (will not generate tasks)\n{nodes}"


def _link(all_nodes: Mapping[str, Node], names: tuple[str, ...], *, ordered: bool = False) -> list[_Described]:
    in_hash_order = names if ordered else hash_order(hash_order(names))
    described = {name: _Described(name, _head(all_nodes[name])) for name in in_hash_order}
    for node in described.values():
        for parent in all_nodes[node.name].parents:
            predecessor = described[parent]
            node.predecessors.add(predecessor)
            predecessor.successors.add(node)
            predecessor.grow(node.size)
    return list(described.values())


def _head(node: Node) -> str:
    if isinstance(node, SourceNode):
        topics = node.pattern.pattern if node.pattern else _set(node.topics)
        return f"Source: {node.name} (topics: {topics})"
    if isinstance(node, ProcessorNode):
        return f"Processor: {node.name} (stores: {_set(hash_order(node.stores))})"
    target = f"topic: {node.topic}" if isinstance(node.topic, str) else f"extractor class: {node.topic}"
    return f"Sink: {node.name} ({target})"


def _set(texts: tuple[str, ...] | list[str]) -> str:
    return "[" + ", ".join(hash_order(texts, copied=True)) + "]"


def _names(nodes: TreeSet[_Described]) -> str:
    names = [node.name for node in nodes]
    return ", ".join(names) if names else "none"  # a name may be empty
