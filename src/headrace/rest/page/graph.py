"""The graph: where data comes from and goes to, what failed in red."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from headrace.rest.lineage import Lineage, LineageEdge, LineageNode
from headrace.rest.overview import FAILED
from headrace.rest.page.call import Call
from headrace.rest.page.layout import HEIGHT, MOST_NODES, WIDTH, draw


def graph(call: Call) -> Response:
    """The whole graph, or what a connector or a topic reaches."""
    query = {name: call.query(name) for name in ("connector", "topic", "application")}
    query["columns"] = "true" if query["connector"] else ""
    lineage = call.ask_json("GET", "headrace", "lineage", query=query)
    nodes = [LineageNode(**node) for node in lineage["nodes"]]
    edges = [LineageEdge(**edge) for edge in lineage["edges"]]
    joined = {end for edge in edges for end in (edge.source, edge.target)}
    alone = [] if query["connector"] else [node for node in nodes if node.id not in joined]  # they would bury the others
    alone.sort(key=lambda node: node.state != FAILED)
    drawn = [node for node in nodes if node not in alone]
    drawing = draw(Lineage(drawn, edges)) if len(drawn) <= MOST_NODES else None
    columns = [row for row in lineage["columns"] if row["connector"] == query["connector"]]
    return call.page(
        "graph.html", drawing=drawing, nodes=drawn, alone=alone, asked=query, most=MOST_NODES, box=(WIDTH, HEIGHT),
        columns=columns, not_reached=lineage["not_reached"],
    )  # fmt: skip


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {("GET", "/graph"): graph}
