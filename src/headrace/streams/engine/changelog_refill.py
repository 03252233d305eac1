"""Fills changelogs that were deleted, and created again while the application runs, from the stores."""

from __future__ import annotations

from collections.abc import Callable, Collection

import structlog

from headrace.streams.engine.cluster import Cluster
from headrace.streams.engine.context import StateManager

log = structlog.get_logger(__name__)


class ChangelogRefill:
    """The stores of a task whose changelogs are still to be filled again."""

    def __init__(self, state: StateManager, cluster: Cluster) -> None:
        """state: the stores of the task. There is nothing to fill yet."""
        self.stores: set[str] = set()
        """Their names, which the metadata of committed offsets has."""
        self.is_due = False
        """Whether `write` has work to do."""
        self._state, self._cluster = state, cluster

    def add(self, topics: Collection[str], *, begins_anew: bool) -> set[str]:
        """Fill those of recreated, empty topics that are changelogs; returns their stores.

        begins_anew: whether the task reads others of these topics: their offsets have to be committed, at least.
        """
        new = {store for store in self._state.logs if self._state.changelog(store) in topics}
        self.stores |= new
        self.is_due = self.is_due or bool(begins_anew or self.stores)
        return new

    def write(self, commit: Callable[[], None]) -> None:
        """Write the stores to their changelogs. May be called again if it fails.

        commit: commits the offsets of the task, with `stores` in their metadata; called before and after. Raises its errors, and
        those of `Cluster.write`.
        """
        commit()
        for store in sorted(self.stores):
            changelog, rows = self._state.logs[store], self._state.tables[store].stored()
            self._cluster.write([changelog.records(rows)], 0)  # no batch has this number
            self.stores.discard(store)
            log.warning("The changelog %s has been filled again from its store.", changelog.topic)
        commit()
        self.is_due = False
