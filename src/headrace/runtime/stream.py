"""One run of a streaming query: from the stored offsets until it is stopped or fails.

Spark keeps the end offsets of a batch in the query's own log before the batch runs; they are read from there, so that what is
stored in Kafka is exactly what Spark planned. That log, the checkpoint directory, is scratch: new for every run and deleted
after it.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from headrace.connectors.base import SourceTask, Stream
from headrace.runtime.chain import TaskChain
from headrace.runtime.delivery import Delivery, Routing
from headrace.runtime.plan import TaskPlan
from headrace.runtime.routing import routing
from headrace.spark import failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)


class BatchEndedError(Exception):
    """Raised inside a batch to end its query; what went wrong, if anything did, is kept by the run."""


class StreamRun:
    """Runs one Stream of a SourceTask through a Delivery."""

    def __init__(self, spark: SparkSession, plan: TaskPlan, task: SourceTask, delivery: Delivery) -> None:
        self._spark, self._plan, self._task, self._delivery = spark, plan, task, delivery
        self._batch = threading.Lock()  # held while a batch is delivered, so that a stop can wait for its commit
        self._stopping = False
        self._query: Any = None
        self._chain: TaskChain | None = None  # for batches that have to be looked at first
        self._previous: str | None = None
        self._failure: BaseException | None = None

    def run(self, stream: Stream) -> None:
        """Run until `stop`, or raise what ended the query: an error of headrace, or Spark's own."""
        scratch = Path(tempfile.mkdtemp(prefix=f"headrace-{self._plan.task}-"))
        try:
            self._query = self._start(stream, scratch)
            if self._stopping:
                self._query.stop()
            self._query.awaitTermination()
        except Exception as e:
            if not self._stopping:
                error = self._failure or e
                raise error from error.__cause__
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _start(self, stream: Stream, scratch: Path) -> Any:
        who = f"{self._plan.connector}-{self._plan.task}"
        # Jobs of one task queue among themselves; those of different tasks share the slots fairly.
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", who)
        chain = TaskChain(self._plan, stream.record)
        frame = chain.incoming(stream.frame)
        if not chain.learns:
            frame = chain.outgoing(frame)
        writer = frame.writeStream.queryName(f"{who}@{scratch.name}").option("checkpointLocation", str(scratch))
        self._chain = chain if chain.learns else None
        return writer.foreachBatch(self._deliver(routing(self._plan.stages, stream), scratch)).start()

    def _deliver(self, routing: Routing, scratch: Path) -> Callable[[DataFrame, int], None]:
        def deliver(frame: DataFrame, batch: int) -> None:
            with self._batch:
                try:
                    if not self._stopping:
                        self._one(frame, batch, routing, scratch)
                        return
                except BaseException as e:
                    self._failure = e
            # Raised outside of the `except`, so that its text stays short: Spark searches it with a regular expression that
            # overflows the stack of the query's thread on the text of a Java exception.
            raise BatchEndedError("stopped" if self._failure is None else "failed")

        return deliver

    def _one(self, frame: DataFrame, batch: int, routing: Routing, scratch: Path) -> None:
        # Spark calls this on a thread of its own choice: the log's context has to be set for each batch.
        with structlog.contextvars.bound_contextvars(connector=self._plan.connector, task=self._plan.task):
            self._deliver_one(frame, batch, routing, scratch)

    def _deliver_one(self, frame: DataFrame, batch: int, routing: Routing, scratch: Path) -> None:
        end = batch_offsets(scratch, batch)
        progress = self._task.progress(self._previous, end)
        if self._chain is not None:
            self._chain.learn(frame)
            frame = self._chain.outgoing(frame)
        self._delivery(frame, progress, routing)
        self._previous = end
        self._task.committed(progress)

    def stop(self, timeout_s: float) -> None:
        """End the query; a batch that is being delivered gets `timeout_s` to be committed, then it is cut off and read again."""
        self._stopping = True
        if self._batch.acquire(timeout=timeout_s):
            self._batch.release()  # whoever comes next sees that the run is stopping, and gives up
        else:
            self._delivery.abandon()
        if self._query is not None:
            try:
                self._query.stop()
            except Exception as e:  # Spark waits for the query's thread, and not for ever
                log.warning("task.stop.slow", connector=self._plan.connector, task=self._plan.task, cause=failure.root(e).message)


def batch_offsets(scratch: Path, batch: int) -> str:
    """The source's end offsets of a batch as Spark planned them (its offset log: version, metadata, then one line per source)."""
    lines = (scratch / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()
    return lines[2]
