"""The `Location` of a created connector: a URL that can be followed, whatever the name (docs/parity.md)."""

from __future__ import annotations

from urllib.parse import quote

_SAFE = ":@!$&'()*+,="  # what may stand in a segment as it is


def connector_location(base: str, name: str) -> str:
    """Return `<base>/connectors/<name>`, the name escaped; base: scheme and authority, without a slash at the end."""
    return f"{base}/connectors/{quote(name, safe=_SAFE)}"
