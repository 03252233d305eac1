"""`/connectors/{connector}/tasks`: a connector's tasks, the state of one, and its restart."""

from __future__ import annotations

from starlette.responses import Response

from headrace.rest import answers
from headrace.rest.herder import Herder
from headrace.rest.resource import Resource, TaskNumber

resource = Resource("tasks")


@resource.get("/connectors/{connector}/tasks")
def list_tasks(herder: Herder, connector: str) -> Response:
    """The tasks with their configurations."""
    return answers.ok(herder.tasks(connector))


@resource.get("/connectors/{connector}/tasks/{task}/status")
def task_status(herder: Herder, connector: str, task: TaskNumber) -> Response:
    """State and worker of one task."""
    return answers.ok(herder.task_status(connector, task))


@resource.post("/connectors/{connector}/tasks/{task}/restart")
def restart_task(herder: Herder, connector: str, task: TaskNumber) -> Response:
    """Restart one task."""
    herder.restart_task(connector, task)
    return answers.done(204)
