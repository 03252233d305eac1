"""Keeps this worker's part of one connector as the config topic wants it.

A supervisor is a thread with a queue. Whatever happens (a new configuration, a target state, new task configurations, a restart
request, a failure, another share of the group's work) it looks at what is wanted now and converges; it never needs to know which
event came first. Each connector has its own, so that one that takes its time holds up no other.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import partial

import structlog

from headrace.cluster.connector_tasks import ConnectorTasks, as_headrace_error
from headrace.cluster.desired_state import DesiredState, Restart
from headrace.cluster.leader import Leader
from headrace.cluster.status_reporter import FAILED, PAUSED, RESTARTING, RUNNING, STOPPED, UNASSIGNED, StatusReporter
from headrace.connect_config.validation import connector_class
from headrace.connectors.base import ConnectorContext
from headrace.errors import HeadraceError
from headrace.retry import Backoff
from headrace.runtime.worker import RunningConnector, Worker, task_configs

log = structlog.get_logger(__name__)

_GOALS = {"STARTED": RUNNING, "PAUSED": PAUSED, "STOPPED": STOPPED}


class Supervisor:
    """Runs one connector, or those of its parts that belong here, on this worker."""

    def __init__(
        self,
        name: str,
        wanted: Callable[[], DesiredState | None],
        worker: Worker,
        reporter: StatusReporter,
        leader: Leader,
        on_end: Callable[[str], None],
    ) -> None:
        """leader: gets the task configurations that the connector makes.

        on_end: called on the supervisor's thread after `ended` is set; a connector of the same name may be there by then, or this
        one may have come back.
        """
        self.name, self._on_end = name, on_end
        self._wanted, self._worker, self._reporter, self._leader = wanted, worker, reporter, leader
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._tasks = ConnectorTasks(name, worker, reporter, leader, self._inbox.put, self.wake)
        self._context: ConnectorContext | None = None
        self._running: RunningConnector | None = None
        self._state: str | None = None
        self._version: int | None = None
        self._leader_backoff = Backoff(0.25, 60.0)  # as in Kafka Connect
        self._thread = threading.Thread(target=self._main, name=f"supervisor-{name}", daemon=True)
        self.ended = threading.Event()

    # ------------------------------------------------------------------------------------------- from other threads
    def start(self) -> None:
        """Start the thread, which converges to the desired state at once."""
        self.wake()
        self._thread.start()

    def wake(self) -> None:
        """Something changed: look again."""
        self._inbox.put(self._converge)

    def yield_parts(self) -> threading.Event:
        """Look again because parts may belong to another worker now; the event is set when what has to end has ended."""
        want, context = self._wanted(), self._context
        if context is not None and (want is None or not want.connector_here):
            context.stopping.set()  # a start that waits for its source must not hold up the others
        settled = threading.Event()
        self._inbox.put(partial(self._settle, settled))
        return settled

    def restart(self, request: Restart) -> None:
        """Carry out a restart request."""
        self._inbox.put(partial(self._restart, request))

    def retire(self, connector_here: bool) -> None:
        """The connector was deleted: remove everything of it, whether or not another one of its name was created meanwhile.

        connector_here: whether the connector itself, not only tasks, is this worker's to remove.
        """
        self._inbox.put(partial(self._retire, connector_here))

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
            self._tasks.stop()
            self._give_up_connector()
            self.ended.set()
        self._on_end(self.name)

    def _settle(self, settled: threading.Event) -> None:
        try:
            self._converge()
        finally:
            settled.set()

    def _converge(self) -> None:
        want = self._wanted()
        if want is None:  # deleted: `retire` follows
            return
        goal = _GOALS[want.target]
        self._name_version(want)
        if not want.connector_here:
            self._give_up_connector()
        elif want.version != self._version or self._state not in (goal, FAILED):
            self._start_connector(want, goal)
        if want.connector_here and goal == STOPPED and want.tasks:  # made by the connector while it was being stopped
            self._submit([])
        self._tasks.converge(want, goal)
        if not want.has_parts:
            self.ended.set()

    def _name_version(self, want: DesiredState) -> None:
        try:
            self._tasks.class_version = connector_class(want.config).version
        except HeadraceError:  # the start reports it
            self._tasks.class_version = None

    def _start_connector(self, want: DesiredState, goal: str) -> None:
        self._stop_connector()
        self._version = want.version
        if goal == RUNNING:
            try:
                self._context = ConnectorContext(self.name, self._reconfigure, self._failed)
                self._running = self._worker.start_connector(want.config, self._context)
            except Exception as e:
                if not (self._context and self._context.stopping.is_set()):
                    self._connector_failed(e)
                return
        self._state = goal
        self._reporter.connector(self.name, goal, self._tasks.class_version)
        self._make_tasks()

    def _make_tasks(self) -> None:
        """Ask the connector for task configurations and submit them if they have changed."""
        want = self._wanted()
        if want is None or self._running is None:
            return
        try:
            configs = task_configs(self._running)
        except Exception as e:
            self._connector_failed(e)
            return
        # Converters, transforms and clients are the connector's, whether or not its tasks' own configurations tell (KAFKA-9228).
        if configs != [dict(t) for t in want.tasks] or (configs and want.applied != want.config):
            log.info("connector.tasks.reconfigured", tasks=len(configs))
            self._submit(configs)

    def _submit(self, configs: list[dict[str, str]]) -> None:
        """Send task configurations to the leader; retried later if there is none now."""
        try:
            self._leader.submit_task_configs(self.name, configs)
            self._leader_backoff.succeeded()
        except HeadraceError as error:
            pause_s = self._leader_backoff.failed()
            log.info("connector.tasks.waiting", cause=str(error), pause_s=pause_s)
            retry = threading.Timer(pause_s, self.wake if not configs else self._reconfigure)
            retry.daemon = True
            retry.start()

    def _connector_failed(self, error: Exception) -> None:
        self._stop_connector()
        self._state = FAILED
        self._reporter.connector(self.name, FAILED, self._tasks.class_version, as_headrace_error(error))

    def _stop_connector(self) -> None:
        if self._context is not None:
            self._context.stopping.set()
        running, self._running = self._running, None
        if running is not None:
            running.instance.stop()

    def _give_up_connector(self) -> None:
        """The instance runs elsewhere from now on, or nowhere."""
        self._stop_connector()
        if self._version is not None:
            self._reporter.connector(self.name, UNASSIGNED, self._tasks.class_version)
        self._version = self._state = None

    def _restart(self, request: Restart) -> None:
        try:
            want = self._wanted()
            if want is None:
                return
            if request.connector and want.connector_here:
                self._reporter.connector(self.name, request.announce, self._tasks.class_version)
                if request.announce == RESTARTING:
                    self._stop_connector()
                self._version = None
            self._tasks.restart(request.tasks, request.announce)
            self._converge()
        finally:
            request.done.set()

    def _retire(self, connector_here: bool) -> None:
        """Remove everything of a deleted connector: first the tasks end, then the tombstones, so that none is written over."""
        tasks = self._tasks.stop()
        self._give_up_connector()
        self._reporter.no_topics(self.name)
        if connector_here:
            self._reporter.remove_connector(self.name)
        for number in tasks:
            self._reporter.remove_task(self.name, number)
        self.ended.set()
