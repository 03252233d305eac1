"""The history of a connector, and the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from headrace.rest.page.call import Call

_LINES = "200"


def history(call: Call) -> Response:
    """The states of a connector and its tasks, newest first."""
    name, before = call.query("name"), call.query("before")
    body = call.ask_json("GET", "headrace", "connectors", name, "history", query={"lines": _LINES, "before": before})
    return call.renewed("connector_history.html", name=name, found=body, before=before)


def audit(call: Call) -> Response:
    """Every change, newest first; for admins."""
    query = {"lines": _LINES, "connector": call.query("connector"), "user": call.query("user"), "before": call.query("before")}
    reply = call.ask("GET", "headrace", "audit", query=query)
    sentence = "" if reply.ok else reply.message
    body = reply.json if reply.ok else {"durable": True, "entries": [], "before": None}
    return call.page("audit.html", found=body, sentence=sentence, asked=query)


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", "/connector/history"): history,
    ("GET", "/audit"): audit,
}
