"""Brings this worker's part of one connector to the desired state.

A supervisor is a thread with a queue. After each event (a new configuration, a target state, new task configurations, a restart
request, a failure, another assignment) it reads the current desired state and converges; the order of events does not matter.
Each connector has its own supervisor, so that a slow connector does not delay others.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import structlog

from headrace.cluster.connector_tasks import ConnectorTasks, as_headrace_error
from headrace.cluster.desired_state import DesiredState, Restart
from headrace.cluster.leader import Leader
from headrace.cluster.status_reporter import StatusReporter
from headrace.connect_config.validation import connector_class
from headrace.connectors.base import ConnectorContext
from headrace.errors import HeadraceError, TooManyTasksError
from headrace.retry import Backoff
from headrace.runtime.running_connector import RunningConnector
from headrace.runtime.schema_usage import USAGE
from headrace.runtime.states import FAILED, PAUSED, RESTARTING, RUNNING, STOPPED, UNASSIGNED
from headrace.runtime.worker import Worker

log = structlog.get_logger(__name__)

_GOALS = {"STARTED": RUNNING, "PAUSED": PAUSED, "STOPPED": STOPPED}


class Supervisor:
    """Runs one connector, or the parts of it that are assigned to this worker."""

    def __init__(
        self,
        name: str,
        desired_state: Callable[[], DesiredState | None],
        worker: Worker,
        reporter: StatusReporter,
        leader: Leader,
        on_end: Callable[[str], None],
    ) -> None:
        """leader: receives the task configurations of the connector.

        on_end: called on the supervisor's thread after `ended` is set; by then a connector of the same name may exist again.
        """
        self.name, self._on_end = name, on_end
        self._desired_state, self._worker, self._reporter, self._leader = desired_state, worker, reporter, leader
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._tasks = ConnectorTasks(name, desired_state, worker, reporter, leader, self._queue.put, self.wake)
        self._context: ConnectorContext | None = None
        self._calling: ConnectorContext | None = None  # while the connector is called
        self._running: RunningConnector | None = None
        self._state: str | None = None
        self._version: int | None = None
        self._start_error: Exception | None = None  # of the last start
        self._leader_backoff, self._connector_backoff = Backoff(0.25, 60.0), Backoff(0.25, 60.0)  # as in Kafka Connect
        self._retry = threading.Timer(0, self.wake)  # not started
        self._thread = threading.Thread(target=self._main, name=f"supervisor-{name}", daemon=True)
        self.ended = threading.Event()
        self._awaited = set[threading.Event]()  # of queued steps

    # ------------------------------------------------------------------------------------------- from other threads
    def start(self) -> None:
        """Start the thread, which converges to the desired state at once."""
        self._queue.put(self._converge)
        self._thread.start()

    def wake(self) -> None:
        """Queue a convergence to the desired state, and end a call of the connector that is not for this state."""
        desired = self._desired_state()
        if desired is None or desired.target != "STARTED" or desired.version != self._version:
            self._end_call()
        self._queue.put(self._converge)

    def release_parts(self) -> threading.Event:
        """Queue a convergence after a rebalance; the returned event is set when revoked parts have stopped."""
        desired, context = self._desired_state(), self._context
        if context is not None and (desired is None or not desired.connector_here):
            context.stopping.set()  # a start that waits for its source must not delay the rebalance
        converged = threading.Event()
        self._put_awaited(partial(self._converge_and_signal, converged), converged)
        return converged

    def restart(self, request: Restart) -> None:
        """Queue a restart request, and end a call of the connector that the request is for."""
        if request.connector:
            self._end_call()
        self._put_awaited(partial(self._restart, request), request.done)

    def remove(self, connector_here: bool) -> None:
        """Remove all parts of a deleted connector, even if another one of its name was created meanwhile.

        connector_here: whether this worker has the connector instance, not only tasks.
        """
        self._end_call()
        self._queue.put(partial(self._remove, connector_here))

    def shut_down(self) -> None:
        """Stop everything because the worker stops; the connector stays in the cluster."""
        if self._context is not None:
            self._context.stopping.set()
        self._queue.put(None)

    def _put_awaited(self, step: Callable[[], None], done: threading.Event) -> None:
        """Queue a step that sets `done`, which is also set if the supervisor ends before: a new one starts everything anyway."""
        self._awaited.add(done)
        self._queue.put(step)
        if self.ended.is_set():
            done.set()

    def _end_call(self) -> None:
        """Have the connector return from a call that may take for ever, a start or the generation of task configurations."""
        calling = self._calling
        if calling is not None:
            calling.stopping.set()

    def _failed(self, error: Exception) -> None:
        self._queue.put(partial(self._connector_failed, error))

    def _reconfigure(self) -> None:
        self._queue.put(self._update_task_configs)

    # ------------------------------------------------------------------------------------------------ the own thread
    def _main(self) -> None:
        structlog.contextvars.bind_contextvars(connector=self.name)
        while not self.ended.is_set() and (step := self._queue.get()) is not None:
            try:
                step()
            except Exception as e:  # a bug must not end the supervisor, and must not be hidden
                log.exception("supervisor.error")
                self._connector_failed(e)
        if not self.ended.is_set():
            self._tasks.stop()
            self._release_connector()
            self.ended.set()
        for done in self._awaited.copy():
            done.set()
        self._on_end(self.name)

    def _converge_and_signal(self, converged: threading.Event) -> None:
        try:
            self._converge()
        finally:
            self._awaited.discard(converged)
            converged.set()

    def _converge(self) -> None:
        desired = self._desired_state()
        if desired is None:  # deleted: `remove` follows
            return
        goal = _GOALS[desired.target]
        self._set_class_version(desired)
        if not desired.connector_here:
            self._release_connector()
        elif desired.version != self._version or self._is_to_change_to(goal) or self._was_stopped():
            self._start_connector(desired, goal)
        if desired.connector_here and goal == STOPPED and desired.tasks:  # generated by the connector while it was being stopped
            self._submit([])
        self._tasks.converge(desired, goal)
        if not desired.has_parts:
            self.ended.set()

    def _is_to_change_to(self, goal: str) -> bool:
        """Whether its state is to become another one; of a failed connector only STOPPED, from which it can be resumed."""
        return self._state != goal and (self._state != FAILED or goal == STOPPED)

    def _was_stopped(self) -> bool:
        """Whether the running connector was stopped for a state that is not desired any more."""
        return self._running is not None and self._context is not None and self._context.stopping.is_set()

    def _set_class_version(self, desired: DesiredState) -> None:
        try:
            self._tasks.class_version = connector_class(desired.config).version
        except HeadraceError:  # reported by the start
            self._tasks.class_version = None

    def _start_connector(self, desired: DesiredState, goal: str) -> None:
        not_stopped = self._stop_connector()
        # What this worker takes over, or recreates with another configuration, may rest since long ago.
        asked = goal != RUNNING and (self._state not in (None, goal) or self._version == desired.version)
        self._version, self._state, self._start_error = desired.version, None, None
        if goal == PAUSED and not_stopped is not None:  # as in Kafka Connect, where STOPPED is reached all the same
            self._connector_failed(not_stopped)
            return
        if goal == RUNNING:
            self._connector_backoff.succeeded()  # those of another configuration do not count
            self._context = ConnectorContext(self.name, self._reconfigure, self._failed)
            try:
                with self._calls(self._context):
                    self._running = self._worker.start_connector(desired.config, self._context)
            except Exception as e:
                if not self._context.stopping.is_set():
                    self._start_error = e
                    self._connector_failed(e)
                return
            if self._context.stopping.is_set():  # it was to end just when it returned
                self._stop_connector()
                return
        self._state = goal
        self._reporter.connector(self.name, goal, self._tasks.class_version, asked=asked)
        self._update_task_configs()

    def _update_task_configs(self) -> None:
        """Generate the connector's task configurations, and submit them if they have changed."""
        desired, context = self._desired_state(), self._context
        if desired is None or self._running is None or context is None:
            return
        try:
            with self._calls(context):
                configs = self._running.task_configs()
        except Exception as e:
            if context.stopping.is_set():
                self._stop_connector()
                self._state = None
            elif isinstance(e, TooManyTasksError):
                self._connector_failed(e)
            else:  # its source may be away: as in Kafka Connect it keeps running, with the tasks that it has
                pause_s, error = self._connector_backoff.failed(), as_headrace_error(e)
                log.error(
                    "connector.tasks.failed", cause=f"{error.java_class}: {error}", pause_s=pause_s, exc_info=error is not e
                )
                self._later(pause_s, self._reconfigure)
            return
        self._connector_backoff.succeeded()
        # Converters, transforms and clients are the connector's: tasks restart even with equal configurations (KAFKA-9228).
        # A connector without tasks commits that it has none, as in Kafka Connect.
        if configs != [dict(t) for t in desired.tasks] or desired.applied != desired.config:
            log.info("connector.tasks.reconfigured", tasks=len(configs))
            self._submit(configs)

    @contextmanager
    def _calls(self, context: ConnectorContext) -> Iterator[None]:
        self._calling = context
        try:
            yield
        finally:
            self._calling = None

    def _submit(self, configs: list[dict[str, str]]) -> None:
        """Send task configurations to the leader; retried later if it cannot be reached."""
        try:
            self._leader.submit_task_configs(self.name, configs)
            self._leader_backoff.succeeded()
        except HeadraceError as error:
            pause_s = self._leader_backoff.failed()
            log.info("connector.tasks.waiting", cause=str(error), pause_s=pause_s)
            self._later(pause_s, self.wake if self._running is None else self._reconfigure)

    def _later(self, pause_s: float, step: Callable[[], None]) -> None:
        """Retry on a thread after a pause, instead of what waits so far."""
        self._retry.cancel()
        self._retry = threading.Timer(pause_s, step)
        self._retry.daemon = True
        self._retry.start()

    def _connector_failed(self, error: Exception) -> None:
        self._stop_connector()
        self._state = FAILED
        self._reporter.connector(self.name, FAILED, self._tasks.class_version, as_headrace_error(error))

    def _stop_connector(self) -> Exception | None:
        """Stop the connector instance; returns what it throws then."""
        if self._context is not None:
            self._context.stopping.set()
        running, self._running = self._running, None
        if running is not None:
            try:
                running.instance.stop()
            except Exception as error:
                log.warning("connector.stop.failed", cause=f"{as_headrace_error(error).java_class}: {error}")
                return error
        return None

    def _release_connector(self) -> None:
        """Stop the connector instance, which was reassigned or removed."""
        self._stop_connector()
        if self._version is not None:
            self._reporter.connector(self.name, UNASSIGNED, self._tasks.class_version)
        self._version = self._state = None

    def _restart(self, request: Restart) -> None:
        try:
            desired = self._desired_state()
            if desired is None:
                return
            if request.connector and desired.connector_here:
                self._reporter.connector(self.name, request.announce, self._tasks.class_version, asked=True)
                if request.announce == RESTARTING:
                    self._stop_connector()
                self._version = None
            self._tasks.restart(request.tasks, request.announce)
            self._converge()
            request.error = self._tasks.start_error(request.tasks)
            if request.connector and desired.connector_here:
                request.error = self._start_error
        finally:
            self._awaited.discard(request.done)
            request.done.set()

    def _remove(self, connector_here: bool) -> None:
        """Remove all parts of a deleted connector: stop the tasks before writing tombstones, so that none is overwritten."""
        tasks = self._tasks.stop()
        self._release_connector()
        USAGE.forget(self.name)
        self._reporter.remove_topics(self.name)
        if connector_here:
            self._reporter.remove_connector(self.name)
        for number in tasks:
            self._reporter.remove_task(self.name, number)
        self.ended.set()
