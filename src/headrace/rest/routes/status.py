"""`/connectors/{connector}/status`: states of a connector and its tasks."""

from __future__ import annotations

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.resource import Resource

resource = Resource("status")


@resource.get("/connectors/{connector}/status", gives={200: "ConnectorStatus"}, errors=[404], known=True)
def status(herder: Herder, connector: str) -> Response:
    """State and worker of the connector and of each task, with the trace of what has failed."""
    return responses.ok(herder.status(connector))
