"""Zombies of source connectors that deliver exactly once (KIP-618): fenced off by the leader before new tasks start.

The config topic says how many tasks of the last generation were ever started (`tasks-fencing-<connector>`). Before the first task
of the next one starts, wherever that is, its worker asks the leader, who fences off the producers of that many and writes the new
number. A task that only moves, or starts again, fences off its own predecessor.
"""

from __future__ import annotations

import threading
from typing import Any

import structlog

from headrace.cluster.config_store import ConfigStore
from headrace.cluster.group import Group
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.errors import NotFoundError, RestError, RetriableError
from headrace.runtime.worker import Worker

log = structlog.get_logger(__name__)


class ZombieFencing:
    """What this worker asks of the leader, and does as the leader. Every method may be called from any thread."""

    def __init__(self, worker: Worker, store: ConfigStore, group: Group | StandaloneGroup, changing: Any) -> None:
        """changing: the lock that holds for a change of configurations."""
        self._worker, self._store, self._group, self._changing = worker, store, group, changing
        self._turn = threading.Lock()

    def ensure_fenced(self, name: str) -> None:
        """Return when earlier tasks of a connector can no longer write. Raises RetriableError if the leader is out of reach."""
        state = self._store.snapshot()
        if name not in state.pending_fencing:
            return
        if self._group.leads():
            try:
                self.fence_as_leader(name)
            except RestError as newer:  # this task is about to be replaced
                raise RetriableError(newer.message) from None
        else:
            self._group.fence(name, state.session_key)

    def fence_as_leader(self, name: str) -> None:
        """Fence the last generation of tasks, and write the task count of the present one, unless that is done.

        Raises NotFoundError, KafkaFailure, RestError 409 if there is a still newer one by then.
        """
        with self._turn:
            state = self._store.snapshot()
            if name not in state.pending_fencing:
                return
            if name not in state.connectors:
                raise NotFoundError(f"Connector {name} not found")
            before, tasks, generation = state.fencing_counts.get(name), len(state.task_configs(name)), state.committed.get(name)
            # A single task fences off its single predecessor by itself: they have the same transactional ids.
            if before is not None and not before == tasks == 1:
                self._worker.fence(name, state.connectors[name], before)
                log.info("connector.fenced", connector=name, tasks=before)
            with self._changing:
                if self._store.snapshot().committed.get(name) is not generation:
                    raise RestError(409, "Failed to complete zombie fencing because a new set of task configs was generated")
                self._store.put_task_count(name, tasks)
