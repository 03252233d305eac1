"""The `Location` of a created connector, built as JAX-RS's `UriBuilder.path(name)` builds it."""

from __future__ import annotations

import re
from urllib.parse import quote

from headrace.errors import ConnectError

_SAFE = "/:@!$&'()*+,;=%"  # what may stand in a path as it is
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_TEMPLATE = re.compile(r"\{\s*(\w[\w.-]*)\s*(?::[^{}]*)?\}")


def connector_location(base: str, name: str) -> str:
    """Return `<base>/connectors/<name>`; base: scheme and authority, without a slash at the end.

    Escapes that are already in the name stay (`a%20b`), a lone `%` becomes `%25`, a slash stays a slash. Raises
    ConnectError for a name with `{…}`: JAX-RS takes that for a template variable, so Connect answers 500 although the
    connector was created.
    """
    if variable := _TEMPLATE.search(name):
        raise ConnectError(f"The template variable '{variable[1]}' has no value")
    return f"{base}/connectors/{_LONE_PERCENT.sub('%25', quote(name, safe=_SAFE))}"
