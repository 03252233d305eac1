"""Kafka's rule for the names of topics."""

from __future__ import annotations

MAX_LENGTH = 249
ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def why_invalid(name: str) -> str | None:
    """Why no topic can have this name, in the words of Kafka's `Topic.validate` after "Topic name is invalid: "; None if one can.

    An empty name is not looked at.
    """
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_LENGTH}"
    if not ALLOWED.issuperset(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None
