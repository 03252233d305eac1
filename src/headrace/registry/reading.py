"""The Connect schema and the plan to read data of one registered schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.values.schema import Schema


@dataclass(frozen=True)
class Reading:
    """How the bytes after a schema's id are read as Connect data."""

    schema: Schema | None
    """None for schemaless data."""
    plan: Any
    """The plan by which the format's reader in Java reads the bytes as the payload of the schema."""
