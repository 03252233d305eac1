"""`/headrace/connectors/{connector}/history` and `/headrace/audit`: what happened, and who did what (of headrace)."""

from __future__ import annotations

from starlette.responses import Response

from headrace.cluster.recent_events import IN_MEMORY
from headrace.errors import BadRequestError
from headrace.rest import responses
from headrace.rest.herder import RestHerder
from headrace.rest.resource import Resource

_DEFAULT_LINES = 200

resource = Resource("events")


@resource.get("/headrace/connectors/{connector}/history", gives={200: "History"}, errors=[400, 404])
def history(herder: RestHerder, connector: str, lines: str = "") -> Response:
    """The last `lines` (200) states of a connector and its tasks, on all workers, with the causes of failures."""
    entries = herder.history.last(_count(lines), connector=connector)
    if not entries:
        herder.info(connector)  # raises NotFoundError; the history of a deleted connector is shown
    return responses.ok({"connector": connector, "durable": herder.history.durable, "entries": entries})


@resource.get("/headrace/audit", gives={200: "Audit"}, errors=[400])
def audit(herder: RestHerder, lines: str = "", connector: str = "", user: str = "") -> Response:
    """The last `lines` (200) changes over REST and the page, on all workers: who, what, when, from where, with which result."""
    entries = herder.audit.last(_count(lines), connector=connector or None, user=user or None)
    return responses.ok({"durable": herder.audit.durable, "entries": entries})


def _count(text: str) -> int:
    if text and not (text.isascii() and text.isdigit()):
        raise BadRequestError(f"'lines' is '{text}'; it has to be a whole number from 0 on.")
    return min(int(text or _DEFAULT_LINES), IN_MEMORY)
