"""`/headrace/connectors/actions`: one action on many connectors (of headrace)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import BadRequestError, ConnectError, ElsewhereError, HeadraceError
from headrace.rest import body, responses
from headrace.rest.resource import OwnJsonBody, Resource

Action = Callable[..., Any]

_TOGETHER: Mapping[str, Action] = {
    "pause": lambda herder, *names: herder.pause(*names),
    "resume": lambda herder, *names: herder.resume(*names),
    "stop": lambda herder, *names: herder.stop(*names),
}
"""What is done with all connectors at once: with one write to the config topic."""
ACTIONS: Mapping[str, Action] = {
    **_TOGETHER,
    "restart-failed": lambda herder, name: herder.restart(name, True, True),
    "restart": lambda herder, name: herder.restart(name, True, False),
}
"""What can be done with many: restarts are those of KIP-745, of the connector and its tasks."""

resource = Resource("actions")


@resource.post("/headrace/connectors/actions", takes="BulkAction", gives={200: "BulkAnswer"}, errors=[400, 409])
def act_on_many(herder: Herder, entity: OwnJsonBody) -> Response:
    """Pause, resume, stop or restart connectors; of each it is said whether it was done, and why not."""
    action, names = _read(entity)
    together = {*names} & {*herder.connectors()} if action in _TOGETHER else set()
    groups = [[name for name in names if name in together], *([name] for name in names if name not in together)]
    results = {name: result for group in groups if group for name, result in _act(herder, ACTIONS[action], group).items()}
    return responses.ok({"action": action, "connectors": [results[name] for name in names]})


def _act(herder: Herder, action: Action, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The result of each connector."""
    done, message = True, None
    try:
        action(herder, *names)
    except ElsewhereError:  # this worker does not lead: the leader is to do it all
        raise
    except HeadraceError as error:
        done, message = False, str(error)
    return {name: {"name": name, "done": done, "message": message} for name in names}


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
