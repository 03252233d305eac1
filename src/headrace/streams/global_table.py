"""`GlobalKTable`: a table that every instance has whole."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GlobalKTable:
    """To be joined with a stream. `store`: its name; `queryable_store_name`: the same, unless it was generated."""

    store: str
    queryable_store_name: str | None
