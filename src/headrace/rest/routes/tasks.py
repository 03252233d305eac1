"""`/connectors/{connector}/tasks`: a connector's tasks, the state of one, and its restart."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.rest import responses
from headrace.rest.public_config import PublicConfigs
from headrace.rest.resource import Resource, TaskNumber

resource = Resource("tasks")


@resource.get("/connectors/{connector}/tasks", gives={200: "Tasks"}, errors=[404], known=True)
def list_tasks(herder: Herder, request: Request, connector: str) -> Response:
    """The tasks with their configurations; secrets for admins only, where users have roles."""
    public, tasks = PublicConfigs(request), herder.tasks(connector)
    config = herder.info(connector).config
    return responses.ok([task | {"config": public(task["config"], config)} for task in tasks])


@resource.get("/connectors/{connector}/tasks/{task}/status", gives={200: "TaskStatus"}, errors=[404], known=True)
def task_status(herder: Herder, connector: str, task: TaskNumber) -> Response:
    """State and worker of one task."""
    return responses.ok(herder.task_status(connector, task))


@resource.post("/connectors/{connector}/tasks/{task}/restart", gives={204: None}, errors=[404, 409])
def restart_task(herder: Herder, connector: str, task: TaskNumber) -> Response:
    """Restart one task."""
    herder.restart_task(connector, task)
    return responses.done(204)
