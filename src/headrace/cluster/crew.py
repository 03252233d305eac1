"""The tasks of one connector that run on this worker: started, paused, stopped and started anew, always on one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from headrace.cluster.reports import FAILED, PAUSED, RUNNING, UNASSIGNED, Reports
from headrace.cluster.wanted import Wanted
from headrace.errors import ConnectError, HeadraceError
from headrace.runtime.task import TaskEvents, TaskRunner
from headrace.runtime.worker import Worker


@dataclass
class Slot:
    """A task of this worker: its runner while it runs, and the state that was last reported."""

    state: str = UNASSIGNED
    runner: TaskRunner | None = None


class Crew:
    """The tasks of one connector. Every method is for the connector's supervisor alone, on its thread."""

    def __init__(self, name: str, worker: Worker, reports: Reports, later: Callable[[Callable[[], None]], None]) -> None:
        """later: has a step done on the supervisor's thread."""
        self._name, self._worker, self._reports, self._later = name, worker, reports, later
        self._grace_s = worker.config.task_shutdown_timeout_ms / 1000
        self._slots: dict[int, Slot] = {}
        self._version: int | None = None
        self.class_version: str | None = None

    def converge(self, want: Wanted, goal: str) -> None:
        """Bring the tasks of this worker to the goal: RUNNING, PAUSED or STOPPED. A FAILED one stays as it is."""
        if want.tasks_version != self._version:
            self._renew(want)
        self._let_go(self._slots.keys() - want.tasks_here)
        for number in sorted(want.tasks_here - self._slots.keys()):
            self._slots[number] = Slot()
        for number, slot in sorted(self._slots.items()):
            if slot.state not in (goal, FAILED):
                self._move(number, slot, goal, want)

    def _renew(self, want: Wanted) -> None:
        """The task configurations were written anew: none of the old tasks stays."""
        for number in self.stop():
            if number >= len(want.tasks):
                self._reports.no_task(self._name, number)
        self._version = want.tasks_version

    def _let_go(self, numbers: Iterable[int]) -> None:
        """End tasks that belong to another worker from now on."""
        leaving = sorted(numbers)
        self._end(leaving)
        for number in leaving:
            del self._slots[number]
            self._reports.task(self._name, number, UNASSIGNED, self.class_version)

    def _move(self, number: int, slot: Slot, goal: str, want: Wanted) -> None:
        if goal == RUNNING:
            self._start(number, slot, want)
            return
        self._end([number])
        slot.state = goal
        if goal == PAUSED:
            self._reports.task(self._name, number, PAUSED, self.class_version)

    def _start(self, number: int, slot: Slot, want: Wanted) -> None:
        events = TaskEvents(
            running=lambda: self._reports.task(self._name, number, RUNNING, self.class_version),
            failed=lambda error: self._later(partial(self._failed, number, slot, error)),
        )
        slot.state = RUNNING
        try:
            slot.runner = self._worker.start_task(self._name, number, want.config, want.tasks[number], events)
        except Exception as e:
            self._failed(number, slot, e)

    def _failed(self, number: int, slot: Slot, error: BaseException) -> None:
        if self._slots.get(number) is not slot or slot.state != RUNNING:
            return  # of an earlier generation
        slot.state, slot.runner = FAILED, None
        self._reports.task(self._name, number, FAILED, self.class_version, shown(error))

    def stop(self) -> list[int]:
        """End every task of this worker, and forget them; returns their numbers."""
        numbers = sorted(self._slots)
        self._end(numbers)
        for number in numbers:
            self._reports.task(self._name, number, UNASSIGNED, self.class_version)
        self._slots = {}
        return numbers

    def restart(self, numbers: Iterable[int], announce: str) -> None:
        """Make these tasks, as far as they are here, ready to start anew."""
        here = [number for number in sorted(numbers) if number in self._slots]
        self._end(here)
        for number in here:
            self._slots[number] = Slot()
            self._reports.task(self._name, number, announce, self.class_version)

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


def shown(error: BaseException) -> HeadraceError:
    """An error as statuses show it; one that is not headrace's own, a bug or a plugin's, with the name of its class."""
    if isinstance(error, HeadraceError):
        return error
    wrapped = ConnectError(f"{type(error).__name__}: {error}")
    wrapped.__cause__ = error.__cause__
    return wrapped
