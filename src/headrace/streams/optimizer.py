"""Rewrites of the graph before it is written: merges duplicate sources, and applies Kafka's optimizations.

`topology.optimization`: `reuse.ktable.source.topics` (a table's own topic is its changelog), `merge.repartition.topics` (one
repartition topic behind an operator that changes keys), `single.store.self.join`; `all` of them, or `none`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from headrace.errors import StreamsError, TopologyError
from headrace.streams.config import MERGE_REPARTITION_TOPICS, REUSE_KTABLE_SOURCE_TOPICS, SINGLE_STORE_SELF_JOIN
from headrace.streams.flow import repartition
from headrace.streams.graph import Graph, GraphNode
from headrace.streams.sources import Repartition, StreamSource, TableSourceNode
from headrace.streams.stream_join import StreamStreamJoin
from headrace.streams.table import SuppressNode

Repartitions = dict[GraphNode, list[Repartition]]


def optimize(graph: Graph, optimizations: Collection[str]) -> None:
    """Rewrite the graph with these optimizations. Raises TopologyError, StreamsError."""
    _merge_sources(graph)
    if REUSE_KTABLE_SOURCE_TOPICS in optimizations:
        for node in graph.nodes:
            if isinstance(node, TableSourceNode):
                node.reuses_source_topic = True
    if MERGE_REPARTITION_TOPICS in optimizations:
        _merge_repartitions(graph)
    if SINGLE_STORE_SELF_JOIN in optimizations:
        _self_join(graph.root, set())
    _drop_null_keys(graph)
    for node in graph.nodes:
        if isinstance(node, SuppressNode) and _versioned_upstream(node):
            raise TopologyError(
                "suppress() is only supported for non-versioned KTables "
                "(note that version semantics might be inherited from upstream)"
            )


def _merge_sources(graph: Graph) -> None:
    """Merge sources of the same topic or pattern."""
    by_topic: dict[str, StreamSource] = {}
    by_pattern: dict[tuple[str, int], StreamSource] = {}
    for node in [node for node in graph.root.children if isinstance(node, StreamSource)]:
        if isinstance(node.topics, re.Pattern):
            first = by_pattern.setdefault((node.topics.pattern, node.topics.flags), node)
            if first is not node:
                first.absorb(node)
                graph.root.remove_child(node)
            continue
        for topic in node.topics:
            first = by_topic.setdefault(topic, node)
            if first is node:
                continue
            assert not isinstance(first.topics, re.Pattern)
            if set(first.topics) != set(node.topics):
                raise TopologyError("Two source nodes are subscribed to overlapping but not equal input topics")
            first.absorb(node)
            graph.root.remove_child(node)


def _merge_repartitions(graph: Graph) -> None:
    """Use one repartition topic for all operators that need the key behind the operator that changed it."""
    for changing, topics in _repartitions_by_cause(graph).items():
        if not topics:
            continue
        merged = repartition(graph, topics[0].topic, named=True)
        merged.key_serde = next((topic.key_serde for topic in topics if topic.key_serde), None)
        merged.value_serde = next((topic.value_serde for topic in topics if topic.value_serde), None)
        merged.priority = changing.priority
        for topic in topics:
            child = _first_upstream(topic, lambda node, changing=changing: changing in node.parents)
            if child is None:
                raise StreamsError(f"Found a null keyChangingChild node for {topic.name}")
            merged.add_child(child)
            changing.remove_child(child)
            for below in list(topic.children):
                for above in list(topic.parents):
                    above.add_child(below)
            for above in list(topic.parents):
                above.remove_child(topic)
            for below in list(topic.children):
                topic.remove_child(below)
            graph.topology.copartitioned = [
                group - {topic.name} | {merged.name} if topic.name in group else group for group in graph.topology.copartitioned
            ]
        changing.add_child(merged)


def _repartitions_by_cause(graph: Graph) -> Repartitions:
    topics_by_cause: Repartitions = {}
    merges: dict[GraphNode, None] = {}
    for node in graph.nodes:
        if node.changes_key:
            topics_by_cause[node] = []
        elif isinstance(node, Repartition) and node.optimizable:
            cause = _key_changing_operator(node)
            if cause is not None and node not in topics_by_cause[cause]:
                topics_by_cause[cause].append(node)
        elif node.merges:
            merges[node] = None
    return _below_merges(topics_by_cause, merges)


def _key_changing_operator(topic: Repartition) -> GraphNode | None:
    """The operator that changed the key; None if one behind it changed the value, which would be lost."""
    changing = _first_upstream(topic, lambda node: node.changes_key)
    return changing if changing is _first_upstream(topic, lambda node: node.changes_key or node.changes_value) else None


def _below_merges(topics_by_cause: Repartitions, merges: Collection[GraphNode]) -> Repartitions:
    """Move repartition topics of merged streams behind the merge."""
    causes: dict[GraphNode, list[GraphNode]] = {}
    for merge in merges:
        causes[merge] = [
            changing
            for changing, topics in topics_by_cause.items()
            if all(_first_upstream(topic, lambda node, merge=merge: merge in node.parents) for topic in topics)
            and _first_upstream(merge, lambda node, changing=changing: changing in node.parents)
        ]
    merged_causes: set[GraphNode] = set()
    for merge, changing in causes.items():
        topics_by_cause[merge] = list(dict.fromkeys(topic for cause in changing for topic in topics_by_cause[cause]))
        merged_causes.update(changing)
    return {node: topics for node, topics in topics_by_cause.items() if node not in merged_causes}


def _first_upstream(node: GraphNode, matches: Callable[[GraphNode], object]) -> GraphNode | None:
    """The first matching node from here upstream, depth first (KAFKA-20264)."""
    if matches(node):
        return node
    for parent in node.parents:
        if (ancestor := _first_upstream(parent, matches)) is not None:
            return ancestor
    return None


def _self_join(node: GraphNode, visited: set[GraphNode]) -> None:
    """Use one buffer for a stream joined with itself."""
    visited.add(node)
    if isinstance(node, StreamStreamJoin) and len(node.parents) == 1:
        (parent,) = node.parents
        before = {child.name: child for child in parent.children if child.priority < node.priority}
        left, right = before.get(node.names.this_windowed), before.get(node.names.other_windowed)
        if left is None or right is None or left.priority >= right.priority:
            raise StreamsError(f"Expected the left node {left} to have smaller build priority than the right node {right}.")
        parent.remove_child(right)
        node.self_join = True
    for child in list(node.children):
        if child not in visited:
            _self_join(child, visited)


def _drop_null_keys(graph: Graph) -> None:
    """Let repartition topics drop records without a key, unless a left or outer join behind them needs those."""
    keeping_null_keys: set[GraphNode] = set()
    visited: set[GraphNode] = set()

    def visit(node: GraphNode) -> None:
        if node in visited:
            return
        for child in node.children:
            visit(child)
            if child.keeps_null_keys or child in keeping_null_keys:
                keeping_null_keys.add(node)
        visited.add(node)

    visit(graph.root)
    for node in visited:
        if isinstance(node, Repartition):
            node.drops_null_keys = node not in keeping_null_keys


def _versioned_upstream(node: GraphNode) -> bool:
    return bool(node.parents) and all(
        parent.versioned if parent.versioned is not None else _versioned_upstream(parent) for parent in node.parents
    )
