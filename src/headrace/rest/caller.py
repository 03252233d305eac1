"""Who sends a request: put into its scope by the authentication, for the page and the audit."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Scope

from headrace.rest.roles import Role

_KEY = "headrace.caller"


@dataclass(frozen=True)
class Caller:
    """A user."""

    name: str | None
    """None where nobody has to say who they are."""
    role: Role


ANYBODY = Caller(None, Role.ADMIN)


def set_caller(scope: Scope, caller: Caller) -> None:
    """Say who sends the request; whoever has the same scope sees it."""
    scope[_KEY] = caller


def caller_of(scope: Scope) -> Caller:
    """Who sends it; ANYBODY where there is no authentication."""
    return scope.get(_KEY, ANYBODY)
