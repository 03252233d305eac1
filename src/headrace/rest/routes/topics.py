"""`/connectors/{connector}/topics`: the topics that a connector uses (KIP-558)."""

from __future__ import annotations

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.resource import Resource

resource = Resource("topics")


@resource.get("/connectors/{connector}/topics", gives={200: "Topics"}, errors=[403], known=True)
def active_topics(herder: Herder, connector: str) -> Response:
    """The topics used since creation or the last reset; an unknown connector has none."""
    return responses.ok({connector: {"topics": sorted(herder.active_topics(connector))}})


@resource.put("/connectors/{connector}/topics/reset", gives={202: None}, errors=[403])
def reset_active_topics(herder: Herder, connector: str) -> Response:
    """Forget the topics used so far."""
    herder.reset_active_topics(connector)
    return responses.done(202)
