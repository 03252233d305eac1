"""The ranges of offsets of a batch: with more records than a batch takes, no topic runs ahead of the others of its task.

Kafka processes the topic whose next record is the oldest. A batch takes a limited number of records of each partition; the ranges
of a task end where the first of its partitions reaches that limit, in the order of all records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.sql_functions import F
from headrace.streams.engine.columns import union
from headrace.streams.engine.flows import AggregationInput
from headrace.streams.engine.registry_formats import with_schema_lookup

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.kafka.groups import Partition
    from headrace.streams.engine.cluster import Cluster
    from headrace.streams.engine.source import Ranges, SourceReader
    from headrace.streams.nodes import SourceNode

_PIECES_PER_LIMIT = 1000  # of a range, of which each has one time at first

Piece = tuple[int, int]
"""The first offset of a piece, and the greatest timestamp of its records."""


@dataclass(frozen=True)
class BatchRanges:
    """Chooses the ranges of a sub-topology's batches."""

    source_reader: SourceReader
    cluster: Cluster
    sources: Sequence[SourceNode]
    limit: int
    """The maximum number of records of a partition in a batch."""

    def of(self, positions: Mapping[Partition, int], ends: Mapping[Partition, int]) -> Ranges:
        """The ranges of the next batch. ends: end offsets, as far as known. Raises the errors of a Spark query."""
        ranges, cut = self._up_to_limit(positions, ends)
        if not cut or not self.source_reader.merged:
            return ranges
        # Records that have not been fetched yet may be older than those that have.
        ranges, cut = self._up_to_limit(positions, {**ends, **self.cluster.offsets(positions, "latest")})
        tasks = {p for _, p in cut if sum(other == p for _, other in ranges) > 1}
        together = {partition: offsets for partition, offsets in ranges.items() if partition[1] in tasks}
        first = self.cluster.offsets(together, "earliest") if together else {}
        if not together or any(
            first.get(partition, 0) > start for partition, (start, _) in together.items()
        ):  # the batch will find deleted records
            return ranges
        return {**ranges, **self._in_order(together, cut)}

    def halves(self, ranges: Ranges) -> tuple[Ranges, ...]:
        """Two halves of a batch, in its order; nothing for at most one record. Raises the errors of a Spark query."""
        sizes = {partition: end - start for partition, (start, end) in ranges.items() if end > start}
        if sum(sizes.values()) < 2:
            return ()
        half = (max(sizes.values()) + 1) // 2
        first = {partition: (start, min(end, start + half)) for partition, (start, end) in ranges.items()}
        cut = {partition for partition, size in sizes.items() if size > half}
        if cut and self.source_reader.merged:
            tasks = {p for _, p in cut}
            first |= self._in_order({partition: offsets for partition, offsets in first.items() if partition[1] in tasks}, cut)
        elif not cut:
            oldest = self._oldest({partition: ranges[partition] for partition in sizes})
            first = {partition: (start, end if partition == oldest else start) for partition, (start, end) in ranges.items()}
        return first, {partition: (to, ranges[partition][1]) for partition, (_, to) in first.items()}

    def _oldest(self, ranges: Ranges) -> Partition:
        """Of ranges of one record each, the first one."""
        pieces = self._pieces(ranges, 1) if self.source_reader.merged else {}
        times = {partition: max((time for _, time in pieces.get(partition, ())), default=-1) for partition in ranges}
        numbers = self.source_reader.numbers
        return min(ranges, key=lambda partition: (times[partition], numbers[partition[0]]))

    def _up_to_limit(
        self, positions: Mapping[Partition, int], ends: Mapping[Partition, int]
    ) -> tuple[Ranges, Collection[Partition]]:
        """The available ranges up to the limit, and the partitions that have more records."""
        there = {p: (start, ends[p]) for p, start in positions.items() if ends.get(p, start) > start}
        cut = {p for p, (start, end) in there.items() if end - start > self.limit}
        return {p: (start, min(end, start + self.limit)) for p, (start, end) in there.items()}, cut

    def _in_order(self, ranges: Ranges, cut: Collection[Partition]) -> Ranges:
        """Ranges without the records after the first end of the cut partitions, in the order of their task."""
        number = self.source_reader.numbers
        size = max(self.limit // _PIECES_PER_LIMIT, 1)
        pieces = self._pieces(ranges, size)
        ends: dict[int, tuple[int, int]] = {}  # by task, where its order is cut: time and number of the source
        for topic, p in cut:
            if (topic, p) in ranges:
                last = max((time for _, time in pieces[topic, p]), default=-1)
                ends[p] = min(ends.get(p, (last, number[topic])), (last, number[topic]))

        def behind(partition: Partition, partition_pieces: Iterable[Piece]) -> int | None:
            time, first = ends[partition[1]]
            return next((begin for begin, last in partition_pieces if (last, number[partition[0]]) > (time, first)), None)

        begins = {
            partition: begin
            for partition, partition_pieces in pieces.items()
            if (begin := behind(partition, partition_pieces)) is not None
        }
        looked = {
            partition: (max(begin, ranges[partition][0]), min(begin + size, ranges[partition][1]))
            for partition, begin in begins.items()
        }
        singly = self._pieces(looked, 1) if size > 1 else pieces
        after = {partition: behind(partition, singly[partition]) for partition in looked}
        return {
            partition: (start, end if (to := after.get(partition)) is None else to) for partition, (start, end) in ranges.items()
        }

    def _pieces(self, ranges: Ranges, size: int) -> Mapping[Partition, list[Piece]]:
        """Ranges in pieces of this many offsets, without empty ones."""
        pieces: dict[Partition, list[Piece]] = defaultdict(list)
        for topic, p, begin, time in with_schema_lookup(lambda: self._times(ranges, size).collect()) if ranges else ():
            pieces[topic, p].append((begin, time))
        return pieces

    def _times(self, ranges: Ranges, size: int) -> DataFrame:
        frames = []
        for source in self.sources:
            for topic in self.source_reader.read[source.name]:
                if mine := {partition: offsets for partition, offsets in ranges.items() if partition[0] == topic}:
                    flow = self.source_reader.flow(source, self.cluster.read(mine), lambda *_: None)
                    assert not isinstance(flow, AggregationInput)
                    begin = F.col("o")[2] - F.col("o")[2] % F.lit(size)
                    frames.append(flow.frame.select(F.lit(topic).alias("topic"), "p", begin.alias("begin"), "t"))
        return union(frames).groupBy("topic", "p", "begin").agg(F.max("t").alias("t")).orderBy("begin")
