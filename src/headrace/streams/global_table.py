"""`GlobalKTable`: a table that every instance has whole."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GlobalKTable:
    """To be joined with a stream."""

    store: str
    """Its name."""
    queryable_store_name: str | None
    """The same, unless it was generated."""
