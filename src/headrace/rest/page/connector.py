"""A connector: what went wrong first, then what it does, its configuration, offsets and log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.responses import Response

from headrace.dead_letters.letter import topic_of
from headrace.errors import HeadraceError, NotFoundError
from headrace.rest.page.call import Call, sentence_of
from headrace.runtime.states import FAILED

TABS = ("status", "configuration", "offsets", "history", "log")
_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
_LINES = 200


def screen(call: Call) -> Response:
    """The screen of a connector, with one of its tabs."""
    name, tab = call.query("name"), call.query("tab", TABS[0])
    info = call.herder.info(name)
    return call.page(
        "connector.html", **_common(call, name), info=info, tab=tab if tab in TABS else TABS[0], **_config(call, name)
    )


def live(call: Call) -> Response:
    """The part that is renewed: states, causes, figures."""
    name = call.query("name")
    call.herder.info(name)
    return call.renewed("connector_live.html", **_common(call, name))


def head(call: Call) -> Response:
    """The name with its state, and what can be done."""
    name = call.query("name")
    call.herder.info(name)
    return call.renewed("connector_head.html", **_common(call, name))


def _common(call: Call, name: str) -> dict[str, Any]:
    status = _status(call, name)
    parts = [("connector", status["connector"]), *((f"task {task['id']}", task) for task in status["tasks"])] if status else []
    snapshot = call.context.overview.read(call.herder, call.request)
    row = next((row for row in snapshot.rows if row.name == name), None)
    return {
        "name": name,
        "status": status,
        "row": row,
        "failures": [(title, part) for title, part in parts if part["state"] == FAILED],
        "not_reached": [worker for worker in snapshot.not_reached if row is None or worker in row.workers],
    }


def _status(call: Call, name: str) -> dict[str, Any] | None:
    try:
        return call.herder.status(name, own=True)
    except NotFoundError:  # just created
        return None


def _config(call: Call, name: str) -> dict[str, Any]:
    config = call.herder.info(name).config
    secrets = call.secrets(config)
    return {"letters": topic_of(config), "config": dict(sorted(secrets.public(config).items()))}


def charts(call: Call) -> Response:
    """Records per second and ages of the last hour; the workers of its tasks are asked, so the page loads it after itself."""
    figures = call.ask_json("GET", "headrace", "connectors", call.query("name"), "figures")
    times, rates, ages = ([sample[field] for sample in figures["samples"]] for field in ("time_ms", "rate", "age_ms"))
    return call.page("connector_charts.html", found=figures, times=times, rates=rates, ages=ages)


def lag(call: Call) -> Response:
    """How far each partition is behind; the source cluster is asked, so the page loads it after itself."""
    name = call.query("name")
    try:
        partitions = call.herder.lag(name, ages=True)
    except HeadraceError as error:
        return call.page("connector_lag.html", partitions=[], sentence=sentence_of(error), name=name)
    return call.page("connector_lag.html", partitions=partitions, sentence="", name=name)


def topics(call: Call) -> Response:
    """Its topics, and whether they still are as its rules say; the cluster is asked, so the page loads it after itself."""
    reply = call.ask("GET", "headrace", "connectors", call.query("name"), "topics", "drift")
    body = reply.json if reply.ok else {"topics": [], "drift": []}
    ruled = any(topic["group"] for topic in body["topics"])
    return call.page("connector_topics.html", found=body, ruled=ruled, sentence="" if reply.ok else reply.message)


def log(call: Call) -> Response:
    """The last log entries, of all workers, with the choice of their level."""
    return call.page("connector_log.html", levels=_LEVELS, **_log(call))


def log_entries(call: Call) -> Response:
    """The part of it that is renewed."""
    return call.renewed("connector_log_entries.html", **_log(call))


def _log(call: Call) -> dict[str, Any]:
    name, level = call.query("name"), call.query("level", "INFO")
    level = level if level in _LEVELS else "INFO"
    query = {"lines": str(_LINES), "level": level}
    return {"name": name, "level": level, "found": call.ask_json("GET", "headrace", "connectors", name, "logs", query=query)}


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", "/connector"): screen,
    ("GET", "/connector/live"): live,
    ("GET", "/connector/head"): head,
    ("GET", "/connector/charts"): charts,
    ("GET", "/connector/lag"): lag,
    ("GET", "/connector/topics"): topics,
    ("GET", "/connector/log"): log,
    ("GET", "/connector/log/entries"): log_entries,
}
