"""`/connectors/{connector}/status`: states of a connector and its tasks; under `/headrace` with what is headrace's own."""

from __future__ import annotations

from starlette.responses import Response

from headrace.rest import responses
from headrace.rest.herder import RestHerder
from headrace.rest.resource import Resource

resource = Resource("status")


@resource.get("/connectors/{connector}/status", gives={200: "ConnectorStatus"}, errors=[404])
def status(herder: RestHerder, connector: str) -> Response:
    """State and worker of the connector and of each task, with the trace of what has failed."""
    return responses.ok(herder.status(connector))


@resource.get("/headrace/connectors/{connector}/status", gives={200: "OwnConnectorStatus"}, errors=[404])
def own_status(herder: RestHerder, connector: str) -> Response:
    """The same, and of running tasks how their stream runs, and why, where there is a choice (`stream.mode`)."""
    return responses.ok(herder.status(connector, own=True))
