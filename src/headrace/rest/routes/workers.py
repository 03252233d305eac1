"""`/headrace/workers`: the workers of the group, each with its share of the work; `/headrace/worker`: this one (of headrace)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.forwarding import WorkerClient
from headrace.rest.resource import Resource
from headrace.rest.worker_facts import GroupWorkers, worker_facts


def resource(worker_client: WorkerClient) -> Resource:
    """The resource of a worker; others: asks the other workers."""
    resource = Resource("workers")
    group = GroupWorkers(worker_client)

    @resource.get("/headrace/worker", gives={200: "Worker"})
    def this_worker(herder: Herder) -> Response:
        """What this worker is: version, share of the work, data plane, memory."""
        return responses.ok(worker_facts(herder))

    @resource.get("/headrace/workers", gives={200: "Workers"})
    def workers(herder: Herder, request: Request) -> Response:
        """All workers of the group, with what each says of itself; one that is away is named as such."""
        return responses.ok(group.body(herder, request))

    return resource
