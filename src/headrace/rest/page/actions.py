"""Pause, resume, stop, restart, delete: first what it will hit, then it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from starlette.responses import Response

from headrace.errors import BadRequestError, RestError
from headrace.rest.overview import OverviewRow
from headrace.rest.page.call import Call
from headrace.rest.roles import Role
from headrace.runtime.states import FAILED, PAUSED, STOPPED

DELETE, CHANGED = "delete", "changed"
_WORDS = {
    "pause": ("Pause", "Their tasks stay, and read nothing until they are resumed."),
    "resume": ("Resume", "They resume where they were."),
    "stop": ("Stop", "Their tasks end; configuration and offsets stay."),
    "restart-failed": ("Restart failed", "Connectors and tasks that have failed start again; those that run continue."),
    "restart": ("Restart", "Connectors and all of their tasks end and start again."),
    DELETE: ("Delete", "They end, and their configuration is deleted. Their offsets and topics stay."),
}


def confirm(call: Call) -> Response:
    """The confirmation dialog with the connectors of an action."""
    action, names = _selection(call)
    rows = {row.name: row for row in call.context.overview.read(call.herder, call.request).rows}
    chosen = [rows[name] for name in names if name in rows]
    hit = [row for row in chosen if _hits(action, row)]
    title, meaning = _WORDS[action]
    spared, deleted, back = len(chosen) - len(hit), [name for name in names if name not in rows], call.field("back")
    return call.page("confirm.html", action=action, title=title, meaning=meaning, hit=hit, spared=spared, gone=deleted, back=back)


def _hits(action: str, row: OverviewRow) -> bool:
    return {
        "pause": row.connector_state not in (PAUSED, STOPPED),
        "resume": row.connector_state in (PAUSED, STOPPED),
        "stop": row.connector_state != STOPPED,
        "restart-failed": row.state == FAILED,
    }.get(action, True)


def act(call: Call) -> Response:
    """Pause, resume, stop, restart or delete the chosen connectors; returns what was done and what failed."""
    action, names = _selection(call)
    if action == DELETE:
        return _delete(call, names)
    results = call.ask_json("POST", "headrace", "connectors", "actions", body={"action": action, "connectors": list(names)})
    return _result_page(
        call,
        _WORDS[action][0],
        {result["name"]: result["message"] for result in results["connectors"] if not result["done"]},
        names,
    )


def _delete(call: Call, names: Sequence[str]) -> Response:
    failed = {}
    for name in names:
        if not (reply := call.ask("DELETE", "connectors", name)).ok:
            failed[name] = reply.message
    response = _result_page(call, _WORDS[DELETE][0], failed, names)
    if not failed and call.field("back"):
        response.headers["HX-Redirect"] = "/ui"
    return response


def _result_page(call: Call, action: str, failed: Mapping[str, str], names: Sequence[str]) -> Response:
    count = len(names) - len(failed)
    done = f"{action}: asked for {count} connector{'' if count == 1 else 's'}."
    sentence = " ".join([*([done] if count or not failed else []), *(f"{name}: {message}" for name, message in failed.items())])
    return call.message(sentence, ok=not failed, then=CHANGED)


def restart_task(call: Call) -> Response:
    """Restart one task."""
    name, task = call.field("name"), call.field("task")
    call.ask_json("POST", "connectors", name, "tasks", task, "restart")
    return call.message(f"Task {task} of {name} has been restarted.", ok=True, then=CHANGED)


def _selection(call: Call) -> tuple[str, Sequence[str]]:
    """Raises BadRequestError if nothing is chosen, RestError 403 for a role that is too low."""
    action, names = call.field("action"), list(dict.fromkeys(call.form.get("name", ())))
    if action not in _WORDS:
        raise BadRequestError(f"There is no action '{action}'.")
    if not names:
        raise BadRequestError("No connector is chosen: select at least one.")
    needed = Role.ADMIN if action == DELETE else Role.OPERATE
    if call.caller.role < needed:
        raise RestError(403, f"This needs the role {needed.name.lower()}.")
    return action, names


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("POST", "/confirm"): confirm,
    ("POST", "/act"): act,
    ("POST", "/restart-task"): restart_task,
}
