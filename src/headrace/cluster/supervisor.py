"""Keeps one connector of this worker as the config topic wants it.

A supervisor is a thread with a queue. Whatever happens (a new configuration, a target state, new task configurations, a restart
request, a failure) it looks at what is wanted now and converges; it never needs to know which event came first. Each connector
has its own, so that one that takes its time holds up no other.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import structlog

from headrace.cluster.reports import FAILED, PAUSED, RESTARTING, RUNNING, STOPPED, UNASSIGNED, Reports
from headrace.connectors.base import ConnectorContext, Props
from headrace.errors import ConnectError, HeadraceError
from headrace.runtime.task import TaskEvents, TaskRunner
from headrace.runtime.worker import RunningConnector, Worker, task_configs

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Wanted:
    """What the config topic says of a connector.

    config: its configuration; version: changes whenever a configuration is written, be it the same; target: STARTED, PAUSED or
    STOPPED; tasks: the committed task configurations; tasks_version: changes whenever they are written.
    """

    config: Props
    version: int
    target: str
    tasks: Sequence[Props]
    tasks_version: int


@dataclass
class Slot:
    """A task of this worker: its runner while it runs, and the state that was last reported."""

    state: str = UNASSIGNED
    runner: TaskRunner | None = None


@dataclass
class Restart:
    """A request to start anew: the connector instance, and these tasks; `done` is set when it has been carried out."""

    connector: bool = False
    tasks: frozenset[int] = frozenset()
    announce: str = UNASSIGNED
    done: threading.Event = field(default_factory=threading.Event)


class Supervisor:
    """Runs one connector and its tasks on this worker."""

    def __init__(
        self,
        name: str,
        wanted: Callable[[], Wanted | None],
        worker: Worker,
        reports: Reports,
        put_tasks: Callable[[str, list[dict[str, str]]], None],
        on_end: Callable[[str], None],
    ) -> None:
        """on_end: told on the supervisor's thread after `ended` is set; a connector of the same name may be there by then."""
        self.name, self._on_end = name, on_end
        self._wanted, self._worker, self._reports, self._put_tasks = wanted, worker, reports, put_tasks
        self._grace_s = worker.config.task_shutdown_timeout_ms / 1000
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._context: ConnectorContext | None = None
        self._running: RunningConnector | None = None
        self._state: str | None = None
        self._version: int | None = None
        self._class_version: str | None = None
        self._slots: list[Slot] = []
        self._tasks_version: int | None = None
        self._thread = threading.Thread(target=self._main, name=f"supervisor-{name}", daemon=True)
        self.ended = threading.Event()

    # ------------------------------------------------------------------------------------------- from other threads
    def start(self) -> None:
        """Begin; the first look at what is wanted follows at once."""
        self.wake()
        self._thread.start()

    def wake(self) -> None:
        """Something changed: look again."""
        self._inbox.put(self._converge)

    def restart(self, request: Restart) -> None:
        """Carry out a restart request."""
        self._inbox.put(partial(self._restart, request))

    def retire(self) -> None:
        """The connector was deleted: leave nothing of it, whether or not another of its name was made meanwhile."""
        self._inbox.put(self._retire)

    def shut_down(self) -> None:
        """End everything because the worker stops; the connector stays in the cluster as it is."""
        if self._context is not None:
            self._context.stopping.set()
        self._inbox.put(None)

    def _failed(self, error: Exception) -> None:
        self._inbox.put(partial(self._connector_failed, error))

    def _reconfigure(self) -> None:
        self._inbox.put(self._make_tasks)

    # ------------------------------------------------------------------------------------------------ the own thread
    def _main(self) -> None:
        structlog.contextvars.bind_contextvars(connector=self.name)
        while not self.ended.is_set() and (step := self._inbox.get()) is not None:
            try:
                step()
            except Exception as e:  # a bug must not leave the connector without a supervisor, nor be hidden
                log.exception("supervisor.error")
                self._connector_failed(e)
        if not self.ended.is_set():
            self._stop_tasks(UNASSIGNED)
            self._stop_connector()
            self._reports.connector(self.name, UNASSIGNED, self._class_version)
            self.ended.set()
        self._on_end(self.name)

    def _converge(self) -> None:
        want = self._wanted()
        if want is None:  # deleted: `retire` follows
            return
        goal = {"STARTED": RUNNING, "PAUSED": PAUSED, "STOPPED": STOPPED}[want.target]
        changed = want.version != self._version
        if changed or (self._state not in (goal, FAILED)):
            self._start_connector(want, goal)
        if goal == STOPPED and want.tasks:  # configured anew by the connector while it was being stopped
            self._put_tasks(self.name, [])
        self._converge_tasks(want, goal)

    def _start_connector(self, want: Wanted, goal: str) -> None:
        self._stop_connector()
        self._version = want.version
        if goal == RUNNING:
            try:
                self._context = ConnectorContext(self.name, self._reconfigure, self._failed)
                self._running = self._worker.start_connector(want.config, self._context)
                self._class_version = self._running.version
            except Exception as e:
                if not (self._context and self._context.stopping.is_set()):
                    self._connector_failed(e)
                return
        self._state = goal
        self._reports.connector(self.name, goal, self._class_version)
        self._make_tasks()

    def _make_tasks(self) -> None:
        """Ask the connector for task configurations and write them if they are not those that are there."""
        want = self._wanted()
        if want is None or self._running is None:
            return
        try:
            made = task_configs(self._running)
        except Exception as e:
            self._connector_failed(e)
            return
        if made != [dict(t) for t in want.tasks]:
            log.info("connector.tasks.reconfigured", tasks=len(made))
            self._put_tasks(self.name, made)

    def _connector_failed(self, error: Exception) -> None:
        self._stop_connector()
        self._state = FAILED
        shown = error if isinstance(error, HeadraceError) else _unexpected(error)
        self._reports.connector(self.name, FAILED, self._class_version, shown)

    def _stop_connector(self) -> None:
        if self._context is not None:
            self._context.stopping.set()
        running, self._running = self._running, None
        if running is not None:
            running.instance.stop()

    def _converge_tasks(self, want: Wanted, goal: str) -> None:
        if want.tasks_version != self._tasks_version or len(want.tasks) != len(self._slots):
            before = len(self._slots)
            self._stop_tasks(UNASSIGNED)
            for gone in range(len(want.tasks), before):
                self._reports.no_task(self.name, gone)
            self._tasks_version = want.tasks_version
            self._slots = [Slot() for _ in want.tasks]
        for number, slot in enumerate(self._slots):
            if slot.state not in (goal, FAILED):
                self._move_task(number, slot, goal, want)

    def _move_task(self, number: int, slot: Slot, goal: str, want: Wanted) -> None:
        if goal == RUNNING:
            self._start_task(number, slot, want)
            return
        if slot.runner is not None:
            slot.runner.stop(self._grace_s)
            slot.runner = None
        slot.state = goal
        if goal == PAUSED:
            self._reports.task(self.name, number, PAUSED, self._class_version)

    def _start_task(self, number: int, slot: Slot, want: Wanted) -> None:
        events = TaskEvents(
            running=lambda: self._reports.task(self.name, number, RUNNING, self._class_version),
            failed=lambda error: self._inbox.put(partial(self._task_failed, number, slot, error)),
        )
        slot.state = RUNNING
        try:
            slot.runner = self._worker.start_task(self.name, number, want.config, want.tasks[number], events)
        except Exception as e:
            self._task_failed(number, slot, e)

    def _task_failed(self, number: int, slot: Slot, error: BaseException) -> None:
        if number >= len(self._slots) or self._slots[number] is not slot or slot.state != RUNNING:
            return  # of an earlier generation
        slot.state, slot.runner = FAILED, None
        shown = error if isinstance(error, HeadraceError) else _unexpected(error)
        self._reports.task(self.name, number, FAILED, self._class_version, shown)

    def _stop_tasks(self, state: str) -> None:
        runners = [(n, s) for n, s in enumerate(self._slots) if s.runner is not None]
        threads = [threading.Thread(target=s.runner.stop, args=(self._grace_s,)) for _, s in runners if s.runner]
        for thread in threads:  # the grace is for all of them together, as in Kafka Connect
            thread.start()
        for thread in threads:
            thread.join()
        for number, slot in enumerate(self._slots):
            slot.runner, slot.state = None, UNASSIGNED
            self._reports.task(self.name, number, state, self._class_version)

    def _restart(self, request: Restart) -> None:
        try:
            want = self._wanted()
            if want is None:
                return
            if request.connector:
                self._reports.connector(self.name, request.announce, self._class_version)
                if request.announce == RESTARTING:
                    self._stop_connector()
                self._version = None
            for number in sorted(request.tasks):
                if number < len(self._slots):
                    self._restart_task(number, request.announce)
            self._converge()
        finally:
            request.done.set()

    def _restart_task(self, number: int, announce: str) -> None:
        old = self._slots[number]
        if old.runner is not None:
            old.runner.stop(self._grace_s)
        self._slots[number] = Slot()
        self._reports.task(self.name, number, announce, self._class_version)

    def _retire(self) -> None:
        """Leave nothing of a deleted connector: first the tasks end, then the tombstones, so that none is written over."""
        tasks = len(self._slots)
        self._stop_tasks(UNASSIGNED)
        self._stop_connector()
        self._reports.connector(self.name, UNASSIGNED, self._class_version)
        self._reports.no_connector(self.name)
        for number in range(tasks):
            self._reports.no_task(self.name, number)
        self.ended.set()


def _unexpected(error: BaseException) -> ConnectError:
    """An error that is not headrace's own, a bug or a plugin's: its class is named."""
    wrapped = ConnectError(f"{type(error).__name__}: {error}")
    wrapped.__cause__ = error.__cause__
    return wrapped
