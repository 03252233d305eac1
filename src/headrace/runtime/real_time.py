"""One run of a stream in Spark's real-time mode: topics are made first, offsets stored while the records go on.

At least once: what came after the offsets that were stored last is read again, whatever of it was written.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from headrace.kafka.groups import Partition
from headrace.kafka.positions import by_topic
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Batch
from headrace.spark import failure
from headrace.spark.kafka import offsets_json, parse_offsets
from headrace.spark.marks import Durable, Marks
from headrace.spark.real_time import RealTimeQuery
from headrace.spark.topic_writer import Way

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)

_LOOK_S = 1.0

Ended = Callable[[str | None, str, bool], None]
"""Takes Spark's offset JSON before and after a batch that has ended, and whether it had records; stores what it means."""
Told = Callable[[Durable], None]
"""Takes what has come by and is acknowledged, after its offsets are stored."""


class RealTimeRun:
    """Runs one query, and stores how far it has come, while it runs and when it is stopped."""

    def __init__(
        self, who: tuple[str, int], store_ms: int, ended: Ended, abandon: Callable[[], None], recorder: TaskRecorder
    ) -> None:
        """who: connector and task; store_ms: how often offsets are stored; abandon: told that nothing may be stored any more;
        recorder: told what happened.
        """
        self._who, self._store_ms, self._ended, self._abandon, self._recorder = who, store_ms, ended, abandon, recorder
        self._stopping = threading.Event()
        self._storing = threading.Lock()
        self._running: RealTimeQuery | None = None
        self._tell: Told = lambda _: None
        self._ends: dict[Partition, int] = {}  # what was stored since the query began
        self._counted = self._batches = 0  # records that the recorder knows of, and those of batches that have ended
        self._since = time.monotonic()

    def run(self, frame: DataFrame, marks: Marks, write: Callable[[DataFrame, Way], None], told: Told) -> None:
        """Run until `stop`, or raise what ended the query.

        marks: those that the frame's records leave; write: has a way of writing applied to the frame, guarded, with the settings
        of the producer (`TopicWriter.write`); told: how far it has come, if there are marks.
        """
        self._tell = told
        scratch = Path(tempfile.mkdtemp(prefix=f"headrace-{self._who[1]}-"))

        def follow(guarded: DataFrame, producer: Mapping[str, str]) -> None:
            if not self._stopping.is_set():
                guarded.sparkSession.sparkContext.setLocalProperty("spark.scheduler.pool", "{}-{}".format(*self._who))
                self._running = RealTimeQuery(guarded, producer, marks, scratch, self._store_ms)
                self._follow(self._running)

        try:
            write(frame, follow)
        except Exception:
            if not self._stopping.is_set():
                raise
        finally:
            with self._storing:  # whoever stops it may still be storing
                self._end()
            marks.close()
            shutil.rmtree(scratch, ignore_errors=True)

    def _follow(self, running: RealTimeQuery) -> None:
        """Store how far it has come, now and then and whenever a batch ends, until the query does."""
        last, before, over, due = -1, None, False, time.monotonic() + self._store_ms / 1000
        while not over and not self._stopping.is_set():
            over = running.query.awaitTermination(_LOOK_S)
            progress = running.query.lastProgress
            if progress is not None and progress["batchId"] > last:
                last, end = progress["batchId"], self._at_least(_text(progress["sources"][0]["endOffset"]))
                with self._storing:
                    if self._stopping.is_set():
                        return
                    self._ended(before, end, progress["numInputRows"] > 0)
                before = end
                self._batches += max(0, progress["numInputRows"])
                self._count(self._batches)
            if not over and time.monotonic() >= due:
                with self._storing:
                    if self._stopping.is_set():
                        return
                    self._store(running)
                due = time.monotonic() + self._store_ms / 1000

    def _at_least(self, end: str) -> str:
        """The end of a batch, in Spark's JSON; no less than what was stored while it was not known that the batch has ended."""
        ends = {(t, p): o for t, offsets in parse_offsets(end).items() for p, o in offsets.items()}
        self._ends = {p: max(o, self._ends.get(p, o)) for p, o in ends.items()}
        return offsets_json(by_topic(self._ends))

    def _store(self, running: RealTimeQuery) -> None:
        """Store what has come further since the last time, if that is known."""
        durable = running.durable()
        if durable is None:
            return
        moved = {p: end for p, end in durable.ends.items() if end > self._ends.get(p, -1)}
        if moved:
            self._ended(None, offsets_json(by_topic(moved)), True)
            self._ends |= moved
        self._tell(durable)
        self._count(durable.records)

    def _count(self, records: int) -> None:
        """So many records have been written since the query began."""
        now, new = time.monotonic(), records - self._counted
        if new > 0:
            self._recorder.tell(Batch(read=new, written=new, took_ms=(now - self._since) * 1000))
            self._counted = records
        self._since = now

    def _end(self) -> None:
        if self._running is not None:
            self._quietly("task.stop.slow", self._running.stop)  # Spark waits for the query's thread, and not for ever

    def stop(self, timeout_s: float = -1) -> None:
        """End the query; what it has read is written and stored, so that nothing is copied again, if that takes no longer than
        `timeout_s`, and the brokers answer.
        """
        if self._storing.acquire(timeout=timeout_s):
            self._stopping.set()
            try:
                self._quietly("task.stop.not-stored", self._last_store)
            finally:
                self._storing.release()
        else:
            self._stopping.set()
            self._abandon()
        self._end()

    def _last_store(self) -> None:
        if self._running is not None:
            self._running.end()
            self._store(self._running)

    def _quietly(self, event: str, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception as e:
            log.warning(event, connector=self._who[0], task=self._who[1], cause=failure.root(e).message)


def _text(offsets: object) -> str:
    return offsets if isinstance(offsets, str) else json.dumps(offsets)
