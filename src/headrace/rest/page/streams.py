"""Streams applications that report to a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response

from headrace.errors import BadRequestError, NotFoundError
from headrace.rest.page.call import Call
from headrace.rest.page.layout import HEIGHT, MOST_NODES, WIDTH, draw
from headrace.rest.page.topology import picture


def screen(call: Call) -> Response:
    """All applications, or one of them; the workers are asked, so the page loads what they have after itself."""
    return call.page("streams.html", application=call.query("application"))


def rows(call: Call) -> Response:
    """The list."""
    return call.renewed("streams_rows.html", found=call.ask_json("GET", "headrace", "streams"))


def application(call: Call) -> Response:
    """One application. Raises NotFoundError."""
    shown, response = _application(call, call.query("application"))
    graph = picture(shown)
    drawing = draw(graph) if len(graph.nodes) <= MOST_NODES else None
    return call.renewed(
        "streams_application.html", found=shown, not_reached=response["not_reached"], drawing=drawing, box=(WIDTH, HEIGHT)
    )


def _application(call: Call, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """An application, and the answer that it is in. Raises NotFoundError."""
    response = call.ask_json("GET", "headrace", "streams")
    shown = next((entry for entry in response["applications"] if entry["application"] == name), None)
    if shown is None:
        raise NotFoundError(f"No application '{name}' has reported to a worker in the last quarter of an hour.")
    return shown, response


def confirm(call: Call) -> Response:
    """The dialog that says what `init` would create, as far as it is known here."""
    shown, _ = _application(call, call.field("application"))
    topics = shown["internal_topics"] or []
    waits = any(instance["state"] == "CREATED" for instance in shown["instances"])
    return call.page(
        "streams_init.html",
        found=shown, missing=[topic for topic in topics if topic["state"] == "missing"],
        there=[topic for topic in topics if topic["state"] != "missing"], waits=waits,
    )  # fmt: skip


def command(call: Call) -> Response:
    """Ask an application for it; what becomes of it is shown with the application."""
    name, action = call.field("application"), call.field("command")
    if action not in _COMMANDS:
        raise BadRequestError(f"There is no command '{action}'.")
    body = _COMMANDS[action] | ({"setup_if_incomplete": True} if action != "verify" and call.field("if_incomplete") else {})
    done = call.ask_json("POST", "headrace", "streams", name, "commands", body=body)
    return call.message(
        f"{name} is asked with its next report, within ten seconds ({done['instance']}).", ok=True, then="changed"
    )


_COMMANDS: Mapping[str, dict[str, Any]] = {
    "verify": {"command": "verify"},
    "init": {"command": "init"},
    "dry-run": {"command": "init", "dry_run": True},
}


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", "/streams"): screen,
    ("GET", "/streams/rows"): rows,
    ("GET", "/streams/application"): application,
    ("POST", "/streams/confirm"): confirm,
    ("POST", "/streams/command"): command,
}
