"""`/connectors/{connector}/restart` (KIP-745)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.resource import FalseByDefault, Resource

resource = Resource("restart")


@resource.post("/connectors/{connector}/restart", gives={202: "ConnectorStatus", 204: None}, errors=[404, 409])
def restart_connector(
    herder: Herder,
    connector: str,
    include_tasks: Annotated[FalseByDefault, Query(alias="includeTasks")] = False,
    only_failed: Annotated[FalseByDefault, Query(alias="onlyFailed")] = False,
) -> Response:
    """Restart the connector alone (204), or with `includeTasks` or `onlyFailed` what these say (202, the states)."""
    states = herder.restart(connector, include_tasks, only_failed)
    return responses.done(204) if states is None else responses.ok(states, 202)
