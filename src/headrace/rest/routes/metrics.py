"""`/metrics`: what the worker measures, for Prometheus (of headrace; Kafka Connect has it as MBeans)."""

from __future__ import annotations

from itertools import chain

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest.prometheus import SCHEMES, render
from headrace.rest.resource import Resource
from headrace.rest.streams_measures import measures
from headrace.rest.streams_reports import StreamsReports


def resource(reported: StreamsReports) -> Resource:
    """The resource of a worker. reported: what streams applications report to it."""
    resource = Resource("metrics", early=True)

    @resource.get("/metrics", gives={200: "Text"}, errors=[400])
    def metrics(herder: Herder, request: Request, names: str = SCHEMES[0]) -> Response:
        """The metrics of this worker's connectors and tasks, and of the streams applications that report to it, as text.

        `names`: `kafka` or `strimzi` (docs/metrics.md).
        """
        measured = chain(herder.metrics.measures(), measures(reported.instances()))
        content, content_type = render(measured, names, request.headers.get("accept"))
        return Response(content, media_type=None, headers={"Content-Type": content_type})

    return resource
