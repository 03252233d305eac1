"""Headers of every answer: those of the worker's settings `response.http.headers.config` and `access.control.*`, and `Date`."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import formatdate

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headrace.config.java_pattern import JavaRegexError, java_regex
from headrace.config.types import comma_separated
from headrace.errors import ConfigError

ACTIONS = ("set", "add", "setDate", "addDate")
_PLAIN = re.compile(r"[\w.:/-]*")


@dataclass(frozen=True)
class HeaderRule:
    """One header of `response.http.headers.config`."""

    action: str
    """One of ACTIONS."""
    name: str
    value: str
    """Text, or for the date actions milliseconds from now."""

    def apply(self, headers: MutableHeaders) -> None:
        """Add the header; what the resource itself has set wins over `set` and `setDate`."""
        value = self.value
        if self.action.endswith("Date"):
            value = formatdate(time.time() + int(value) / 1000, usegmt=True)
        if self.action.startswith("set"):
            headers.setdefault(self.name, value)
        else:
            headers.append(self.name, value)


def parse_rules(text: str) -> list[HeaderRule]:
    """Read `response.http.headers.config`.

    text: rules `[action] [name]:[value]` separated by commas, each in double quotes if it contains one.
    Raises ConfigError in Kafka's words.
    """
    rows = list(csv.reader([text], skipinitialspace=True)) if text.strip() else []
    return [_rule(item.strip()) for row in rows for item in row]


def _rule(text: str) -> HeaderRule:
    word, _, header = text.partition(" ")
    if not header.strip():
        raise ConfigError(f"Invalid format of header config '{text}'. Expected: '[action] [header name]:[header value]'")
    action = next((action for action in ACTIONS if action.lower() == word.lower()), None)
    if action is None:
        raise ConfigError(f"Invalid header config action: '{word}'. Expected one of [{', '.join(ACTIONS)}]")
    parts = header.strip().split(":")
    if len(parts) != 2 or not parts[1]:
        raise ConfigError(
            f"Invalid format of header name and header value pair '{header.strip()}'. Expected: '[header name]:[header value]'"
        )
    name, value = (part.strip() for part in parts)
    if not name or len(name.split()) != 1:
        raise ConfigError(f"Invalid header name '{name}'. The '[header name]' cannot contain whitespace")
    if action.endswith("Date") and not value.removeprefix("-").isdigit():
        raise ConfigError(f"Invalid value '{value}' of header '{name}' for {action}. Expected a number of milliseconds")
    return HeaderRule(action, name, value)


@dataclass(frozen=True)
class CrossOrigin:
    """The origins whose web pages may call (CORS)."""

    origins: Sequence[str]
    """Java regular expressions of whole origins, in any case; `*`: any origin; empty: none.

    One without special characters is compared as a text: its dots are no other characters, which may be another's domain.
    """
    methods: Sequence[str] = ("GET", "POST", "HEAD")

    @classmethod
    def of(cls, origins: str, methods: str) -> CrossOrigin:
        """Read `access.control.allow.origin` and `access.control.allow.methods`: words separated by commas.

        Raises ConfigError for a regular expression that is none.
        """
        made = cls(comma_separated(origins), comma_separated(methods) or cls.methods)
        for origin in made.origins:
            try:
                _allowed(origin, "")
            except JavaRegexError as error:
                raise ConfigError.invalid("access.control.allow.origin", origin, str(error)) from None
        return made

    def allows(self, origin: str) -> bool:
        """Whether pages of this origin, or of one of several that are separated by blanks, may call."""
        return "*" in self.origins or any(
            _allowed(allowed, candidate) for candidate in origin.split() for allowed in self.origins
        )

    def apply(self, method: str, request: Headers, headers: MutableHeaders) -> None:
        """Add the CORS headers that the answer to this request needs."""
        if not self.origins:
            return
        headers.add_vary_header("Origin")
        origin = request.get("origin")
        if origin is None or not self.allows(origin):
            return
        headers["Access-Control-Allow-Origin"] = origin
        if method == "OPTIONS" and "access-control-request-method" in request:
            headers["Access-Control-Allow-Methods"] = ",".join(self.methods)
            headers["Access-Control-Allow-Headers"] = "Content-Type"
            headers["Access-Control-Max-Age"] = "60"


def _allowed(pattern: str, origin: str) -> bool:
    if pattern == "*" or _PLAIN.fullmatch(pattern):
        return pattern.lower() == origin.lower()
    return java_regex(f"(?i){pattern}").fullmatch(origin) is not None


class ConfiguredHeaders:
    """ASGI middleware that puts them on every answer, errors included."""

    def __init__(self, app: ASGIApp, rules: Sequence[HeaderRule], cross_origin: CrossOrigin) -> None:
        self.app, self.rules, self.cross_origin = app, rules, cross_origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                self.cross_origin.apply(scope["method"], Headers(scope=scope), headers)
                for rule in self.rules:
                    rule.apply(headers)
            await send(message)

        return await self.app(scope, receive, with_headers)


class DateHeader:
    """ASGI application with the header `Date` on every answer. uvicorn's own is renewed each second, also while nobody asks."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def with_date(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).setdefault("date", formatdate(usegmt=True))
            await send(message)

        return await self.app(scope, receive, with_date)
