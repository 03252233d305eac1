"""The workers of the group."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from headrace.rest.page.call import Call


def screen(call: Call) -> Response:
    """The screen; the workers are asked, so the page loads what they say after itself."""
    return call.page("workers.html")


def rows(call: Call) -> Response:
    """What is renewed."""
    return call.renewed("workers_rows.html", found=call.asked("GET", "headrace", "workers"))


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {("GET", "/workers"): screen, ("GET", "/workers/rows"): rows}
