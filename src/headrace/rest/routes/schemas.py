"""`/headrace/connectors/{connector}/schemas`, `/headrace/schemas`: what is read and written of a registry (of headrace)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.forwarding import WorkerClient
from headrace.rest.resource import Resource
from headrace.runtime.schema_usage import USAGE


def resource(worker_client: WorkerClient) -> Resource:
    """The resource. others: asks the other workers."""
    resource = Resource("schemas")

    @resource.get("/headrace/connectors/{connector}/schemas", gives={200: "ConnectorSchemas"}, errors=[404])
    def schemas(herder: Herder, request: Request, connector: str, forward: str = "") -> Response:
        """Which schemas its running tasks have read and written, with their subjects and versions, and since when.

        `forward=false`: only the tasks of this worker.
        """
        entries, silent = [entry | {"worker_id": herder.worker_id} for entry in USAGE.of(connector)], []
        if forward.lower() != "false":
            workers = {task["worker_id"] for task in herder.status(connector)["tasks"]} - {herder.worker_id}
            path = ["headrace", "connectors", connector, "schemas"]
            more, silent = worker_client.entries_from_all(sorted(workers), path, {"forward": "false"}, request)
            entries = sorted([*entries, *more], key=lambda entry: (entry["task"], entry["since"], entry["id"]))
        return responses.ok({"connector": connector, "entries": entries, "not_reached": silent})

    @resource.get("/headrace/schemas", gives={200: "Schemas"})
    def of_worker(herder: Herder) -> Response:
        """The same of all connectors: what the running tasks of this worker have read and written."""
        uses = USAGE.all()
        entries = [{"connector": name, "worker_id": herder.worker_id, **use} for name in sorted(uses) for use in uses[name]]
        return responses.ok({"entries": entries})

    return resource
