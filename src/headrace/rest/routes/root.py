"""`/`: which software answers, on which Kafka cluster."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from headrace import KAFKA_VERSION, __version__
from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.resource import Resource
from headrace.rest.same_origin import PAGE, led_to_page

resource = Resource("root", early=True)


@resource.get("/", gives={200: "ServerInfo"})
def server_info(herder: Herder, request: Request) -> Response:
    """The version of the interface, of headrace (as `commit`), and the id of the Kafka cluster; a browser is led to the page."""
    if led_to_page(request.scope):
        return RedirectResponse(PAGE, 303)
    body = {"version": KAFKA_VERSION, "commit": f"headrace-{__version__}", "kafka_cluster_id": herder.cluster_id}
    return responses.ok(body)
