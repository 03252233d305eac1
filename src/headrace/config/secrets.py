"""Which settings are secrets, so that their values are never shown.

A plugin says it by the type PASSWORD. A key that nothing defines is judged by its end: `producer.override.sasl.jaas.config` is a
secret because `sasl.jaas.config` of Kafka's clients is one, and what is called a password is taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from headrace.config.client_options import client_definition
from headrace.config.types import Type

HIDDEN = "[hidden]"
"""Kafka's own word for a password in a log."""
_SECRET = re.compile(
    r"(passwords?|passwd|passphrase|secrets?|credentials?|token|user[._-]?info|(private|secret|access|api)[._-]?key)$",
    re.IGNORECASE,
)
_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)|(?<=[?&;]password=)[^&;]+", re.IGNORECASE)

_PLACEHOLDER = re.compile(r"\$\{[^:{}]+:[^{}]+\}")
"""`${provider:[path:]key}`: a reference to a secret."""


class Secrets:
    """Which keys are secret; definitions: as in `GET /connector-plugins/<class>/config`, of any plugins."""

    def __init__(self, definitions: Iterable[Mapping[str, Any] | None] = ()) -> None:
        self._types = {d["name"]: d["type"] for d in definitions if d and d.get("name") and d.get("type")}
        self._ends = _client_passwords() | {name for name, kind in self._types.items() if kind == Type.PASSWORD}

    def hides(self, key: str) -> bool:
        """Whether the value of this key is a secret."""
        if key in self._types:
            return self._types[key] == Type.PASSWORD
        return bool(_SECRET.search(key)) or any(key == end or key.endswith("." + end) for end in self._ends)

    def shown(self, key: str, value: str | None) -> str | None:
        """The value, or HIDDEN in its place; None stays None, and so does the placeholder of a config provider."""
        secret = value is not None and not _PLACEHOLDER.fullmatch(value) and self.hides(key)
        return HIDDEN if secret else value

    def public(self, config: Mapping[str, str | None]) -> dict[str, str | None]:
        """A configuration for who may not see secrets: those that stand in URLs are hidden, too."""
        shown = {key: self.shown(key, value) for key, value in config.items()}
        return {key: value and _IN_URL.sub(HIDDEN, value) for key, value in shown.items()}


@cache
def _client_passwords() -> frozenset[str]:
    """The secrets among the options of Kafka's clients."""
    options = [o for user in ("producer", "consumer", "admin") for o in client_definition(user).options.values()]
    return frozenset(option.name for option in options if option.type == Type.PASSWORD)
