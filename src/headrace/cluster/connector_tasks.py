"""The tasks of one connector that run on this worker: started, paused, stopped and restarted, always on one thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import structlog

from headrace.cluster.desired_state import DesiredState
from headrace.cluster.leader import Leader
from headrace.cluster.restarts import Failure, plan_restart
from headrace.cluster.status_reporter import FAILED, PAUSED, RUNNING, UNASSIGNED, StatusReporter
from headrace.config.java_pattern import JavaRegexError
from headrace.config.redaction import redact
from headrace.connect_config.validation import connector_class
from headrace.connectors.base import Props
from headrace.errors import ConnectError, HeadraceError
from headrace.plugins import Kind
from headrace.runtime.task import TaskEvents, TaskRunner
from headrace.runtime.worker import TaskNumber, Worker
from headrace.spark import failure

log = structlog.get_logger(__name__)


@dataclass
class TaskSlot:
    """A task of this worker: its runner while it runs, the state that was last reported, and its failures so far."""

    state: str = UNASSIGNED
    runner: TaskRunner | None = None
    failures: list[Failure] = field(default_factory=list)


class ConnectorTasks:
    """The tasks of one connector. Every method is for the connector's supervisor alone, on its thread."""

    def __init__(
        self,
        name: str,
        worker: Worker,
        reporter: StatusReporter,
        leader: Leader,
        later: Callable[[Callable[[], None]], None],
        wake: Callable[[], None],
    ) -> None:
        """later: has a step done on the supervisor's thread; wake: has the supervisor converge."""
        self._name, self._worker, self._reporter, self._later, self._wake = name, worker, reporter, later, wake
        self._leader = leader
        self._grace_s = worker.config.task_shutdown_timeout_ms / 1000
        self._slots: dict[int, TaskSlot] = {}
        self._version: int | None = None
        self.class_version: str | None = None

    def converge(self, want: DesiredState, goal: str) -> None:
        """Bring the tasks of this worker to the goal: RUNNING, PAUSED or STOPPED. A FAILED one stays as it is."""
        if want.tasks_version != self._version:
            self._renew(want)
        self._release(self._slots.keys() - want.tasks_here)
        for number in sorted(want.tasks_here - self._slots.keys()):
            self._slots[number] = TaskSlot()
        for number, slot in sorted(self._slots.items()):
            if slot.state not in (goal, FAILED):
                self._move(number, slot, goal, want)

    def _renew(self, want: DesiredState) -> None:
        """The task configurations were written again: none of the old tasks stays."""
        for number in self.stop():
            if number >= len(want.tasks):
                self._reporter.remove_task(self._name, number)
        self._forget_topics(want.config)
        self._version = want.tasks_version

    def _forget_topics(self, config: Props) -> None:
        """Remove active topics that a sink no longer consumes (KIP-558); the tasks that could add them again have ended."""
        try:
            resolved = self._worker.config.resolver.resolve(config).props
            if connector_class(resolved).plugin_kind == Kind.SINK:
                self._reporter.only_consumed_topics(self._name, resolved)
        except (HeadraceError, JavaRegexError) as error:  # the start of the tasks reports it
            log.debug("connector.topics.unknown", connector=self._name, cause=str(error))

    def _release(self, numbers: Iterable[int]) -> None:
        """Stop tasks, and report them UNASSIGNED: they belong to another worker from now on, or to none."""
        leaving = sorted(numbers)
        self._end(leaving)
        for number in leaving:
            del self._slots[number]
            self._reporter.task(self._name, number, UNASSIGNED, self.class_version)

    def _move(self, number: int, slot: TaskSlot, goal: str, want: DesiredState) -> None:
        if goal == RUNNING:
            self._start(number, slot, want)
            return
        self._end([number])
        slot.state = goal
        if goal == PAUSED:
            self._reporter.task(self._name, number, PAUSED, self.class_version)

    def _start(self, number: int, slot: TaskSlot, want: DesiredState) -> None:
        events = TaskEvents(
            running=lambda: self._reporter.task(self._name, number, RUNNING, self.class_version),
            failed=lambda error: self._later(partial(self._failed, number, slot, error, want)),
            streams=lambda mode: self._reporter.task_stream(self._name, number, self.class_version, mode),
            fence_zombies=lambda: self._leader.fence_before_tasks(self._name),
        )
        slot.state = RUNNING
        try:
            who = TaskNumber(self._name, number, len(want.tasks))
            slot.runner = self._worker.start_task(who, want.config, want.tasks[number], events)
        except Exception as e:
            self._failed(number, slot, e, want)

    def _failed(self, number: int, slot: TaskSlot, error: BaseException, want: DesiredState) -> None:
        if self._slots.get(number) is not slot or slot.state != RUNNING:
            return  # of an earlier generation
        slot.state, slot.runner = FAILED, None
        trace = as_headrace_error(error)
        slot.failures.append(Failure(int(time.time() * 1000), redact(str(trace))))
        plan = plan_restart(want.config, slot.failures, failure.is_retriable(error))
        self._reporter.task(self._name, number, FAILED, self.class_version, trace, plan and plan.status())
        if plan is not None:
            slot.failures = list(plan.failures)
        if plan is not None and plan.next_ms is not None:
            again = threading.Timer(plan.next_ms / 1000 - time.time(), self._later, [partial(self._restart_failed, number, slot)])
            again.daemon = True
            again.start()

    def _restart_failed(self, number: int, slot: TaskSlot) -> None:
        """Restart a failed task, unless it was started, stopped or reassigned meanwhile."""
        if self._slots.get(number) is slot and slot.state == FAILED:
            slot.state = UNASSIGNED
            self._wake()

    def stop(self) -> list[int]:
        """Stop every task of this worker; returns their numbers."""
        numbers = sorted(self._slots)
        self._release(numbers)
        return numbers

    def restart(self, numbers: Iterable[int], announce: str) -> None:
        """Stop those of these tasks that run on this worker, so that they are started again."""
        numbers_here = [number for number in sorted(numbers) if number in self._slots]
        self._end(numbers_here)
        for number in numbers_here:
            self._slots[number] = TaskSlot()
            self._reporter.task(self._name, number, announce, self.class_version)

    def _end(self, numbers: Iterable[int]) -> None:
        """Stop runners side by side: the grace is for all of them together, as in Kafka Connect."""
        slots = [self._slots[number] for number in numbers]
        threads = [threading.Thread(target=slot.runner.stop, args=(self._grace_s,)) for slot in slots if slot.runner]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for slot in slots:
            slot.runner, slot.state = None, UNASSIGNED


def as_headrace_error(error: BaseException) -> HeadraceError:
    """The error for a status; one that is not a HeadraceError, from a bug or a plugin, gets the name of its class in front."""
    if isinstance(error, HeadraceError):
        return error
    wrapped = ConnectError(f"{type(error).__name__}: {error}")
    wrapped.__cause__ = error.__cause__
    return wrapped
