"""Streams applications that report to a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from headrace.errors import NotFoundError
from headrace.rest.page.call import Call


def screen(call: Call) -> Response:
    """All applications, or one of them; the workers are asked, so what they have comes by itself."""
    return call.page("streams.html", application=call.query("application"))


def rows(call: Call) -> Response:
    """The list."""
    return call.renewed("streams_rows.html", found=call.asked("GET", "headrace", "streams"))


def application(call: Call) -> Response:
    """One application. Raises NotFoundError."""
    name, answer = call.query("application"), call.asked("GET", "headrace", "streams")
    shown = next((entry for entry in answer["applications"] if entry["application"] == name), None)
    if shown is None:
        raise NotFoundError(f"No application '{name}' has reported to a worker in the last quarter of an hour.")
    return call.renewed("streams_application.html", found=shown, not_reached=answer["not_reached"])


ROUTES: Mapping[tuple[str, str], Callable[[Call], Response]] = {
    ("GET", "/streams"): screen,
    ("GET", "/streams/rows"): rows,
    ("GET", "/streams/application"): application,
}
