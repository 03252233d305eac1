"""Copies a feed in batches: for chains with Python functions, which take many records at once.

Other chains run in a lane (`headrace.runtime.feed_run`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from headrace.connectors.base import Offsets, Progress
from headrace.connectors.feed import FeedSource, FeedTask
from headrace.errors import RetriableError
from headrace.kafka.groups import Partition
from headrace.kafka.positions import halved, summary
from headrace.runtime.chain import SourceChain, TooManySchemasError
from headrace.runtime.delivery import Delivery
from headrace.runtime.plan import TaskPlan
from headrace.runtime.record_counts import RecordCounts
from headrace.runtime.routing import routing
from headrace.spark.kafka import read_batch
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_IDLE_S = 0.5


class FeedBatches:
    """Runs the batches of one task, from explicit offsets until it is stopped."""

    batches = 0
    """Always 0: delivery counts the batches."""

    def __init__(self, task: FeedTask, plan: TaskPlan, delivery: Delivery, source: FeedSource, stopping: threading.Event) -> None:
        self._task, self._plan, self._delivery, self._source, self._stopping = task, plan, delivery, source, stopping

    def run(self, spark: SparkSession, _reason: Any) -> None:
        """Run until the task is stopped or has to be opened again (`FeedOwner.needs_reopening`).

        Raises the error that ended it.
        """
        positions = dict(self._source.positions)
        pieces: list[dict[Partition, tuple[int, int]]] = []  # of a batch that has too many schemas for one plan
        check_at = time.monotonic() + self._task.check_interval_s
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", self._task.context.id)
        while not self._stopping.is_set():
            if time.monotonic() >= check_at:
                if self._task.needs_reopening():
                    return
                check_at = time.monotonic() + self._task.check_interval_s
            ranges_read = pieces.pop(0) if pieces else self._next_ranges(positions)
            if not ranges_read:
                self._stopping.wait((self._task.context.interval_ms or 0) / 1000 or _IDLE_S)
                continue
            counts, frame = RecordCounts(spark), self._read(spark, ranges_read)
            chain = SourceChain(self._plan, self._source.record(frame))
            incoming = chain.incoming(counts.reading(frame))
            try:
                if chain.learns:
                    chain.learn(incoming)
            except TooManySchemasError:
                pieces[:0] = halves = halved(ranges_read)
                if len(halves) == 1:
                    raise
                continue
            topic_routing = routing(self._plan.stages, self._source)
            self._delivery(chain.outgoing(incoming), self._progress(ranges_read), topic_routing, counts)
            ends = {p: end for p, (_, end) in ranges_read.items()}
            positions |= ends
            self._task.delivered(ends)
            self._task.offsets_stored(ends)

    def stop(self, timeout_s: float) -> None:
        """Do nothing: the task stops after the batch in flight."""

    def _read(self, spark: SparkSession, ranges: Mapping[Partition, tuple[int, int]]) -> DataFrame:
        """The records of these ranges, with the columns that `FeedSource.record` takes."""
        read = self._source.read_batch
        frame = read(spark, ranges) if read else read_batch(spark, self._source.consumer, ranges)
        names = {topic: self._source.destination(topic) for topic, _ in sorted(ranges)}
        copies = F.create_map(*(F.lit(text) for pair in names.items() for text in pair))
        return frame.withColumn("destination", F.element_at(copies, frame["topic"]))

    def _next_ranges(self, positions: Mapping[Partition, int]) -> dict[Partition, tuple[int, int]]:
        """The offset range of each partition in the next batch.

        Raises RetriableError if a partition ends before its position: it was recreated, or has lost records; the next `open`
        decides which.
        """
        ends = self._task.ends(positions)
        for (topic, partition), position in positions.items():
            if ends.get((topic, partition), position) < position:
                raise RetriableError(f"{topic}-{partition} ends before offset {position}, up to which it was copied.")
        most = max(1, self._source.batch_max_records // max(1, len(positions)))
        ranges = {p: (start, min(ends.get(p, start), start + most)) for p, start in positions.items()}
        return {p: (start, end) for p, (start, end) in ranges.items() if end > start}

    def _progress(self, ranges_read: Mapping[Partition, tuple[int, int]]) -> Progress:
        topics = frozenset(topic for topic, _ in ranges_read)

        def before(failed: Sequence[Mapping[str, str | None]]) -> Offsets:
            return self._task.offsets(preceding(ranges_read, map(self._task.position, failed)))

        return Progress(
            offsets=self._task.offsets({p: end for p, (_, end) in ranges_read.items()}),
            topics=topics,
            summary=summary(ranges_read),
            before=before,
            check=partial(self._task.check, topics),
        )


def preceding(ranges_read: Mapping[Partition, tuple[int, int]], failed: Iterable[tuple[Partition, int]]) -> dict[Partition, int]:
    """The end offset of each partition before its first failed record, or of its range if none failed."""
    ends = {partition: last for partition, (_, last) in ranges_read.items()}
    for partition, offset in failed:
        ends[partition] = min(offset, ends.get(partition, offset))
    return {p: end for p, end in ends.items() if end > ranges_read[p][0]}
