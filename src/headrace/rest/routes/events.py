"""`/headrace/connectors/{connector}/history` and `/headrace/audit`: what happened, and who did what (of headrace)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from headrace.cluster.event_log import EventLog, EventPage
from headrace.cluster.herder import Herder
from headrace.cluster.recent_events import IN_MEMORY
from headrace.config.whole_number import shortened
from headrace.errors import BadRequestError
from headrace.rest import responses
from headrace.rest.resource import Resource, whole_parameter
from headrace.values.times import iso

_DEFAULT_LINES = 200

resource = Resource("events")


@resource.get("/headrace/connectors/{connector}/history", gives={200: "History"}, errors=[400, 404])
def history(herder: Herder, connector: str, lines: str = "", before: str = "") -> Response:
    """The last `lines` (200) states of a connector and its tasks, on all workers, with the causes of failures; `before`: those
    before the time that an answer named.
    """
    page = herder.history.page(_count(lines), _time(before), connector=connector)
    if not page.events:
        herder.info(connector)  # raises NotFoundError; the history of a deleted connector is shown
    return responses.ok({"connector": connector, **_body(herder.history, page)})


@resource.get("/headrace/audit", gives={200: "Audit"}, errors=[400])
def audit(herder: Herder, lines: str = "", connector: str = "", user: str = "", before: str = "") -> Response:
    """The last `lines` (200) changes over REST and the page, on all workers: who, what, when, from where, with which result;
    `before`: those before the time that an answer named.
    """
    page = herder.audit.page(_count(lines), _time(before), connector=connector or None, user=user or None)
    return responses.ok(_body(herder.audit, page))


def _body(events: EventLog, page: EventPage) -> dict[str, Any]:
    return {"durable": events.durable, "entries": page.events, "before": page.before}


def _time(text: str) -> str | None:
    """A time as the event logs write it; None for no text. Raises BadRequestError."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        return iso(time if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise BadRequestError(f"'before' is '{shortened(text)}'; it has to be a time like 2026-01-31T12:00:00.000Z.") from None


def _count(text: str) -> int:
    return min(whole_parameter("lines", text or str(_DEFAULT_LINES)), IN_MEMORY)
