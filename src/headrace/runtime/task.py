"""A running task: a thread that keeps one query going, and says what became of it.

What may pass (a broker away, a leader moving, a topic deleted before the monitor noticed) is tried again from the stored offsets
with a growing pause, while the task stays RUNNING, as Kafka's clients inside a JVM task would; everything else ends it as FAILED.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from headrace.connectors.base import PollingSourceTask, SourceTask, StoredOffsets
from headrace.errors import HeadraceError
from headrace.runtime.chain import TaskChain
from headrace.runtime.delivery import Delivery, Ports
from headrace.runtime.plan import TaskPlan
from headrace.runtime.routing import routing
from headrace.runtime.stream import StreamRun
from headrace.spark import failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_NOTHING_TO_READ_S, _CANCEL_S = 5.0, 2.0


@dataclass(frozen=True)
class TaskEvents:
    """Who is told: `running` once, when the task has started; `failed` with the error that ended it."""

    running: Callable[[], None]
    failed: Callable[[BaseException], None]


@dataclass(frozen=True)
class TaskDependencies:
    """What a task gets from the worker: Spark (made at the first use), delivery's ports, and the stored offsets."""

    spark: Callable[[], SparkSession]
    ports: Ports
    read_offsets: Callable[[list], StoredOffsets]


class TaskRunner:
    """Runs one source task on a thread of its own, from `start` until `stop` or failure."""

    def __init__(self, plan: TaskPlan, task: SourceTask | PollingSourceTask, needs: TaskDependencies, events: TaskEvents) -> None:
        self._plan, self._task, self._needs, self._events = plan, task, needs, events
        self._stopping = task.context.stopping
        self._run: StreamRun | None = None
        self._polling: SparkSession | None = None  # set while a polling task's jobs run, in the job group `_jobs`
        self._jobs = f"{task.context.id}@{uuid.uuid4().hex[:8]}"
        self._thread = threading.Thread(target=self._main, name=f"task-{task.context.id}", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self, timeout_s: float) -> bool:
        """End the task; returns whether it ended within `timeout_s` (it ends later, but by itself, if not)."""
        self._stopping.set()
        timeout_s = min(timeout_s, self._task.shutdown_wait_s)
        run = self._run
        if run is not None:
            run.stop(timeout_s)
        self._thread.join(timeout_s)
        if self._thread.is_alive() and self._polling is not None:  # its batch must not be delivered beside its successor's
            self._polling.sparkContext.cancelJobGroup(self._jobs)
            self._thread.join(_CANCEL_S)
        return not self._thread.is_alive()

    def _main(self) -> None:
        structlog.contextvars.bind_contextvars(connector=self._plan.connector, task=self._plan.task)
        try:
            self._task.start(self._plan.props)
            self._events.running()
            self._loop()
        except Exception as e:
            if not self._stopping.is_set():
                error = e if isinstance(e, HeadraceError) else failure.as_error(e, "The task ended")
                self._events.failed(error)
        finally:
            self._task.stop()

    def _loop(self) -> None:
        delivery = Delivery(self._needs.ports, self._plan.producer, self._plan.tolerance)
        pause = _FIRST_PAUSE_S
        while not self._stopping.is_set():
            before = delivery.batches
            try:
                if isinstance(self._task, PollingSourceTask):
                    idle = self._poll(self._task, delivery)
                else:
                    idle = self._stream(self._task, delivery)
                self._stopping.wait(idle)
            except Exception as e:
                if self._stopping.is_set() or not failure.is_retriable(e):
                    raise
                if delivery.batches > before:
                    pause = _FIRST_PAUSE_S
                log.warning("task.retry", cause=str(failure.as_error(e, "Reading or writing was interrupted")), pause_s=pause)
                self._stopping.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _stream(self, task: SourceTask, delivery: Delivery) -> float:
        """Run the query until it ends; returns the seconds to wait before the next look."""
        spark = self._needs.spark()
        stream = task.open(spark, self._needs.read_offsets(task.partitions()))
        if stream is None:
            return _NOTHING_TO_READ_S
        if stream.initial:
            self._needs.ports.store_offsets(stream.initial)
        self._run = StreamRun(spark, self._plan, task, delivery)
        if not self._stopping.is_set():
            self._run.run(stream)
        return 0.0

    def _poll(self, task: PollingSourceTask, delivery: Delivery) -> float:
        """Deliver what there is now; returns the seconds to wait before the next look."""
        self._polling = self._needs.spark()
        self._polling.sparkContext.setJobGroup(self._jobs, self._jobs, interruptOnCancel=True)
        poll = task.poll(self._polling, self._needs.read_offsets(task.partitions()))
        if poll is None or self._stopping.is_set():
            return task.poll_interval_s
        chain = TaskChain(self._plan, poll.record)
        frame = chain.incoming(poll.frame)
        if chain.learns:
            chain.learn(frame)
        delivery(chain.outgoing(frame), poll.progress, routing(self._plan.stages, poll))
        task.committed(poll.progress)
        return 0.0
