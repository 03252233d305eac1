"""`GlobalKTable`: a table of which every instance has all rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GlobalKTable:
    """A global table, which a stream can join."""

    store: str
    """The name of the store."""
    queryable_store_name: str | None
    """The name of the store; None if a Materialized was given that has no name."""
