"""What only the leader of the group does, and how another worker has it done: task configurations and the fencing of zombies.

Requests between workers are signed with the group's session key (KIP-507). Which worker leads is the group's matter (`group`,
`leadership`); this is what follows from it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from headrace.cluster.config_store import ConfigStore
from headrace.cluster.group import Group
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.zombie_fencing import ZombieFencing
from headrace.errors import BadRequestError, ElsewhereError, NotFoundError
from headrace.runtime.worker import Worker


class Leader:
    """The leader, as one worker has it: itself, or another one. Every method may be called from any thread."""

    def __init__(self, worker: Worker, store: ConfigStore, group: Group | StandaloneGroup) -> None:
        self._store, self._group = store, group
        self.changing = threading.RLock()
        """Held for one change of configurations: check, write and read back belong together. Readers never take it."""
        self._fencing = ZombieFencing(worker, store, group, self.changing)

    def require(self) -> None:
        """Raise ElsewhereError, with the leader's URL, unless this worker leads."""
        if not self._group.leads():
            raise ElsewhereError("Only the leader of the group can do this", self._group.leader_url())

    def submit_task_configs(self, name: str, configs: list[dict[str, str]]) -> None:
        """Give the leader, who may be this worker, the task configurations that a connector made here. Raises a HeadraceError."""
        if self._group.leads():
            self.put_task_configs(name, configs)
        else:
            self._group.submit_task_configs(name, configs, self._store.snapshot().session_key)

    def fence_before_tasks(self, name: str) -> None:
        """Return when tasks of a connector's former generations can write no more (KIP-618).

        Raises RetriableError if the leader is out of reach.
        """
        self._fencing.before_tasks(name)

    # ------------------------------------------------------------------------------------------------- as the leader
    def verify(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Raise BadRequestError or RestError unless a request comes from another worker of the group (KIP-507)."""
        self._group.verify(body, headers, self._store.snapshot().session_key)

    def put_task_configs(self, name: str, configs: list[dict[str, str]]) -> None:
        """Write the task configurations of a connector. Raises ElsewhereError, NotFoundError, BadRequestError."""
        self.require()
        with self.changing:
            state = self._store.snapshot()
            if name not in state.connectors:
                raise NotFoundError(f"Connector {name} not found")
            if configs and state.target_state(name) == "STOPPED":
                raise BadRequestError(f"Cannot submit non-empty set of task configs for stopped connector {name}")
            self._store.put_task_configs(name, configs)

    def fence_zombies(self, name: str) -> None:
        """Fence off the tasks of a connector's last generation (KIP-618). Raises ElsewhereError, NotFoundError, RestError 409."""
        self.require()
        self._fencing.as_leader(name)
