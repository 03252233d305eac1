"""`/headrace/connectors/actions`: one action on many connectors (of headrace)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import BadRequestError, ConnectError, ElsewhereError, HeadraceError
from headrace.rest import body, responses
from headrace.rest.resource import OwnJsonBody, Resource

Action = Callable[[Herder, str], Any]

ACTIONS: Mapping[str, Action] = {
    "pause": lambda herder, name: herder.pause(name),
    "resume": lambda herder, name: herder.resume(name),
    "stop": lambda herder, name: herder.stop(name),
    "restart-failed": lambda herder, name: herder.restart(name, True, True),
    "restart": lambda herder, name: herder.restart(name, True, False),
}
"""What can be done with many: restarts are those of KIP-745, of the connector and its tasks."""

resource = Resource("actions")


@resource.post("/headrace/connectors/actions", takes="BulkAction", gives={200: "BulkAnswer"}, errors=[400, 409])
def act_on_many(herder: Herder, entity: OwnJsonBody) -> Response:
    """Pause, resume, stop or restart connectors; of each it is said whether it was done, and why not."""
    action, names = _read(entity)
    return responses.ok({"action": action, "connectors": [_act(herder, ACTIONS[action], name) for name in names]})


def _act(herder: Herder, action: Action, name: str) -> dict[str, Any]:
    try:
        action(herder, name)
    except ElsewhereError:  # this worker does not lead: the leader is to do it all
        raise
    except HeadraceError as error:
        return {"name": name, "done": False, "message": str(error)}
    return {"name": name, "done": True, "message": None}


def _read(entity: body.Tree) -> tuple[str, list[str]]:
    try:
        fields = body.mapping(entity, "the request", ("action", "connectors")) or {}
        action = body.text(fields.get("action"), '"action"')
        names = body.items(fields.get("connectors"), '"connectors"') or []
    except ConnectError as error:
        raise BadRequestError(error.message) from None
    if action is None or action not in ACTIONS:
        raise BadRequestError(f"'action' is {action!r}; it has to be one of {', '.join(ACTIONS)}.")
    if not names or not all(type(name) is str and name for name in names):
        raise BadRequestError('"connectors" has to be a list of names, with at least one.')
    return action, list(dict.fromkeys(names))
