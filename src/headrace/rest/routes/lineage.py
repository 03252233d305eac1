"""`/headrace/lineage`: where data comes from and goes to (of headrace)."""

from __future__ import annotations

from starlette.responses import Response

from headrace.rest import responses
from headrace.rest.herder import RestHerder
from headrace.rest.lineage import lineage_of
from headrace.rest.resource import Resource

resource = Resource("lineage")


@resource.get("/headrace/lineage", gives={200: "Lineage"})
def lineage(herder: RestHerder, connector: str = "", topic: str = "") -> Response:
    """Connectors and topics, and how data flows between them; of one `connector` or `topic`: what it reaches, both ways."""
    found = lineage_of(herder)
    if connector or topic:
        wanted = {f"connector:{connector}"} if connector else set()
        wanted |= {node.id for node in found.nodes if topic and node.kind == "topic" and node.name == topic}
        found = found.reached(wanted)
    return responses.ok(found.body())
