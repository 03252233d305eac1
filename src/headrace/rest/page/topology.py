"""The topology of a streams application as a picture: its operators by sub-topology, and the topics between them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from headrace.config.types import comma_separated
from headrace.rest.lineage import Lineage, LineageEdge, LineageNode, joined, topic_node
from headrace.rest.streams_lineage import full_name, source_nodes

OPERATOR = "operator"
_PARTS = re.compile(r"^ *Sub-topology: (\d+)", re.MULTILINE)
_NODE = re.compile(r"^ *(?:Source|Processor|Sink): (?P<name>\S+)(?: \((?P<what>topics|topic|stores): (?P<of>.*)\))?")
_NEXT = re.compile(r"^ *--> (?P<names>.+)$")
_NUMBER = re.compile(r"-0+(\d+)$")


def picture(application: Mapping[str, Any]) -> Lineage:
    """What `describe()` says, as nodes and edges; application: with its `topology` and `internal_topics`."""
    _, *parts = _PARTS.split(application["topology"])
    graph = joined(_sub_topology(application, n, text) for n, text in zip(parts[::2], parts[1::2], strict=True))
    node_ids = {node.id for node in graph.nodes}
    return Lineage(graph.nodes, [edge for edge in graph.edges if edge.source in node_ids and edge.target in node_ids])


def _sub_topology(application: Mapping[str, Any], number: str, text: str) -> Lineage:
    nodes: list[LineageNode] = []
    edges: list[LineageEdge] = []
    here = ""
    for line in text.splitlines():
        if match := _NODE.match(line):
            here, of = match["name"], match["of"] or ""
            stores = comma_separated(of.strip("[]")) if match["what"] == "stores" else []
            place = " · ".join([f"sub-topology {number}", *stores])
            nodes.append(LineageNode(here, OPERATOR, _NUMBER.sub(r"-\1", here), place))
            for node, edge in _topics(application, here, match["what"], of):
                nodes.append(node)
                edges.append(edge)
        elif here and (match := _NEXT.match(line)):
            edges += [LineageEdge(here, name.strip()) for name in match["names"].split(",") if name.strip() != "none"]
    return Lineage(nodes, edges)


def _topics(
    application: Mapping[str, Any], operator: str, kind: str | None, of: str
) -> Iterator[tuple[LineageNode, LineageEdge]]:
    internal = {topic["name"] for topic in application["internal_topics"] or ()}
    if kind == "topic":
        node = topic_node(full_name(application["application"], of, internal), None)
        yield node, LineageEdge(operator, node.id)
    for node in source_nodes(application["application"], of, internal) if kind == "topics" else ():
        yield node, LineageEdge(node.id, operator)
