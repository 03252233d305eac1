"""A running task: a thread that repeats its work, and reports its state.

Retriable errors (broker unavailable, leader election, deleted topic) are retried from the stored offsets with exponential
backoff, while the task stays RUNNING, as Kafka's clients inside a JVM task would; all other errors end it as FAILED.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from headrace.connectors.base import Props, Task
from headrace.errors import HeadraceError
from headrace.retry import Backoff
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Retried
from headrace.runtime.schema_usage import USAGE
from headrace.runtime.stream_mode import StreamMode
from headrace.spark import failure

log = structlog.get_logger(__name__)

_CANCEL_S = 2.0


@dataclass(frozen=True)
class TaskEvents:
    """Callbacks of a task into its worker."""

    running: Callable[[], None]
    """Called once, when the task has started."""
    failed: Callable[[BaseException], None]
    """Called with the error that ended it."""
    streams: Callable[[StreamMode], None]
    """Called with the stream mode whenever it is decided."""
    fence_zombies: Callable[[], None]
    """Returns when tasks of the connector's earlier generations are fenced (KIP-618)."""
    is_current: Callable[[], bool]
    """Whether this worker has the task, with its latest configurations, as far as it has read the config topic."""
    read_configs: Callable[[], None]
    """Returns when the config topic was read to its end. Raises RetriableError."""


class WorkerTask(Protocol):
    """The work of a source or sink task, called on its runner's thread; `end` and `cut_off` are called on others."""

    @property
    def props(self) -> Props:
        """The task's configuration."""
        ...

    @property
    def batches(self) -> int:
        """How many batches are written and committed."""
        ...

    def prepare(self) -> None:
        """Prepare the task before it is RUNNING; called again after a retriable error."""
        ...

    def once(self) -> float:
        """Read and write until nothing is left to read, or `end`; returns the seconds to wait before the next call."""
        ...

    def end(self, timeout_s: float) -> None:
        """Make `once` return; a batch in flight has `timeout_s` to be committed."""
        ...

    def cut_off(self) -> None:
        """Called when `end` timed out: nothing may be written or committed any more, as a successor may run."""
        ...

    def close(self) -> None:
        """Release resources; called after the last call of `once`."""
        ...


class TaskRunner:
    """Runs one task on a thread of its own, from `start` until `stop` or failure."""

    def __init__(self, task: Task, work: WorkerTask, events: TaskEvents, recorder: TaskRecorder) -> None:
        self._task, self._work, self._events, self._recorder = task, work, events, recorder
        self._stopping = task.context.stopping
        self._thread = threading.Thread(target=self._main, name=f"task-{task.context.id}", daemon=True)

    def start(self) -> None:
        """Start the thread; returns at once."""
        self._thread.start()

    def stop(self, timeout_s: float) -> bool:
        """Stop the task; returns whether it ended within `timeout_s` (otherwise it ends later)."""
        self._stopping.set()
        timeout_s = min(timeout_s, self._task.shutdown_wait_s)
        self._work.end(timeout_s)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self._work.cut_off()
            self._thread.join(_CANCEL_S)
        return not self._thread.is_alive()

    def _main(self) -> None:
        context = self._task.context
        structlog.contextvars.bind_contextvars(connector=context.connector, task=context.task)
        with USAGE.running(context.connector, context.task, self._stopping):
            self._run()

    def _run(self) -> None:
        try:
            self._task.start(self._work.props)
            self._repeat(self._work.prepare)
            if not self._stopping.is_set():
                self._events.running()
            self._repeat(self._work.once)
        except Exception as e:
            if not self._stopping.is_set():
                error = e if isinstance(e, HeadraceError) else failure.as_error(e, "The task ended")
                self._events.failed(error)
        finally:
            self._work.close()
            self._task.stop()

    def _repeat(self, step: Callable[[], float | None]) -> None:
        """Repeat a step, with backoff after a retriable error, until it returns None or the task is stopped.

        step: returns the seconds to wait before the next call.
        """
        backoff = Backoff()
        while not self._stopping.is_set():
            before = self._work.batches
            try:
                wait_s = step()
                if wait_s is None:
                    return
                self._stopping.wait(wait_s)
            except Exception as e:
                if self._stopping.is_set() or not failure.is_retriable(e):
                    raise
                if self._work.batches > before:
                    backoff.succeeded()
                self._recorder.record(Retried())
                pause_s = backoff.failed()
                log.warning("task.retry", cause=str(failure.as_error(e, "Reading or writing was interrupted")), pause_s=pause_s)
                self._stopping.wait(pause_s)
