"""Which settings are secrets, so that their values are never shown.

A plugin says it by the type PASSWORD. A key that nothing defines is judged by its end: `producer.override.sasl.jaas.config` is a
secret because `sasl.jaas.config` of Kafka's clients is one, and what is called a password is taken for one. So is a header that a
client sends (`request.header.Authorization`), and what stands in a URL as a login or a parameter like `password=`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from headrace.config.client_options import client_definition
from headrace.config.types import Type
from headrace.errors import BadRequestError

HIDDEN = "[hidden]"
"""Kafka's own word for a password in a log."""
_SECRET = re.compile(
    r"(passwords?|passwd|(^|[._-])pass|passphrase|secrets?|credentials?|token|user[._-]?info"
    r"|(private|secret|access|account|api)[._-]?key)$"
    # Hadoop's names for the credentials of Azure end in the name of the account.
    r"|(^|\.)fs\.azure\.(account\.(key|oauth2\.(client\.secret|user\.password|refresh\.token))|sas(?!\.token\.provider))\.",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(^|\.)request\.header\.", re.IGNORECASE)
_KEY = r"[?&;][\w.-]*(password|passwd|passphrase|secret|token|(private|secret|access|account|api)[._-]?key|\bsig)="
_IN_URL = re.compile(
    r"(?P<s3>\bs3[an]?://)[^@\s,]+(?=@)"  # the secret key of S3 may have a slash
    # What stands before the @ in a path of Azure is a container.
    r"|(?P<scheme>(?<!\babfs)(?<!\babfss)(?<!\bwasb)(?<!\bwasbs)://)"
    # A login goes to the last @, as for HTTP clients; an @ within a parameter is in its value, so all of that is hidden.
    rf"(?:[^/\s]*{_KEY}(?:\{{[^}}]*@(?:[^}}]|\}}\}})*\}}|[^&;\s]*@[^&;\s]*)|[^/\s]+(?=@))"
    r"|(?P<oracle>:thin:)[^@\s]\S*(?=@)"
    # The driver of SQL Server has values in braces, in which }} is a brace.
    rf"|(?P<parameter>{_KEY})(?:\{{(?:[^}}]|\}}\}})*\}}|[^&;\s]+)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"\$\{[^:{}]+:[^{}]+\}")
"""`${provider:[path:]key}`: a reference to a secret."""


class Secrets:
    """Which keys are secret; definitions: as in `GET /connector-plugins/<class>/config`, of any plugins.

    A key that is of type PASSWORD for one of them is secret, whatever the others say.
    """

    def __init__(self, definitions: Iterable[Mapping[str, Any] | None] = ()) -> None:
        defined = [(d["name"], d["type"]) for d in definitions if d and d.get("name") and d.get("type")]
        passwords = {name: kind for name, kind in defined if kind == Type.PASSWORD}
        self._types = dict(defined) | passwords
        self._ends = _client_passwords() | passwords.keys()

    def hides(self, key: str) -> bool:
        """Whether the value of this key is a secret."""
        if key in self._types:
            return self._types[key] == Type.PASSWORD
        return bool(_SECRET.search(key) or _HEADER.search(key)) or any(
            key == end or key.endswith("." + end) for end in self._ends
        )

    def shown(self, key: str, value: str | None) -> str | None:
        """The value, or HIDDEN in its place; None stays None, and so does the placeholder of a config provider."""
        if value is None or _PLACEHOLDER.fullmatch(value):
            return value
        return HIDDEN if self.hides(key) else without_logins(value)

    def public(self, config: Mapping[str, str | None]) -> dict[str, str | None]:
        """A configuration for who may not see secrets."""
        return {key: self.shown(key, value) for key, value in config.items()}


def without_logins(text: str) -> str:
    """The text with the logins of its URLs, and the parameters of URLs that are secrets, hidden; placeholders stay readable."""

    def hidden(match: re.Match[str]) -> str:
        before = match["s3"] or match["scheme"] or match["oracle"] or match["parameter"]
        return match[0] if not _PLACEHOLDER.sub("", match[0].removeprefix(before)).strip(":") else before + HIDDEN

    return _IN_URL.sub(hidden, text)


def stands_for(shown: str | None, value: str | None) -> bool:
    """Whether a value as it was shown has a secret hidden, and may be this one."""
    return shown is not None and HIDDEN in shown and shown != value and shown in (HIDDEN, value and without_logins(value))


def put_back(config: Mapping[str, str | None], running: Mapping[str, str | None]) -> dict[str, str | None]:
    """A configuration that was made of a shown one, with the secrets of the one that runs in their places.

    Raises BadRequestError for a hidden value that stands for none: its key is new, or the text around it has been changed.
    """
    return {key: _original(key, value, running.get(key)) for key, value in config.items()}


def _original(key: str, value: str | None, running: str | None) -> str | None:
    if value is None or HIDDEN not in value or value == running:
        return value
    if not stands_for(value, running) or running is None:
        raise BadRequestError(
            f"{key} has {HIDDEN}, which stands for a secret that runs; there is none like this: write it in full."
        )
    return running


@cache
def _client_passwords() -> frozenset[str]:
    """The secrets among the options of Kafka's clients."""
    options = [o for user in ("producer", "consumer", "admin") for o in client_definition(user).options.values()]
    return frozenset(option.name for option in options if option.type == Type.PASSWORD)
