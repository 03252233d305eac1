"""Where the rows of a table can be looked up: in its own store, or in the stores that it is computed from.

A table from a topic is materialized only if an operator looks it up, or needs the old values of its changes: calling `stores()`
or `enable_sending_old_values(force=True)` materializes it.
"""

from __future__ import annotations

from typing import Protocol

from headrace.streams.stores import StateStore


class View(Protocol):
    """How operators access a table (Kafka's KTableValueGetterSupplier)."""

    def stores(self) -> tuple[str, ...]:
        """The stores that a look-up needs; they are materialized from now on."""
        ...

    def enable_sending_old_values(self, force: bool) -> bool:
        """Request the old value in each change; unless forced, only if that needs no further store. Whether it is sent."""
        ...


class SourceView:
    """A table from a topic or stream, materialized on demand. `materialized`: from the start if the user named its store."""

    def __init__(self, store: StateStore, materialized: bool) -> None:
        self.store, self.materialized = store, materialized

    def stores(self) -> tuple[str, ...]:
        """The store of the table, materialized from now on."""
        self.materialized = True
        return (self.store.name,)

    def enable_sending_old_values(self, force: bool) -> bool:
        """Sent if the table is materialized."""
        self.materialized = self.materialized or force
        return self.materialized

    def state_stores(self) -> tuple[StateStore, ...]:
        """The store, if the table is materialized."""
        return (self.store,) if self.materialized else ()


class StoredView:
    """The result of an aggregation, which is always materialized."""

    def __init__(self, store: str) -> None:
        self._store = store

    def stores(self) -> tuple[str, ...]:
        """The store of the aggregation."""
        return (self._store,)

    def enable_sending_old_values(self, force: bool) -> bool:
        """Always true: an aggregation has old values."""
        return True


class DerivedView:
    """A filter or mapping of a table: computed from that one, unless the user named a store."""

    def __init__(self, parent: View, store: str | None) -> None:
        self._parent, self._store = parent, store

    def stores(self) -> tuple[str, ...]:
        """The named store, else the parent's stores."""
        return (self._store,) if self._store is not None else self._parent.stores()

    def enable_sending_old_values(self, force: bool) -> bool:
        """From the named store, else from the parent."""
        return self._store is not None or self._parent.enable_sending_old_values(force)


class JoinView:
    """A join of two tables: computed from both, unless it is materialized."""

    def __init__(self, left: View, right: View, store: str | None) -> None:
        self._left, self._right, self._store = left, right, store

    def stores(self) -> tuple[str, ...]:
        """The named store, else the stores of both tables."""
        if self._store is not None:
            return (self._store,)
        return tuple(dict.fromkeys((*self._left.stores(), *self._right.stores())))

    def enable_sending_old_values(self, force: bool) -> bool:
        """Always true: requests old values of both tables."""
        self._left.enable_sending_old_values(True)
        self._right.enable_sending_old_values(True)
        return True


class SuppressedView:
    """A suppressed table: rows in the buffer, else rows of the parent."""

    def __init__(self, parent: View, buffer: str) -> None:
        self._parent, self._buffer = parent, buffer

    def stores(self) -> tuple[str, ...]:
        """The buffer, and the parent's stores."""
        return (self._buffer, *self._parent.stores())

    def enable_sending_old_values(self, force: bool) -> bool:
        """As the parent."""
        return self._parent.enable_sending_old_values(force)
