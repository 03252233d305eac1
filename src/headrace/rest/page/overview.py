"""The first screen: every connector, what failed first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from starlette.responses import Response

from headrace.rest.overview import PER_PAGE, SORTS, OverviewQuery
from headrace.rest.page.call import Call


def _query(call: Call) -> OverviewQuery:
    page = call.query("page", "1")
    sort = call.query("sort")
    return OverviewQuery(
        call.query("q"),
        call.query("state"),
        call.query("type"),
        sort if sort.removeprefix("-") in SORTS else "",
        max(1, int(page)) if page.isascii() and page.isdigit() else 1,
    )


def overview(call: Call) -> Response:
    """The whole screen."""
    return _show(call, "overview.html")


def rows(call: Call) -> Response:
    """The part of it that is renewed; nothing (204) if it is as the browser has it."""
    return _show(call, "overview_rows.html")


def _show(call: Call, template: str) -> Response:
    snapshot, query = call.context.overview.read(call.herder, call.request), _query(call)
    stamp = hashlib.sha256(repr((snapshot.digest, query, call.caller.role)).encode()).hexdigest()[:16]
    if call.seen(stamp):  # before it is rendered: many pages may be open on a worker that does nothing
        return Response(status_code=204)
    chosen = query.select(snapshot.rows)
    pages = max(1, -(-len(chosen) // PER_PAGE))
    first = (min(query.page, pages) - 1) * PER_PAGE
    return call.page(
        template,
        headers={"X-Stamp": stamp},
        rows=chosen[first : first + PER_PAGE], snapshot=snapshot, matching=len(chosen), pages=pages,
        page=min(query.page, pages), asked=query, stamp=stamp,
    )  # fmt: skip


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {("GET", ""): overview, ("GET", "/rows"): rows}
