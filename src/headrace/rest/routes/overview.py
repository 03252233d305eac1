"""`/headrace/overview`, `/headrace/figures` and those of one connector: what is done now, and was (of headrace)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import BadRequestError
from headrace.rest import responses
from headrace.rest.cluster_figures import POINTS, connector_figures_body, figures_body
from headrace.rest.forwarding import WorkerClient
from headrace.rest.overview import SORTS, Overview, OverviewQuery, overview_body
from headrace.rest.resource import Resource, whole_parameter
from headrace.rest.schemas import KINDS, STATES
from headrace.runtime.metrics.figures import SAMPLES


def resource(overview: Overview, worker_client: WorkerClient) -> Resource:
    """The resource over these snapshots; others: asks the other workers."""
    resource = Resource("overview")

    @resource.get("/headrace/overview", gives={200: "Overview"}, errors=[400])
    def all_connectors(
        herder: Herder,
        request: Request,
        q: str = "",
        state: str = "",
        kind: Annotated[str, Query(alias="type")] = "",
        sort: str = "",
        page: str = "1",
    ) -> Response:
        """The connectors, 50 a page, what has failed first, with counters of all; `q` is looked for in name, class, topics,
        workers and problem.
        """
        if sort.removeprefix("-") not in ("", *SORTS):
            raise BadRequestError(f"'sort' is '{sort}'; it has to be one of {', '.join(SORTS)}, with a minus to turn it round.")
        if state and state.upper() not in STATES:
            raise BadRequestError(f"'state' is '{state}'; it has to be one of {', '.join(STATES)}.")
        if kind not in ("", *KINDS):
            raise BadRequestError(f"'type' is '{kind}'; it has to be one of {', '.join(KINDS)}.")
        query = OverviewQuery(q, state, kind, sort, whole_parameter("page", page, 1))
        return responses.ok(overview_body(overview.read(herder, request), query, herder))

    @resource.get("/headrace/figures", gives={200: "Figures"}, errors=[400])
    def figures(herder: Herder, points: str = str(POINTS), connector: str = "") -> Response:
        """What the tasks of this worker measure now, of all connectors or of one `connector`, and the last `points` samples
        (every 10 s) of each connector.
        """
        return responses.ok(figures_body(herder, min(whole_parameter("points", points), SAMPLES), connector))

    @resource.get("/headrace/connectors/{connector}/figures", gives={200: "ConnectorFigures"}, errors=[400, 404])
    def of_connector(herder: Herder, request: Request, connector: str, points: str = str(SAMPLES)) -> Response:
        """Records per second and age of its records on all workers: now, and the last `points` samples (every 10 s, of an hour).

        A sample is of the tasks that the workers have now: what a task measured before it went to another worker is not in it.
        """
        most = min(whole_parameter("points", points, 1), SAMPLES)
        return responses.ok(connector_figures_body(herder, worker_client, request, connector, most))

    return resource
