"""The graph: where data comes from and goes to, what failed in red."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from starlette.responses import Response

from headrace.rest.lineage import FAILURES, Lineage, LineageEdge, LineageNode
from headrace.rest.page.call import Call
from headrace.rest.page.layout import HEIGHT, MOST_NODES, WIDTH, draw

_NAMED = ("connector", "topic", "application")


def graph(call: Call) -> Response:
    """The whole graph, or what a connector or a topic reaches."""
    query = {name: call.query(name) for name in _NAMED}
    query["columns"] = "true" if query["connector"] else ""
    lineage = call.ask_json("GET", "headrace", "lineage", query=query)
    nodes = [LineageNode(**node) for node in lineage["nodes"]]
    edges = [LineageEdge(**edge) for edge in lineage["edges"]]
    joined = {end for edge in edges for end in (edge.source, edge.target)}
    alone = [] if query["connector"] else [node for node in nodes if node.id not in joined]  # they would bury the others
    alone.sort(key=lambda node: node.state not in FAILURES)
    whole = Lineage([node for node in nodes if node not in alone], edges)
    drawn = whole if len(whole.nodes) <= MOST_NODES else urgent(whole, {query[name] for name in _NAMED} - {""})
    columns = [row for row in lineage["columns"] if row["connector"] == query["connector"]]
    return call.page(
        "graph.html", drawing=draw(drawn), nodes=whole.nodes, left_out=len(whole.nodes) - len(drawn.nodes), alone=alone,
        asked=query, most=MOST_NODES, box=(WIDTH, HEIGHT), columns=columns, not_reached=lineage["not_reached"],
    )  # fmt: skip


def urgent(graph: Lineage, names: Collection[str] = (), most: int = MOST_NODES) -> Lineage:
    """Of a graph that is too large for a picture: the nodes of these names and those that failed, with their neighbours."""
    chosen = sorted(
        (node for node in graph.nodes if node.name in names or node.state in FAILURES), key=lambda n: n.name not in names
    )
    beside: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        beside[edge.source].append(edge.target)
        beside[edge.target].append(edge.source)
    ids = [*(node.id for node in chosen), *(neighbour for node in chosen for neighbour in beside[node.id])]
    shown = set(list(dict.fromkeys(ids))[:most])
    nodes = [node for node in graph.nodes if node.id in shown]
    return Lineage(nodes, [edge for edge in graph.edges if edge.source in shown and edge.target in shown])


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {("GET", "/graph"): graph}
