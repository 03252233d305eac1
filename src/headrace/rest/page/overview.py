"""The first screen: every connector, what failed first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from headrace.config.whole_number import whole_number
from headrace.rest.overview import PER_PAGE, SORTS, OverviewQuery, Snapshot
from headrace.rest.page.call import Call
from headrace.rest.page.rendered_parts import PARTS, stamp_of
from headrace.rest.responses import JsonResponse

MOST_CHOSEN = 1000
"""How many connectors can be selected at once."""


def _query(call: Call) -> OverviewQuery:
    sort = call.query("sort")
    return OverviewQuery(
        call.query("q"),
        call.query("state"),
        call.query("type"),
        sort if sort.removeprefix("-") in SORTS else "",
        whole_number(call.query("page"), 1) or 1,
    )


def overview(call: Call) -> Response:
    """The whole screen."""
    snapshot, query = call.context.overview.read(call.herder, call.request), _query(call)
    return _show(call, "overview.html", snapshot, query, _stamp(call, snapshot, query))


def rows(call: Call) -> Response:
    """The part that the browser polls; nothing (204) if it is unchanged."""
    snapshot, query = call.context.overview.read(call.herder, call.request), _query(call)
    stamp = _stamp(call, snapshot, query)
    if call.seen(stamp):  # before it is rendered: many pages may be open on a worker that does nothing
        return Response(status_code=204)
    html = PARTS.get(stamp, lambda: _show(call, "overview_rows.html", snapshot, query, stamp))
    return Response(html, headers={"X-Stamp": stamp}, media_type="text/html")


def _stamp(call: Call, snapshot: Snapshot, query: OverviewQuery) -> str:
    """Equal for equal rows: they depend on nothing else."""
    return stamp_of((snapshot.digest, query, call.caller.role))


def _show(call: Call, template: str, snapshot: Snapshot, query: OverviewQuery, stamp: str) -> Response:
    chosen = query.select(snapshot.rows)
    pages = max(1, -(-len(chosen) // PER_PAGE))
    first = (min(query.page, pages) - 1) * PER_PAGE
    return call.page(
        template,
        headers={"X-Stamp": stamp},
        rows=chosen[first : first + PER_PAGE], snapshot=snapshot, matching=len(chosen), pages=pages,
        page=min(query.page, pages), asked=query, stamp=stamp, most=MOST_CHOSEN,
    )  # fmt: skip


def matching(call: Call) -> Response:
    """The names of all connectors that match the filter, of every page, in order: the browser selects them."""
    chosen = _query(call).select(call.context.overview.read(call.herder, call.request).rows)
    return JsonResponse([row.name for row in chosen[:MOST_CHOSEN]])


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", ""): overview,
    ("GET", "/rows"): rows,
    ("GET", "/matching"): matching,
}
