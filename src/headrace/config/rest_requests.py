"""How a request to a worker's REST API is written: its path and its body."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import quote


def path_of(segments: Iterable[str]) -> str:
    """The path of segments as they are meant: each is escaped, a slash in it too."""
    return "".join("/" + quote(segment, safe="") for segment in segments)


def json_bytes(body: object) -> bytes:
    """The body of a request; what UTF-8 cannot have (half a surrogate pair) becomes a question mark."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
