"""The tasks of one connector that run on this worker: started, paused, stopped and restarted, always on one thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import structlog

from headrace.cluster.desired_state import DesiredState
from headrace.cluster.leader import Leader
from headrace.cluster.restarts import Failure, plan_restart
from headrace.cluster.status_reporter import StatusReporter
from headrace.config.java_pattern import JavaRegexError
from headrace.config.redaction import redact
from headrace.connect_config.validation import connector_class
from headrace.connectors.base import Props
from headrace.errors import ConnectError, HeadraceError
from headrace.plugins import Kind
from headrace.runtime.states import FAILED, PAUSED, RUNNING, UNASSIGNED
from headrace.runtime.task import TaskEvents, TaskRunner
from headrace.runtime.worker import TaskNumber, Worker
from headrace.spark import failure
from headrace.values.times import now_ms

log = structlog.get_logger(__name__)


@dataclass
class TaskSlot:
    """A task of this worker."""

    state: str = UNASSIGNED
    """The one that was last reported."""
    runner: TaskRunner | None = None
    """None while it does not run."""
    start_error: Exception | None = None
    """Why it could not be started; None if it was, or was not tried."""
    failures: list[Failure] = field(default_factory=list)
    """So far, oldest first."""


class ConnectorTasks:
    """The tasks of one connector. Every method is for the connector's supervisor alone, on its thread."""

    def __init__(
        self,
        name: str,
        desired_state: Callable[[], DesiredState | None],
        worker: Worker,
        reporter: StatusReporter,
        leader: Leader,
        submit: Callable[[Callable[[], None]], None],
        wake: Callable[[], None],
    ) -> None:
        """submit: runs a step on the supervisor's thread; wake: makes the supervisor converge."""
        self._name, self._worker, self._reporter, self._submit, self._wake = name, worker, reporter, submit, wake
        self._desired_state, self._leader = desired_state, leader
        self._grace_s = worker.config.task_shutdown_timeout_ms / 1000
        self._slots: dict[int, TaskSlot] = {}
        self._version: int | None = None
        self.class_version: str | None = None

    def converge(self, desired: DesiredState, goal: str) -> None:
        """Bring the tasks of this worker to the goal: RUNNING, PAUSED or STOPPED. FAILED tasks stay FAILED."""
        if desired.tasks_version != self._version:
            self._stop_outdated(desired)
        self._release(self._slots.keys() - desired.tasks_here)
        for number in sorted(desired.tasks_here - self._slots.keys()):
            self._slots[number] = TaskSlot()
        for number, slot in sorted(self._slots.items()):
            if slot.state not in (goal, FAILED):
                self._transition(number, slot, goal, desired)

    def _stop_outdated(self, desired: DesiredState) -> None:
        """Stop all tasks, as new task configurations were written."""
        for number in self.stop():
            if number >= len(desired.tasks):
                self._reporter.remove_task(self._name, number)
        self._remove_unconsumed_topics(desired.config)
        self._version = desired.tasks_version

    def _remove_unconsumed_topics(self, config: Props) -> None:
        """Remove active topics that a sink no longer consumes (KIP-558); the tasks that could add them again have ended."""
        try:
            resolved = self._worker.config.resolver.resolve(config).props
            if connector_class(resolved).plugin_kind == Kind.SINK:
                self._reporter.remove_unconsumed_topics(self._name, resolved)
        except (HeadraceError, JavaRegexError) as error:  # reported by the start of the tasks
            log.debug("connector.topics.unknown", connector=self._name, cause=str(error))

    def _release(self, numbers: Iterable[int]) -> None:
        """Stop tasks, and report them UNASSIGNED: they were reassigned or removed."""
        leaving = sorted(numbers)
        self._end(leaving)
        for number in leaving:
            del self._slots[number]
            self._reporter.task(self._name, number, UNASSIGNED, self.class_version)

    def _transition(self, number: int, slot: TaskSlot, goal: str, desired: DesiredState) -> None:
        if goal == RUNNING:
            self._start(number, slot, desired)
            return
        asked = slot.state == RUNNING  # else it is of this worker only now, and may be paused since long ago
        self._end([number])
        slot.state = goal
        if goal == PAUSED:
            self._reporter.task(self._name, number, PAUSED, self.class_version, asked=asked)

    def _start(self, number: int, slot: TaskSlot, desired: DesiredState) -> None:
        events = TaskEvents(
            running=lambda: self._reporter.task(self._name, number, RUNNING, self.class_version),
            failed=lambda error: self._submit(partial(self._failed, number, slot, error, desired)),
            streams=lambda mode: self._reporter.task_stream(self._name, number, self.class_version, mode),
            fence_zombies=lambda: self._leader.fence_before_tasks(self._name),
            is_current=partial(self._is_current, number, desired.tasks_version),
            read_configs=self._leader.read_configs,
        )
        slot.state = RUNNING
        try:
            task_number = TaskNumber(self._name, number, len(desired.tasks))
            slot.runner = self._worker.start_task(task_number, desired.config, desired.tasks[number], events)
        except Exception as e:
            slot.start_error = e
            self._failed(number, slot, e, desired)

    def _is_current(self, number: int, version: int) -> bool:
        """Whether a task is to run here, with the configurations of this version. Called on the task's thread."""
        desired = self._desired_state()
        return desired is not None and desired.tasks_version == version and number in desired.tasks_here

    def _failed(self, number: int, slot: TaskSlot, error: BaseException, desired: DesiredState) -> None:
        if self._slots.get(number) is not slot or slot.state != RUNNING:
            return  # a failure of an earlier task
        slot.state, slot.runner = FAILED, None
        trace = as_headrace_error(error)
        slot.failures.append(Failure(now_ms(), redact(str(trace))))
        plan = plan_restart(self._restart_options(desired.config), slot.failures, failure.is_retriable(error))
        self._reporter.task(self._name, number, FAILED, self.class_version, trace, plan and plan.status())
        if plan is not None:
            slot.failures = list(plan.failures)
        if plan is not None and plan.next_ms is not None:
            timer = threading.Timer(
                plan.next_ms / 1000 - time.time(), self._submit, [partial(self._restart_failed, number, slot)]
            )
            timer.daemon = True
            timer.start()

    def _restart_options(self, config: Props) -> Props:
        """The options `task.restart.*` with their placeholders resolved, without those whose provider fails."""
        options = {name: value for name, value in config.items() if name.startswith("task.restart.")}
        resolved: dict[str, str] = {}
        for name, value in options.items():
            with suppress(HeadraceError):
                resolved |= self._worker.config.resolver.resolve({name: value}).props
        return resolved

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
        """Stop those of these tasks that run on this worker, as was asked over REST; the supervisor starts them again."""
        numbers_here = [number for number in sorted(numbers) if number in self._slots]
        self._end(numbers_here)
        for number in numbers_here:
            self._slots[number] = TaskSlot()
            self._reporter.task(self._name, number, announce, self.class_version, asked=True)

    def start_error(self, numbers: Iterable[int]) -> Exception | None:
        """Why one of these tasks could not be started; None for those that run, and for those of other workers."""
        slots = (self._slots.get(number) for number in numbers)
        return next((slot.start_error for slot in slots if slot is not None and slot.start_error is not None), None)

    def _end(self, numbers: Iterable[int]) -> None:
        """Stop runners in parallel: the graceful time-out applies to all of them together, as in Kafka Connect."""
        slots = [self._slots[number] for number in numbers]
        threads = [threading.Thread(target=slot.runner.stop, args=(self._grace_s,)) for slot in slots if slot.runner]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for slot in slots:
            slot.runner, slot.state = None, UNASSIGNED


def as_headrace_error(error: BaseException) -> HeadraceError:
    """The error for a status; other errors than HeadraceError, from a bug or a plugin, are prefixed with their class name."""
    if isinstance(error, HeadraceError):
        return error
    wrapped = ConnectError(f"{type(error).__name__}: {error}")
    wrapped.__cause__ = error.__cause__
    return wrapped
