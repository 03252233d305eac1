"""`/metrics`: what the worker measures, for Prometheus (of headrace; Kafka Connect has it as MBeans)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from headrace.rest.herder import RestHerder
from headrace.rest.prometheus import SCHEMES, render
from headrace.rest.resource import Resource

resource = Resource("metrics", early=True)


@resource.get("/metrics", gives={200: "Text"}, errors=[400])
def metrics(herder: RestHerder, request: Request, names: str = SCHEMES[0]) -> Response:
    """The metrics of this worker's connectors and tasks as text; `names`: `kafka` or `strimzi` (docs/metrics.md)."""
    content, content_type = render(herder.metrics.measures(), names, request.headers.get("accept"))
    return Response(content, media_type=None, headers={"Content-Type": content_type})
