"""One run of a streaming query: from explicit offsets until it is stopped or fails.

Spark writes the end offsets of a batch to the query's offset log before the batch runs; they are read from there, so that
exactly the planned offsets are stored in Kafka. The checkpoint directory is temporary: new for every run and deleted after it;
that of a process that was killed stays, and is used by nobody.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.query_lag import source_positions
from headrace.spark import failure
from headrace.spark.polling_delay import PACE, pace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)


Deliver = Callable[["DataFrame", str | None, str], None]
"""Takes a batch, and Spark's offset JSON before (None: the beginning of the stream) and after it."""


@dataclass(frozen=True)
class ChangeWatch:
    """Ends a run when `changed` returns true."""

    interval_s: float
    """Between two calls."""
    changed: Callable[[Any], bool]
    """Takes the query; called on the thread of the run, also during batches."""


@dataclass(frozen=True)
class QueryStart:
    """Start offset and trigger interval of a query: see `headrace.connectors.base.Stream`."""

    after: str | None = None
    interval_ms: int | None = None


class BatchEndedError(Exception):
    """Raised inside a batch to end its query; the run keeps the error, if there was one."""


class QueryRun:
    """Runs one streaming query, and delivers its batches."""

    def __init__(
        self,
        spark: SparkSession,
        who: tuple[str, int],
        deliver: Deliver,
        abandon: Callable[[], None],
        recorder: TaskRecorder,
    ) -> None:
        """who: connector and task; deliver: returns when a batch is written and committed; abandon: called when the batch in
        flight must not commit any more; recorder: gets the function of the lag.
        """
        self._spark, self._who, self._deliver, self._abandon, self._recorder = spark, who, deliver, abandon, recorder
        self._batch = threading.Lock()  # held while a batch is delivered, so that a stop can wait for its commit
        self._stopping = False
        self._query_start = QueryStart()
        self._query: Any = None
        self._previous: str | None = None
        self._failure: BaseException | None = None

    def run(self, frame: DataFrame, watch: ChangeWatch | None = None, query_start: QueryStart | None = None) -> None:
        """Run until `stop`, until `watch` sees a change, or raise what ended the query: an error of headrace, or Spark's own."""
        self._query_start = query_start or QueryStart()
        scratch = Path(tempfile.mkdtemp(prefix=f"headrace-{self._who[1]}-"))
        try:
            self._query = self._start(frame, scratch)
            self._recorder.follow_positions(source_positions(self._query))
            if self._query_start.interval_ms is None:
                pace(self._query, self)
            if self._stopping:
                self._query.stop()
            if watch is None:
                self._query.awaitTermination()
            else:
                self._end_on_change(watch)
        except Exception as e:
            if not self._stopping:
                error = self._failure or e
                raise error from error.__cause__
        finally:
            PACE.end(self)
            shutil.rmtree(scratch, ignore_errors=True)

    def _end_on_change(self, watch: ChangeWatch) -> None:
        while not self._query.awaitTermination(watch.interval_s):
            if watch.changed(self._query):
                self.stop()

    def _start(self, frame: DataFrame, scratch: Path) -> Any:
        who = "{}-{}".format(*self._who)
        # Jobs of one task queue among themselves; those of different tasks share the slots fairly.
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", who)
        writer = frame.writeStream.queryName(f"{who}@{scratch.name}").option("checkpointLocation", str(scratch))
        if self._query_start.interval_ms is not None:
            writer = writer.trigger(processingTime=f"{self._query_start.interval_ms} milliseconds")
        if self._query_start.after is not None:
            begin_after(scratch, self._query_start.after)
            self._previous = self._query_start.after
        return writer.foreachBatch(self._batches(scratch)).start()

    def _batches(self, scratch: Path) -> Callable[[DataFrame, int], None]:
        def deliver(frame: DataFrame, batch: int) -> None:
            with self._batch:
                try:
                    if not self._stopping:
                        self._deliver_batch(frame, batch, scratch)
                        return
                except BaseException as e:
                    self._failure = e
            # Raised outside of the `except`, so that its text stays short: Spark searches it with a regular expression that
            # overflows the stack of the query's thread on the text of a Java exception.
            raise BatchEndedError("stopped" if self._failure is None else "failed")

        return deliver

    def _deliver_batch(self, frame: DataFrame, batch: int, scratch: Path) -> None:
        # Spark calls this on a thread of its own choice: the log's context has to be set for each batch.
        with structlog.contextvars.bound_contextvars(connector=self._who[0], task=self._who[1]):
            PACE.batch(self)
            end = batch_offsets(scratch, batch)
            self._deliver(frame, self._previous, end)
            self._previous = end

    def stop(self, timeout_s: float = -1) -> None:
        """End the query; the batch in flight has `timeout_s` to be committed, then it is abandoned and read again later. -1: no
        limit.
        """
        self._stopping = True
        if self._batch.acquire(timeout=timeout_s):
            self._batch.release()  # the next batch sees that the run is stopping, and ends
        else:
            self._abandon()
        if self._query is not None:
            try:
                self._query.stop()
            except Exception as e:  # Spark's wait for the query's thread has timed out
                log.warning("task.stop.slow", connector=self._who[0], task=self._who[1], cause=failure.root(e).message)


def batch_offsets(scratch: Path, batch: int) -> str:
    """The source's end offsets of a batch as Spark planned them (its offset log: version, metadata, then one line per source)."""
    lines = (scratch / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()
    return lines[2]


def begin_after(scratch: Path, offset: str) -> None:
    """Write the log of a query that has processed everything up to this offset, for a query that has not been started yet.

    Two batches, because Spark asks some sources for the range of the last one again, which is then empty.
    """
    (scratch / "metadata").write_text(json.dumps({"id": str(uuid.uuid4())}), encoding="utf-8")
    about = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}})
    for batch in ("0", "1"):
        for log_, text in (("offsets", f"v1\n{about}\n{offset}"), ("commits", 'v1\n{"nextBatchWatermarkMs":0}')):
            (scratch / log_).mkdir(exist_ok=True)
            (scratch / log_ / batch).write_text(text, encoding="utf-8")
