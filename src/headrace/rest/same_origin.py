"""ASGI middleware that refuses changes that another site's page has a browser send.

A browser sends a user's password by itself once it knows it, whichever page asks for the request, so the password does not prove
who wanted the change. Clients that are no browsers send no `Origin`. Sources: RFC 6454, the Fetch standard (`Sec-Fetch-Site`).
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from headrace.rest import responses

PAGE = "/ui"
_SAFE = ("GET", "HEAD", "OPTIONS")
_OWN_SITE = ("same-origin", "none")


def of_page(path: str) -> bool:
    """Whether a path is of the operator's page."""
    return path == PAGE or path.startswith(PAGE + "/")


def led_to_page(scope: Scope) -> bool:
    """Whether a request is a browser's for `/`, from where it is led to the page if the worker has one."""
    has_page = scope["path"] == "/" and scope["method"] in ("GET", "HEAD") and getattr(scope["app"].state, "has_page", False)
    return has_page and "text/html" in Headers(scope=scope).get("accept", "")


class SameOrigin:
    """Answers 403 to a change from elsewhere; of the page's own changes it wants proof that they are from the page."""

    def __init__(self, app: ASGIApp, allowed: Callable[[str], bool]) -> None:
        """allowed: whether pages of an origin may use the REST API (`access.control.allow.origin`)."""
        self.app, self._allowed = app, allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["method"] not in _SAFE and (refusal := self._refusal(scope)):
            return await responses.error(403, refusal)(scope, receive, send)
        return await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        same = origin is not None and _host(origin) == headers.get("host")
        same = same and headers.get("sec-fetch-site", "same-origin") in _OWN_SITE
        if of_page(scope["path"]):
            if same and headers.get("hx-request") == "true":
                return None
            return "A change comes from the page itself only: its Origin has to be this worker's, and HX-Request set."
        if same or origin is None or self._allowed(origin):
            return None
        return f"A page of {origin[:200]} may change nothing here; see access.control.allow.origin."


def _host(origin: str) -> str | None:
    """The host and port of an origin; None for one that is no URL."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
