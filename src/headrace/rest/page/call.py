"""One request of a browser, for the screens: its parameters, the REST API, and the answer as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import anyio.from_thread
from starlette.requests import Request
from starlette.responses import Response

from headrace import __version__
from headrace.cluster.herder import Herder
from headrace.config.secrets import Secrets
from headrace.connect_config.named_plugins import named_plugins
from headrace.connect_config.setting_types import setting_types
from headrace.errors import HeadraceError, RestError
from headrace.rest.caller import Caller, caller_of
from headrace.rest.overview import Overview
from headrace.rest.page import inner
from headrace.rest.page.render import render
from headrace.rest.page.rendered_parts import PARTS, stamp_of
from headrace.rest.roles import Role
from headrace.runtime.worker_config import WorkerConfig

SCREENS = (
    ("/ui", "Connectors"), ("/ui/graph", "Graph"), ("/ui/streams", "Streams"), ("/ui/dead-letters", "Dead letters"),
    ("/ui/workers", "Workers"), ("/ui/audit", "Audit"),
)  # fmt: skip


@dataclass(frozen=True)
class PageContext:
    """The context of all screens: a request of the page."""

    herder: Herder
    config: WorkerConfig
    overview: Overview


@dataclass(frozen=True)
class Call:
    """A request; for handlers, which run in a thread."""

    context: PageContext
    request: Request
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The fields of a form, each with its values."""

    @property
    def herder(self) -> Herder:
        """The worker."""
        return self.context.herder

    @cached_property
    def caller(self) -> Caller:
        """The user of the page."""
        return caller_of(self.request.scope)

    @property
    def may_operate(self) -> bool:
        """Whether to offer what needs the role operate."""
        return self.caller.role >= Role.OPERATE

    @property
    def is_admin(self) -> bool:
        """Whether to offer what needs the role admin."""
        return self.caller.role >= Role.ADMIN

    def query(self, name: str, default: str = "") -> str:
        """A parameter of the address."""
        return self.request.query_params.get(name, default)

    def field(self, name: str, default: str = "") -> str:
        """A field of the form: its first value."""
        return next(iter(self.form.get(name, ())), default)

    def ask(self, method: str, *segments: str, query: Mapping[str, str] | None = None, body: object = None) -> inner.Reply:
        """A request to the REST API, as the same user."""
        return anyio.from_thread.run(inner.ask, self.request, method, segments, query, body)

    def ask_json(self, method: str, *segments: str, query: Mapping[str, str] | None = None, body: object = None) -> Any:
        """Like `ask`, returns the body. Raises RestError with the worker's status and sentence."""
        reply = self.ask(method, *segments, query=query, body=body)
        if not reply.ok:
            raise RestError(reply.status, reply.message)
        return reply.json

    def secrets(self, *configs: Mapping[str, str | None]) -> Secrets:
        """Which settings are secret for the plugins that one of these configurations names."""
        return Secrets(kind for config in configs for kind in setting_types(named_plugins(config)))

    def page(self, template: str, code: int = 200, headers: Mapping[str, str] | None = None, **values: Any) -> Response:
        """An answer of HTML."""
        here = next((path for path, _ in reversed(SCREENS) if self.request.url.path.startswith(path)), "")
        html = render(template, call=self, herder=self.herder, screens=SCREENS, here=here, **values)
        return Response(html, code, dict(headers or {}), "text/html")

    def seen(self, stamp: str) -> bool:
        """Whether the browser has this already, in a part that it polls."""
        return self.request.headers.get("x-seen") == stamp

    def renewed(self, template: str, **values: Any) -> Response:
        """A part of a page that is asked for again and again: nothing (204) if it is as the browser has it."""
        contents = stamp_of((__version__, template, self.caller.role, values))  # a template shows nothing else
        html = PARTS.get(contents, lambda: self.page(template, **values))
        stamp = stamp_of(html)
        return Response(status_code=204) if self.seen(stamp) else Response(html, 200, {"X-Stamp": stamp}, "text/html")

    def message(self, sentence: str, *, ok: bool, status: int = 200, then: str | None = None) -> Response:
        """A sentence in the corner of the page; then: an event that has parts of the page renewed."""
        headers = {"HX-Retarget": "#messages", "HX-Reswap": "beforeend"} | ({"HX-Trigger": then} if then else {})
        return self.page("message.html", status, headers, sentence=sentence, ok=ok)


def sentence_of(error: HeadraceError) -> str:
    """What went wrong."""
    return str(error) or type(error).__name__
