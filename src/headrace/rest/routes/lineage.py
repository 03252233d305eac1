"""`/headrace/lineage`: where data comes from and goes to (of headrace)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.cluster_figures import workers_of
from headrace.rest.column_lineage import columns_of
from headrace.rest.connector_lineage import clusters_of, config_of, lineage_of
from headrace.rest.forwarding import WorkerClient
from headrace.rest.lineage import CONNECTOR, joined
from headrace.rest.resource import Resource
from headrace.rest.streams_lineage import of_application
from headrace.rest.streams_reports import GroupReports, applications
from headrace.runtime.schema_usage import USAGE


def resource(reports: GroupReports, worker_client: WorkerClient, servers: str) -> Resource:
    """The resource of a worker.

    reports: of streams applications; others: asks the other workers; servers: the bootstrap servers of the workers.
    """
    resource = Resource("lineage")

    @resource.get("/headrace/lineage", gives={200: "Lineage"})
    def lineage(
        herder: Herder, request: Request, connector: str = "", topic: str = "", application: str = "", columns: str = ""
    ) -> Response:
        """Connectors, topics and streams applications, and how data flows between them.

        Of one `connector`, `topic` or `application`: what it reaches, both ways. `columns=true`: of each connector with
        transforms, also of which columns of its records each column is made.
        """
        reported = reports.read(herder, request, [])
        uses, silent = _uses(herder, request, reported.not_reached)
        streams = applications(reported.instances)
        clusters = clusters_of(herder, servers, [application_report["servers"] for application_report in streams])
        parts = [
            of_application(application_report, clusters.place(application_report["servers"])) for application_report in streams
        ]
        graph = joined([lineage_of(herder, clusters, uses), *parts])
        if connector or topic or application:
            selection = {("connector", connector), ("topic", topic), ("application", application)}
            graph = graph.reached(node.id for node in graph.nodes if (node.kind, node.name) in selection)
        names = [node.name for node in graph.nodes if node.kind == CONNECTOR] if columns.lower() == "true" else []
        rows = [row for name in names for row in columns_of(name, config_of(herder, name))]
        return responses.ok(graph.body() | {"columns": rows, "not_reached": [*reported.not_reached, *silent]})

    def _uses(herder: Herder, request: Request, away: Sequence[str]) -> tuple[dict[str, list[Any]], list[str]]:
        """Which schemas the tasks on all workers use, by connector, and who did not answer. away: nobody asks them again."""
        uses: dict[str, list[Any]] = {**USAGE.all()}
        workers = {worker for name in herder.connectors() for worker in workers_of(herder, name)} - {herder.worker_id, *away}
        entries, silent = worker_client.entries_from_all(sorted(workers), ["headrace", "schemas"], {}, request)
        for use in entries:
            uses[use["connector"]] = [*uses.get(use["connector"], ()), use]
        return uses, silent

    return resource
