"""The supervisors of this worker: one for each connector of which it runs a part."""

from __future__ import annotations

import threading
from collections import Counter

from headrace.cluster.assignment import NOTHING, Assignment
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.desired_state import DesiredState, Restart
from headrace.cluster.leader import Leader
from headrace.cluster.status_reporter import StatusReporter
from headrace.cluster.supervisor import Supervisor
from headrace.runtime.worker import Worker

_SETTLE_S = 10.0  # beyond the grace of tasks: how long an assignment is held back for what does not end


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
        self._waking = threading.Lock()
        self._supervisors: dict[str, Supervisor] = {}
        self._written: Counter[tuple[str, str]] = Counter()  # (what, connector) -> how often it was written
        self._stopped = False
        self.assignment = NOTHING

    def changed(self, what: str, name: str) -> None:
        """A record of the config topic was applied: what (`connector`, `tasks`, …) of which connector."""
        self._written[what, name] += 1
        self.wake(name)

    def wake(self, name: str) -> None:
        """Wake a connector's supervisor; one that has ended calls it too: it may have missed the next connector of its name."""
        with self._waking:
            want, supervisor = self._desired_state(name), self._supervisors.get(name)
            if supervisor is not None and not supervisor.ended.is_set():
                if want is None:
                    supervisor.retire(self.assignment.has_connector(name))
                else:
                    supervisor.wake()
                return
            self._supervisors.pop(name, None)
            if self._stopped or want is None or not want.has_parts:
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
        """Adopt another assignment: returns when everything that is not in it has ended here (or does not end in time)."""
        self.assignment = assignment
        self._reporter.generation = max(self._reporter.generation, assignment.generation)
        with self._waking:
            settling = [supervisor.yield_parts() for supervisor in self._supervisors.values() if not supervisor.ended.is_set()]
        grace_s = self._worker.config.task_shutdown_timeout_ms / 1000 + _SETTLE_S
        for settled in settling:
            settled.wait(grace_s)
        for name in self._config.snapshot().connectors:
            self.wake(name)

    def restart(self, name: str, request: Restart) -> None:
        """Carry out this worker's part of a restart; `request.done` is set at once if it has none."""
        supervisor = self._supervisors.get(name)
        if supervisor is None or supervisor.ended.is_set():
            request.done.set()
        else:
            supervisor.restart(request)

    def shut_down(self) -> None:
        """End all connectors and tasks of this worker, side by side, within the graceful time-out and a little."""
        with self._waking:
            self._stopped = True
            supervisors = list(self._supervisors.values())
        for supervisor in supervisors:
            supervisor.shut_down()
        for supervisor in supervisors:
            supervisor.ended.wait(self._worker.config.task_shutdown_timeout_ms / 1000 + _SETTLE_S)

    def _desired_state(self, name: str) -> DesiredState | None:
        state = self._config.snapshot()
        config = state.connectors.get(name)
        if config is None:
            return None
        tasks = state.task_configs(name)
        return DesiredState(
            config=config,
            version=self._written["connector", name],
            target=state.target_state(name),
            applied=state.applied.get(name),
            tasks=tasks,
            tasks_version=self._written["tasks", name],
            connector_here=self.assignment.has_connector(name),
            tasks_here=self.assignment.tasks(name, len(tasks)),
        )
