"""The supervisors of this worker: one for each connector with parts assigned to it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable

from headrace.cluster.assignment import NOTHING, Assignment
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.desired_state import DesiredState, Restart
from headrace.cluster.leader import Leader
from headrace.cluster.status_reporter import StatusReporter
from headrace.cluster.supervisor import Supervisor
from headrace.runtime.worker import Worker

_EXTRA_GRACE_S = 10.0  # added to the graceful time-out of tasks: how long a rebalance waits for parts that do not stop


class Supervisors:
    """The supervisors of this worker. Every method may be called from any thread."""

    def __init__(
        self,
        worker: Worker,
        config: ConfigStore,
        reporter: StatusReporter,
        leader: Leader,
    ) -> None:
        self._worker, self._config, self._reporter, self._leader = worker, config, reporter, leader
        self._lock = threading.Lock()
        self._supervisors: dict[str, Supervisor] = {}
        self._versions: Counter[tuple[str, str]] = Counter()  # (kind, connector) -> number of writes
        self._stopped = False
        self.assignment = NOTHING

    def changed(self, kind: str, name: str) -> None:
        """Handle a record of the config topic that was applied. kind: `connector`, `tasks` …; name: of the connector."""
        self._versions[kind, name] += 1
        self.wake(name)

    def wake(self, name: str) -> None:
        """Wake a connector's supervisor, or start one. Also called when one has ended, for a new connector of the same name."""
        with self._lock:
            desired, supervisor = self._desired_state(name), self._supervisors.get(name)
            if supervisor is not None and not supervisor.ended.is_set():
                if desired is None:
                    supervisor.remove(self.assignment.has_connector(name))
                else:
                    supervisor.wake()
                return
            self._supervisors.pop(name, None)
            if self._stopped or desired is None or not desired.has_parts:
                return
            supervisor = Supervisor(
                name, lambda: self._desired_state(name), self._worker, self._reporter, self._leader, self._on_end
            )
            self._supervisors[name] = supervisor
            supervisor.start()

    def _on_end(self, name: str) -> None:
        if self._desired_state(name) is not None:
            self.wake(name)

    def rebalance(self, assignment: Assignment) -> None:
        """Adopt an assignment; returns when revoked parts have stopped, or after a time-out."""
        self.assignment = assignment
        self._reporter.generation = max(self._reporter.generation, assignment.generation)
        with self._lock:
            pending = [supervisor.release_parts() for supervisor in self._supervisors.values() if not supervisor.ended.is_set()]
        self._await_all(pending)
        for name in self._config.snapshot().connectors:
            self.wake(name)

    def restart(self, name: str, request: Restart) -> None:
        """Execute this worker's part of a restart; `request.done` is set at once if it has none."""
        supervisor = self._supervisors.get(name)
        if supervisor is None or supervisor.ended.is_set():
            request.done.set()
        else:
            supervisor.restart(request)

    def shut_down(self) -> None:
        """Stop all connectors and tasks of this worker in parallel, within the graceful time-out and a margin."""
        with self._lock:
            self._stopped = True
            supervisors = list(self._supervisors.values())
        for supervisor in supervisors:
            supervisor.shut_down()
        self._await_all(supervisor.ended for supervisor in supervisors)

    def _await_all(self, events: Iterable[threading.Event]) -> None:
        """Wait until these are set; the time-out is for all of them together."""
        end = time.monotonic() + self._worker.config.task_shutdown_timeout_ms / 1000 + _EXTRA_GRACE_S
        for event in events:
            event.wait(max(0.0, end - time.monotonic()))

    def _desired_state(self, name: str) -> DesiredState | None:
        # Before the state: one that is newer than its version is applied once more, one that is older would stay.
        version, tasks_version = self._versions["connector", name], self._versions["tasks", name]
        state = self._config.snapshot()
        config = state.connectors.get(name)
        if config is None:
            return None
        tasks = state.task_configs(name)
        return DesiredState(
            config=config,
            version=version,
            target=state.target_state(name),
            applied=state.applied.get(name),
            tasks=tasks,
            tasks_version=tasks_version,
            connector_here=self.assignment.has_connector(name),
            tasks_here=self.assignment.tasks(name, len(tasks)),
        )
