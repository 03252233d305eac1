"""Content negotiation: every resource of Connect consumes and produces `application/json` only."""

from __future__ import annotations

JSON = "application/json"


def is_json(content_type: str) -> bool:
    """Whether a `Content-Type` header names JSON; parameters and case do not matter."""
    return content_type.partition(";")[0].strip().lower() == JSON


def accepts(accept: str | None, media_type: str = JSON) -> bool:
    """Whether an `Accept` header (None: not sent) allows an answer of this type; ranges with `q=0` do not count."""
    if accept is None or not accept.strip():
        return True
    accepted = {media_type, media_type.partition("/")[0] + "/*", "*/*"}
    return any(_range(item) in accepted for item in accept.split(","))


def _range(item: str) -> str | None:
    name, *parameters = (part.strip().lower() for part in item.split(";"))
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q" and not _positive(value):
            return None
    return "*/*" if name == "*" else name


def _positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False
