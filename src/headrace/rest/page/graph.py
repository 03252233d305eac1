"""The graph: where data comes from and goes to, what failed in red."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from headrace.rest.lineage import Lineage, LineageEdge, LineageNode
from headrace.rest.page.call import Call
from headrace.rest.page.layout import HEIGHT, WIDTH, draw

_MOST = 400


def graph(call: Call) -> Response:
    """The whole graph, or what a connector or a topic reaches."""
    query = {name: call.query(name) for name in ("connector", "topic", "application")}
    query["columns"] = "true" if query["connector"] else ""
    found = call.asked("GET", "headrace", "lineage", query=query)
    nodes = [LineageNode(**node) for node in found["nodes"]]
    lineage = Lineage(nodes, [LineageEdge(**edge) for edge in found["edges"]])
    drawing = draw(lineage) if len(nodes) <= _MOST else None
    columns = [row for row in found["columns"] if row["connector"] == query["connector"]]
    return call.page(
        "graph.html", drawing=drawing, nodes=nodes, asked=query, most=_MOST, box=(WIDTH, HEIGHT), columns=columns,
        not_reached=found["not_reached"],
    )  # fmt: skip


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {("GET", "/graph"): graph}
