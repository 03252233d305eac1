"""`/headrace/connectors/{connector}/topics/drift`: whether topics still are as the rules say that created them (of headrace)."""

from __future__ import annotations

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.resource import Resource

resource = Resource("drift")


@resource.get("/headrace/connectors/{connector}/topics/drift", gives={200: "Drift"}, errors=[403, 404])
def topics_drift(herder: Herder, connector: str) -> Response:
    """The topics that a connector uses, with their settings; how those of a source differ from its `topic.creation.` rules."""
    return responses.ok({"connector": connector, **herder.topics_in_use(connector)})
