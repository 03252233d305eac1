"""ASGI middleware that lets requests of known users through, if their role allows it. It stands behind `JaxRs`."""

from __future__ import annotations

import base64
import binascii
from functools import partial

import anyio
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from headrace.rest import logs, responses
from headrace.rest.access import CHALLENGE, Access
from headrace.rest.caller import Caller, set_caller
from headrace.rest.period_limit import PeriodLimit
from headrace.rest.roles import needed, open_to_all
from headrace.rest.same_origin import led_to_page, of_page

_AT_ONCE = 2  # concurrent password checks: each takes 16 MiB and a core
_LOGGED, _MINUTE_S = 20, 60.0


class Authentication:
    """Answers strangers, and users whose role is too low, and hands on the rest."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self._access = app, access
        self._limit = anyio.CapacityLimiter(_AT_ONCE)
        self._failures = BoundedLog(_LOGGED, _MINUTE_S)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "websocket":  # there is none; a route that is added must not be reachable without a password
            return await _refuse_websocket(receive, send)
        if scope["type"] != "http" or open_to_all(scope["method"], scope["path"]):
            return await self.app(scope, receive, send)
        name, password = credentials(Headers(scope=scope).get("authorization"))
        role = await run_sync(partial(self._access.role, name, password), limiter=self._limit)
        needed_role = needed(scope["method"], scope["path"])
        if role is not None:
            set_caller(scope, Caller(name, role))
        if role is None:
            why = "did not say who they are" if name is None else "is not known here, or the password is wrong"
            self._log_denial(why, name, scope)
            refusal = self._access.refuse()
            if of_page(scope["path"]) or led_to_page(scope):  # else a browser would not prompt for a password
                refusal.headers["WWW-Authenticate"] = CHALLENGE
            return await refusal(scope, receive, send)
        if role < needed_role:
            self._log_denial(f"has the role {role.name.lower()}", name, scope)
            text = f"This needs the role {needed_role.name.lower()}; {name} has {role.name.lower()}."
            return await responses.error(403, text)(scope, receive, send)
        return await self.app(scope, receive, send)

    def _log_denial(self, why: str, name: str | None, scope: Scope) -> None:
        address = (scope.get("client") or ("?",))[0]
        who = "Somebody" if name is None else f"User {_printable(name)}"
        self._failures.warning(f"Refused {scope['method']} {_printable(scope['path'])} from {address}: {who} {why}")


async def _refuse_websocket(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close", "code": 1008, "reason": "This worker has no websockets."})


def credentials(header: str | None) -> tuple[str | None, str | None]:
    """User and password of an `Authorization` header; None for both if it has none of the kind Basic."""
    kind, _, encoded = (header or "").strip().partition(" ")
    if kind.lower() != "basic":
        return None, None
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError):
        return None, None
    try:
        name, colon, password = decoded.decode("utf-8").partition(":")
    except UnicodeDecodeError:
        name, colon, password = decoded.decode("latin-1").partition(":")
    return (name, password) if colon else (None, None)


class BoundedLog:
    """Logs so many warnings in a period, and of the others how many there were."""

    def __init__(self, max_logged: int, period_s: float) -> None:
        self._limit = PeriodLimit(max_logged, period_s)

    def warning(self, text: str) -> None:
        """Log this, unless there was too much of it."""
        if missed := self._limit.missed():
            logs.SERVER.warning("%d more requests were refused and not logged", missed)
        if self._limit.take():
            logs.SERVER.warning("%s", text)


def _printable(text: str) -> str:
    return repr(text[:64])
