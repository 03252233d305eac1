"""The user of a request: set in its scope by the authentication, for the page and the audit."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Scope

from headrace.rest.roles import Role

_KEY = "headrace.caller"


@dataclass(frozen=True)
class Caller:
    """A user."""

    name: str | None
    """None without authentication."""
    role: Role
    """ADMIN without authentication."""


ANYBODY = Caller(None, Role.ADMIN)


def set_caller(scope: Scope, caller: Caller) -> None:
    """Set the user in the scope of a request."""
    scope[_KEY] = caller


def caller_of(scope: Scope) -> Caller:
    """The user of a request; ANYBODY without authentication."""
    return scope.get(_KEY, ANYBODY)
