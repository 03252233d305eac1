"""Shared by streams, tables and groups: their position in the graph, and repartition topics.

Modules that add operators for them take and return these values; the classes of the DSL wrap what they return.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from headrace.streams.graph import Graph, GraphNode
from headrace.streams.serdes import Serde
from headrace.streams.sources import Repartition
from headrace.streams.views import View

SOURCE, SINK, FILTER = "KSTREAM-SOURCE-", "KSTREAM-SINK-", "KSTREAM-FILTER-"
REPARTITION_SUFFIX = "-repartition"
_GENERATED = re.compile(r"KSTREAM.*-[0-9]{10}")


@dataclass(frozen=True)
class StreamFlow:
    """The operator that records come from."""

    graph: Graph
    name: str
    node: GraphNode
    sources: frozenset[str]
    """The names of the source nodes that have to be co-partitioned with those of a join."""
    key_serde: Serde | None = None
    """None: it follows from the type of the keys; so does `value_serde` from that of the values."""
    value_serde: Serde | None = None

    def to(self, node: GraphNode, **changes: object) -> StreamFlow:
        """Add an operator behind this one; returns its flow. `changes`: fields that differ."""
        self.graph.add(self.node, node)
        return replace(self, name=node.name, node=node, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class TableFlow:
    """The operator that the changes of a table come from, and where its rows are looked up."""

    flow: StreamFlow
    view: View
    queryable_store_name: str | None
    """None if the table has no store that can be queried by name."""


def copartitioned(flows: Iterable[StreamFlow]) -> frozenset[str]:
    """Register the sources of all flows as co-partitioned: their topics need the same number of partitions."""
    all_flows = list(flows)
    sources = frozenset().union(*(flow.sources for flow in all_flows))
    all_flows[0].graph.topology.copartitioned.append(sources)
    return sources


def repartition(graph: Graph, prefix: str, named: bool) -> Repartition:
    """A repartition topic that is not in the graph yet. prefix: its name without the ending; named: by the user.

    It takes three numbers, whatever its name; behind a generated operator name they are part of the names of its nodes.
    """
    topic = prefix if prefix.endswith(REPARTITION_SUFFIX) else prefix + REPARTITION_SUFFIX
    if not named:
        graph.generated_names.repartitions.append(topic)
    sink, filter, source = graph.names.processor(SINK), graph.names.processor(FILTER), graph.names.processor(SOURCE)
    if not _GENERATED.fullmatch(prefix):
        sink, source, filter = f"{topic}-sink", f"{topic}-source", f"{topic}-filter"
    return Repartition(source, sink, filter, topic)
