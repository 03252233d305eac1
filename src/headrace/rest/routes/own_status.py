"""`/headrace/connectors/{connector}/status`: the status with what is headrace's own."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.cluster_figures import ClusterFigures, ConnectorFigures
from headrace.rest.resource import Resource


def resource(figures: ClusterFigures) -> Resource:
    """The resource; figures: what the tasks of all workers measure."""
    resource = Resource("own status")

    @resource.get("/headrace/connectors/{connector}/status", gives={200: "OwnConnectorStatus"}, errors=[404])
    def own_status(herder: Herder, request: Request, connector: str) -> Response:
        """The same as `/connectors/{connector}/status`, and of running tasks how their stream runs, and why, where there is a
        choice (`stream.mode`), whether and for how long they have made no progress while their lag grew (`progress` is STALLED,
        `stalled_ms`), how long the oldest record that is not delivered has been there (`freshness_ms`), and what they wait for
        that a schema registry does not answer (`waiting_for`).
        """
        body = herder.status(connector, own=True)
        workers = {task["worker_id"] for task in body["tasks"]}
        measured, _ = figures.read(herder, request, workers)
        of_connector = measured.get(connector, ConnectorFigures())
        stalled, waiting, freshness = of_connector.stalled, of_connector.waiting, of_connector.freshness
        progress = dict.fromkeys(stalled, "STALLED")
        body_fields = {"progress": progress, "stalled_ms": stalled, "waiting_for": waiting, "freshness_ms": freshness}
        tasks = [task | {name: by[task["id"]] for name, by in body_fields.items() if task["id"] in by} for task in body["tasks"]]
        return responses.ok(body | {"tasks": tasks})

    return resource
