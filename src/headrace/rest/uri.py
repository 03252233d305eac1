"""From the path of a request, as sent, to the path that routes match.

Kafka Connect's HTTP server (Jetty, `UriCompliance.DEFAULT`) and JAX-RS give a path this meaning; clients rely on it:

- every segment is decoded by itself (UTF-8), after its matrix parameters (`;…`) are cut off; a `+` is a plus;
- `..` is a segment like any other (a connector may be called so), and one slash at the end does not count;
- what cannot be meant is refused with 400: `%2E` as a whole segment, control characters, empty segments, and bytes that
  are not UTF-8.

Jetty refuses `%2F`, `%25` and `%5C` as well. Here they are what they say, since a connector's name may have these
characters and has to be reached (docs/parity.md).
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})|%00|%[uU]")
_ESCAPED_DOTS = re.compile(rb"(?:\.|%2[eE]){1,2}")
_SUSPICIOUS = re.compile(r"[\x00-\x1f\x7f]")
_LISTS = (b"expand",)
SLASH = "\x00"
"""Stands for a slash inside of a segment, between `decode_path` and `restore`: no decoded segment can have it otherwise."""


class BadUriError(ValueError):
    """The path may not be sent like this; the text is Jetty's reason phrase."""


def decode_path(raw: bytes) -> str:
    """Return the path that `raw` (without the query) names, its segments decoded, joined by `/`; no slash at the end.

    A slash that is part of a segment is SLASH in the result. Raises BadUriError.
    """
    if not raw.startswith(b"/"):
        raise BadUriError("Bad Request")
    segments = raw.split(b"/")[1:]
    if len(segments) > 1 and not segments[-1]:
        segments.pop()
    return "/" + "/".join(_decode_segment(segment, only=len(segments) == 1) for segment in segments)


def _decode_segment(segment: bytes, only: bool) -> str:
    if not segment and not only:
        raise BadUriError("Ambiguous URI empty segment")
    if _BAD_ESCAPE.search(segment):
        raise BadUriError("Bad Request")
    name, _, parameters = segment.partition(b";")
    if _ESCAPED_DOTS.fullmatch(name) and b"%" in name:
        raise BadUriError("Ambiguous URI path segment")
    if parameters and name in (b"", b".", b".."):
        raise BadUriError("Ambiguous URI path parameter")
    try:
        text = unquote_to_bytes(name).decode("utf-8")
    except UnicodeDecodeError:
        raise BadUriError("Bad UTF-8 encoding") from None
    if _SUSPICIOUS.search(text):
        raise BadUriError("Suspicious Path Character")
    return text.replace("/", SLASH)


def first_values(query: bytes) -> bytes:
    """Return the query with the first value of each parameter alone, which is the one that JAX-RS reads; `expand` is a list."""
    names_seen: set[bytes] = set()
    first_pairs = []
    for part in query.split(b"&"):
        name = unquote_to_bytes(part.partition(b"=")[0].replace(b"+", b" "))
        if name not in names_seen or name in _LISTS:
            first_pairs.append(part)
        names_seen.add(name)
    return b"&".join(first_pairs)


def restore(segment: str) -> str:
    """Return a segment of a decoded path as it was meant, with its slashes."""
    return segment.replace(SLASH, "/")
