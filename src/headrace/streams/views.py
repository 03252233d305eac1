"""Where the rows of a table can be looked up: in its own store, or in the stores that it is computed from.

A table that comes from a topic is kept only if something looks it up, or needs the old values of its changes. Operators ask
here, and asking is what decides: `stores()` keeps the table, `enable_sending_old_values(force=True)` as well.
"""

from __future__ import annotations

from typing import Protocol

from headrace.streams.stores import StateStore


class View(Protocol):
    """What operators ask of a table."""

    def stores(self) -> tuple[str, ...]:
        """The stores that a look-up needs; they are kept from now on."""
        ...

    def enable_sending_old_values(self, force: bool) -> bool:
        """Ask for the old value in each change; unless forced, only if that takes no further store. Whether it is so."""
        ...


class SourceView:
    """A table from a topic or stream, kept if asked for. `materialized`: from the beginning if the user named its store."""

    def __init__(self, store: StateStore, materialized: bool) -> None:
        self.store, self.materialized = store, materialized

    def stores(self) -> tuple[str, ...]:
        """Its store."""
        self.materialized = True
        return (self.store.name,)

    def enable_sending_old_values(self, force: bool) -> bool:
        """Needs its store."""
        self.materialized = self.materialized or force
        return self.materialized

    def state_stores(self) -> tuple[StateStore, ...]:
        """Its store, if it is kept."""
        return (self.store,) if self.materialized else ()


class StoredView:
    """The result of an aggregation: always kept."""

    def __init__(self, store: str) -> None:
        self._store = store

    def stores(self) -> tuple[str, ...]:
        """Its store."""
        return (self._store,)

    def enable_sending_old_values(self, force: bool) -> bool:
        """It has them."""
        return True


class DerivedView:
    """A filter or mapping of a table: computed from that one, unless the user named a store."""

    def __init__(self, parent: View, store: str | None) -> None:
        self._parent, self._store = parent, store

    def stores(self) -> tuple[str, ...]:
        """Its store, else what the parent needs."""
        return (self._store,) if self._store is not None else self._parent.stores()

    def enable_sending_old_values(self, force: bool) -> bool:
        """From its store, else as the parent does."""
        return self._store is not None or self._parent.enable_sending_old_values(force)


class JoinView:
    """A join of two tables: computed from both, unless it is kept."""

    def __init__(self, left: View, right: View, store: str | None) -> None:
        self._left, self._right, self._store = left, right, store

    def stores(self) -> tuple[str, ...]:
        """Its store, else what both tables need."""
        if self._store is not None:
            return (self._store,)
        return tuple(dict.fromkeys((*self._left.stores(), *self._right.stores())))

    def enable_sending_old_values(self, force: bool) -> bool:
        """Both tables have to."""
        self._left.enable_sending_old_values(True)
        self._right.enable_sending_old_values(True)
        return True


class SuppressedView:
    """A table whose changes are held back: what is in the buffer, else what the parent says."""

    def __init__(self, parent: View, buffer: str) -> None:
        self._parent, self._buffer = parent, buffer

    def stores(self) -> tuple[str, ...]:
        """The buffer, and what the parent needs."""
        return (self._buffer, *self._parent.stores())

    def enable_sending_old_values(self, force: bool) -> bool:
        """As the parent does."""
        return self._parent.enable_sending_old_values(force)
