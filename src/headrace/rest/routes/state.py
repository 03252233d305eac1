"""`/connectors/{connector}/pause`, `/resume` and `/stop`: the state a connector should be in (KIP-52, KIP-875)."""

from __future__ import annotations

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.resource import Resource

resource = Resource("state")


@resource.put("/connectors/{connector}/pause", gives={202: None}, errors=[404, 409])
def pause_connector(herder: Herder, connector: str) -> Response:
    """Let the connector rest; its tasks stay where they are."""
    herder.pause(connector)
    return responses.done(202)


@resource.put("/connectors/{connector}/resume", gives={202: None}, errors=[404, 409])
def resume_connector(herder: Herder, connector: str) -> Response:
    """Let a paused or stopped connector run."""
    herder.resume(connector)
    return responses.done(202)


@resource.put("/connectors/{connector}/stop", gives={204: None}, errors=[404, 409])
def stop_connector(herder: Herder, connector: str) -> Response:
    """End the connector's tasks; its configuration and offsets stay."""
    herder.stop(connector)
    return responses.done(204)
