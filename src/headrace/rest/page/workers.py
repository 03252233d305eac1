"""The workers of the group, and the log levels of the one that answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from headrace.rest.log_levels import ROOT
from headrace.rest.page.call import Call
from headrace.runtime.logs import LEVELS

_LOGGERS = ("admin", "loggers")
_SCOPES = ("worker", "cluster")


def screen(call: Call) -> Response:
    """The screen; the workers are asked, so the page loads what they say after itself."""
    return call.page("workers.html")


def rows(call: Call) -> Response:
    """What is renewed."""
    return call.renewed("workers_rows.html", found=call.ask_json("GET", "headrace", "workers"))


def log_levels(call: Call) -> Response:
    """The root logger's level, and those that have been changed; or a sentence, where they are at `admin.listeners` alone."""
    if (listeners := call.context.config.admin_listeners) is not None:
        where = f"They are at {', '.join(listeners)} alone" if listeners else "They can be neither seen nor set over REST"
        return call.page("log_levels.html", loggers={}, shown={}, levels=LEVELS, sentence=f"{where} (admin.listeners).")
    reply = call.ask("GET", *_LOGGERS)
    loggers = reply.json if reply.ok else {}
    shown = {name: level for name, level in loggers.items() if name == ROOT or level["last_modified"]}
    return call.page("log_levels.html", loggers=loggers, shown=shown, levels=LEVELS, sentence="" if reply.ok else reply.message)


def set_log_level(call: Call) -> Response:
    """Set the level of a logger and of those below it, here or on every worker."""
    name, level = call.field("logger").strip() or ROOT, call.field("level")
    scope = call.field("scope") if call.field("scope") in _SCOPES else _SCOPES[0]
    call.ask_json("PUT", *_LOGGERS, name, query={"scope": scope}, body={"level": level})
    where = "on every worker" if scope == "cluster" else f"on {call.herder.worker_id}"
    return call.message(f"{name} logs from {level} on, {where}.", ok=True, then="changed")


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", "/workers"): screen,
    ("GET", "/workers/rows"): rows,
    ("GET", "/workers/log-levels"): log_levels,
    ("POST", "/workers/log-levels"): set_log_level,
}
