"""How data of one schema of a registry is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.values.schema import Schema


@dataclass(frozen=True)
class Reading:
    """What the bytes behind an id are in Connect."""

    schema: Schema | None
    """None for schemaless data."""
    plan: Any
    """What reads the bytes as the payload of the schema, for the format's reader in Java."""
