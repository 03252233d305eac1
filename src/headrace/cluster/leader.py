"""The leader's tasks, performed here or requested from it: writing task configurations and fencing zombies.

Requests between workers are signed with the group's session key (KIP-507). The leader is elected in `group` and `leadership`.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from headrace.cluster.config_store import ConfigStore
from headrace.cluster.group import Group
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.state import ClusterState
from headrace.cluster.zombie_fencing import ZombieFencing
from headrace.errors import BadRequestError, ElsewhereError, NotFoundError
from headrace.runtime.worker import Worker

_MAX_TRANSACTION_BYTES = 100_000
"""The most bytes of task configurations of several connectors in one transaction: a too large one fails alone."""


@dataclass
class _TaskConfigs:
    """Task configurations of a connector, until they are written."""

    connector: str
    configs: list[dict[str, str]]
    is_done: bool = False
    error: Exception | None = None

    @property
    def size(self) -> int:
        return sum(len(key) + len(value or "") for config in self.configs for key, value in config.items())


class Leader:
    """Access to the leader, which is this worker or another one. Every method may be called from any thread."""

    def __init__(self, worker: Worker, store: ConfigStore, group: Group | StandaloneGroup) -> None:
        self._store, self._group = store, group
        self.changing = threading.RLock()
        """Lock of one change of configurations: check, write and read back. Readers do not need it."""
        self._offset_locks: dict[str, threading.Lock] = {}
        self._queued: deque[_TaskConfigs] = deque()
        self._fencing = ZombieFencing(worker, store, group, self.changing)

    def require(self) -> None:
        """Raise ElsewhereError, with the leader's URL, unless this worker leads."""
        if not self._group.leads():
            raise ElsewhereError("Only the leader of the group can do this", self._group.leader_url())

    @contextmanager
    def changing_offsets(self, *names: str) -> Iterator[None]:
        """Lock of one change of the offsets of these connectors, which may take as long as their cluster is away.

        It is taken before `changing`, if both are.
        """
        with ExitStack() as locks:
            for name in sorted(self._store.snapshot().connectors.keys() & names):
                locks.enter_context(self._offset_locks.setdefault(name, threading.Lock()))
            yield

    def submit_task_configs(self, name: str, configs: list[dict[str, str]]) -> None:
        """Send the task configurations of a connector to the leader, which may be this worker. Raises a HeadraceError."""
        if self._group.leads():
            self.put_task_configs(name, configs)
        else:
            self._group.submit_task_configs(name, configs, self._store.snapshot().session_key)

    def fence_before_tasks(self, name: str) -> None:
        """Return when tasks of a connector's earlier generations are fenced (KIP-618).

        Raises RetriableError if the leader cannot be reached.
        """
        self._fencing.ensure_fenced(name)

    def read_configs(self) -> None:
        """Return when everything that a leader has written so far was read. Raises RetriableError."""
        self._store.refresh()

    # ------------------------------------------------------------------------------------------------- as the leader
    def verify(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Raise BadRequestError or RestError unless a request comes from another worker of the group (KIP-507)."""
        self._group.verify(body, headers, self._store.snapshot().session_key)

    def put_task_configs(self, name: str, configs: list[dict[str, str]]) -> None:
        """Write the task configurations of a connector, in one transaction with queued ones of other connectors.

        Raises ElsewhereError, NotFoundError, BadRequestError, ConnectError.
        """
        self.require()
        queued = _TaskConfigs(name, configs)
        self._queued.append(queued)
        with self.changing:
            while not queued.is_done:
                self._write_queued()
        if queued.error is not None:
            raise queued.error

    def _write_queued(self) -> None:
        """Write the first of the queued task configurations, and those after it up to a limit of bytes, in one transaction."""
        batch = [self._queued.popleft()]
        size = batch[0].size
        while self._queued and (size := size + self._queued[0].size) <= _MAX_TRANSACTION_BYTES:
            batch.append(self._queued.popleft())
        state = self._store.snapshot()
        for write in batch:
            write.error = _refusal(state, write)
        accepted = [write for write in batch if write.error is None]
        try:
            if accepted:
                self._store.put_task_configs(*((write.connector, write.configs) for write in accepted))
        except Exception as error:
            for write in accepted:
                write.error = error
        finally:
            for write in batch:
                write.is_done = True

    def fence_zombies(self, name: str) -> None:
        """Fence the tasks of a connector's last generation (KIP-618). Raises ElsewhereError, NotFoundError, RestError 409."""
        self.require()
        self._fencing.fence_as_leader(name)


def _refusal(state: ClusterState, tasks: _TaskConfigs) -> Exception | None:
    """The error if task configurations must not be written; None if they may be."""
    name = tasks.connector
    if name not in state.connectors:
        return NotFoundError(f"Connector {name} not found")
    if tasks.configs and state.target_state(name) == "STOPPED":
        return BadRequestError(f"Cannot submit non-empty set of task configs for stopped connector {name}")
    return None
