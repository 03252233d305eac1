"""Settings that stand under a prefix, like those of a Kafka client under `producer.`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")


def under(props: Mapping[str, Value], *prefixes: str) -> dict[str, Value]:
    """The settings whose key begins with one of the prefixes and is longer, without the prefix.

    Where two prefixes have the same setting, the later prefix wins.
    """
    return {
        key.removeprefix(prefix): value
        for prefix in prefixes
        for key, value in props.items()
        if key.startswith(prefix) and key != prefix
    }
