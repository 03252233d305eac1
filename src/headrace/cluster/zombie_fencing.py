"""Zombie fencing of exactly-once source connectors (KIP-618): the leader fences earlier tasks before new ones start.

The config topic has the number of tasks of the last generation (`tasks-fencing-<connector>`). Before the first task of the next
generation starts, on any worker, its worker sends a request to the leader, which fences the producers of that many tasks and
writes the new number. A task that is only reassigned or restarted fences its own predecessor.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import structlog

from headrace.cluster.config_store import ConfigStore
from headrace.cluster.group import Group
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.errors import NotFoundError, RestError, RetriableError
from headrace.runtime.worker import Worker

log = structlog.get_logger(__name__)


class ZombieFencing:
    """Requests zombie fencing from the leader, or performs it as the leader. Every method may be called from any thread."""

    def __init__(self, worker: Worker, store: ConfigStore, group: Group | StandaloneGroup, changing: Any) -> None:
        """changing: the lock of changes of configurations."""
        self._worker, self._store, self._group, self._changing = worker, store, group, changing
        self._lock = threading.Lock()
        self._running: dict[str, Future[None]] = {}
        """The fencing in progress of each connector. One may take as long as its cluster is away, and no other waits for it."""

    def ensure_fenced(self, name: str) -> None:
        """Return when earlier tasks of a connector are fenced. Raises RetriableError if the leader cannot be reached."""
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
        """Fence the last generation of tasks, and write the task count of the current one, unless that is done.

        Callers during a fencing of the same connector get its outcome.

        Raises NotFoundError, KafkaFailure, RestError 409 if a newer generation was written meanwhile.
        """
        while name in self._store.snapshot().pending_fencing:
            with self._lock:
                is_first = name not in self._running
                fencing = self._running.setdefault(name, Future())
            if not is_first:
                fencing.result()  # which may have been of an earlier generation
                continue
            try:
                self._fence(name)
            except BaseException as error:
                self._end(name).set_exception(error)
                raise
            self._end(name).set_result(None)

    def _end(self, name: str) -> Future[None]:
        with self._lock:
            return self._running.pop(name)

    def _fence(self, name: str) -> None:
        state = self._store.snapshot()
        if name not in state.pending_fencing:  # another one has just ended; to fence again would fence the new tasks
            return
        if name not in state.connectors:
            raise NotFoundError(f"Connector {name} not found")
        before, tasks, generation = state.fencing_counts.get(name), len(state.task_configs(name)), state.committed.get(name)
        # A single task fences its single predecessor by itself: they have the same transactional ids.
        if before is not None and not before == tasks == 1:
            self._worker.fence(name, state.connectors[name], before)
            log.info("connector.fenced", connector=name, tasks=before)
        with self._changing:
            if self._store.snapshot().committed.get(name) is not generation:
                raise RestError(409, "Failed to complete zombie fencing because a new set of task configs was generated")
            self._store.put_task_count(name, tasks)
