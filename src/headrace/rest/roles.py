"""The roles of REST users: each role includes those before it. Pure."""

from __future__ import annotations

import re
from enum import IntEnum


class Role(IntEnum):
    """read: look at everything but secrets, and validate; operate: let connectors rest, run, restart, set offsets, replay dead
    letters, report streams applications, have them initialize their internal topics; admin: all, to preview as well, which runs
    what a configuration says with the worker's rights."""

    READ = 1
    OPERATE = 2
    ADMIN = 3


AUDIT = "/headrace/audit"
STREAMS_COMMANDS = "/headrace/streams/[^/]+/commands"
_STREAMS_REPORT = "/headrace/streams/[^/]+/[^/]+"
_CONNECTOR = "/connectors/[^/]+"
_INTERNAL = (("POST", f"{_CONNECTOR}/tasks"), ("PUT", f"{_CONNECTOR}/fence"))
_PAGE = ("POST", "/ui/.*")  # what it does, it asks of the REST API, as the same user
_DEAD_LETTERS = "/headrace/dead-letters/[^/]+"
_READ = (
    ("GET", ".*"), ("HEAD", ".*"), ("PUT", "/connector-plugins/[^/]+/config/validate"), _PAGE,
)  # fmt: skip
_OPERATE = (
    ("PUT", f"{_CONNECTOR}/(pause|resume|stop|topics/reset)"),
    ("POST", f"{_CONNECTOR}/(tasks/[^/]+/)?restart"),
    ("PATCH", f"{_CONNECTOR}/offsets"),
    ("DELETE", f"{_CONNECTOR}/offsets"),
    ("POST", "/headrace/connectors/actions"),
    ("POST", f"{_DEAD_LETTERS}/replay"),
    ("PUT", _STREAMS_REPORT),
    ("POST", STREAMS_COMMANDS),
)


def open_to_all(method: str, path: str) -> bool:
    """Whether nobody has to say who they are: for `/health`, and for what workers sign when they ask each other.

    path: decoded (`headrace.rest.uri`), as for `needed`.
    """
    return path == "/health" or _is_one_of(_INTERNAL, method, path)


def needed(method: str, path: str) -> Role:
    """The role that a request needs; what is not known here needs admin."""
    if path == AUDIT:  # it has the names and addresses of users
        return Role.ADMIN
    if _is_one_of(_READ, method, path):
        return Role.READ
    return Role.OPERATE if _is_one_of(_OPERATE, method, path) else Role.ADMIN


def _is_one_of(requests: tuple[tuple[str, str], ...], method: str, path: str) -> bool:
    return any(method == allowed and re.fullmatch(pattern, path, re.DOTALL) for allowed, pattern in requests)
