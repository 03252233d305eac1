"""One run of a stream in Spark's real-time mode: topics are made first, offsets stored when Spark reports that a batch has ended.

At least once: a batch that did not end is read again from its beginning, whatever of it was written.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from headrace.runtime.lag import source_lag
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Batch
from headrace.spark import failure, large_records, real_time
from headrace.spark.topic_writer import Way

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)

_LOOK_S = 0.1

Ended = Callable[[str | None, str, bool], None]
"""Takes Spark's offset JSON before and after a batch that has ended, and whether it had records; stores what it means."""


class RealTimeRun:
    """Runs one query; `stop` ends it at once, so that what came since the last batch ended is copied again."""

    def __init__(
        self, who: tuple[str, int], batch_ms: int, ended: Ended, abandon: Callable[[], None], recorder: TaskRecorder
    ) -> None:
        """who: connector and task; batch_ms: how long a batch is; abandon: told that nothing may be stored any more;
        recorder: told what happened, and how to learn the lag.
        """
        self._who, self._batch_ms, self._ended, self._abandon, self._recorder = who, batch_ms, ended, abandon, recorder
        self._stopping = threading.Event()
        self._storing = threading.Lock()
        self._running: real_time.RealTimeQuery | None = None

    def run(self, frame: DataFrame, write: Callable[[DataFrame, Way], None]) -> None:
        """Run until `stop`, or raise what ended the query.

        write: has a way of writing applied to the frame, guarded, with the settings of the producer (`TopicWriter.write`).
        """
        scratch = Path(tempfile.mkdtemp(prefix=f"headrace-{self._who[1]}-"))

        def start(guarded: DataFrame, producer: Mapping[str, str]) -> None:
            name = "{}-{}".format(*self._who)
            guarded.sparkSession.sparkContext.setLocalProperty("spark.scheduler.pool", name)
            self._running = real_time.RealTimeQuery(guarded, producer, f"{name}@{scratch.name}", scratch, self._batch_ms)

        try:
            write(frame, start)
            if self._running is not None:
                self._recorder.follow_lag(source_lag(self._running.query))
                self._follow(self._running.query)
        except Exception as e:
            record = large_records.found(e)
            if record is not None:
                raise large_records.too_large(record) from None
            if not self._stopping.is_set():
                raise
        finally:
            self._end()
            shutil.rmtree(scratch, ignore_errors=True)

    def _follow(self, query: Any) -> None:
        """Take every batch that ends, until the query does."""
        last, before, over = -1, None, False
        while not over:
            over = query.awaitTermination(_LOOK_S)
            progress = query.lastProgress
            if progress is None or progress["batchId"] <= last:
                continue
            last, end = progress["batchId"], _text(progress["sources"][0]["endOffset"])
            with self._storing:
                if self._stopping.is_set():
                    return
                self._ended(before, end, progress["numInputRows"] > 0)
            before = end
            self._recorder.tell(_batch(progress))

    def _end(self) -> None:
        if self._running is not None:
            try:
                self._running.stop()
            except Exception as e:  # Spark waits for the query's thread, and not for ever
                log.warning("task.stop.slow", connector=self._who[0], task=self._who[1], cause=failure.root(e).message)

    def stop(self, timeout_s: float = -1) -> None:
        """End the query; offsets that are being stored get `timeout_s`."""
        self._stopping.set()
        if self._storing.acquire(timeout=timeout_s):
            self._storing.release()
        else:
            self._abandon()
        self._end()


def _batch(progress: Mapping[str, Any]) -> Batch:
    written = max(0, progress["sink"].get("numOutputRows", 0))
    return Batch(read=progress["numInputRows"], written=written, took_ms=progress["durationMs"].get("triggerExecution", 0))


def _text(offsets: object) -> str:
    return offsets if isinstance(offsets, str) else json.dumps(offsets)
