"""How far a batch goes in each topic: with more to read than it takes, no topic runs ahead of the others of its task.

Kafka takes the record of the topic whose next one is the oldest. A batch takes a number of records of each partition; so of those
of a task it is cut where the first of them has no more of them, in the order of all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.streams.engine.columns import union
from headrace.streams.engine.flows import Pending
from headrace.streams.engine.registered import learning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.streams.engine.cluster import Cluster
    from headrace.streams.engine.source import Partition, Ranges, SourceReading
    from headrace.streams.nodes import SourceNode

_PIECES = 1000  # of a range, of which each has one time at first

Piece = tuple[int, int]
"""The first offset, and the greatest time of its records."""


@dataclass(frozen=True)
class BatchRanges:
    """What batches of a sub-topology take."""

    reading: SourceReading
    cluster: Cluster
    sources: Sequence[SourceNode]
    topics: Mapping[str, list[str]]
    """By source, names on the cluster."""
    limit: int
    """How many records of a partition a batch takes at most."""

    def of(self, positions: Mapping[Partition, int], ends: Mapping[Partition, int]) -> Ranges:
        """What the next batch takes. ends: where topics end, as far as is known. Raises what a query of Spark raises."""
        ranges, cut = self._some(positions, ends)
        if not cut or not self.reading.merged:
            return ranges
        # What has not been fetched yet may be older than what has.
        ranges, cut = self._some(positions, {**ends, **self.cluster.offsets(positions, "latest")})
        tasks = {p for _, p in cut if sum(other == p for _, other in ranges) > 1}
        together = {one: found for one, found in ranges.items() if one[1] in tasks}
        first = self.cluster.offsets(together, "earliest") if together else {}
        if not together or any(first.get(one, 0) > start for one, (start, _) in together.items()):  # the batch finds what is gone
            return ranges
        return {**ranges, **self._in_order(together, cut)}

    def halves(self, ranges: Ranges) -> tuple[Ranges, ...]:
        """A batch in two parts, in its order; nothing for a single record, or none. Raises what a query of Spark raises."""
        sizes = {one: end - start for one, (start, end) in ranges.items() if end > start}
        if sum(sizes.values()) < 2:
            return ()
        half = (max(sizes.values()) + 1) // 2
        first = {one: (start, min(end, start + half)) for one, (start, end) in ranges.items()}
        cut = {one for one, size in sizes.items() if size > half}
        if cut and self.reading.merged:
            tasks = {p for _, p in cut}
            first |= self._in_order({one: found for one, found in first.items() if one[1] in tasks}, cut)
        elif not cut:
            oldest = self._oldest({one: ranges[one] for one in sizes})
            first = {one: (start, end if one == oldest else start) for one, (start, end) in ranges.items()}
        return first, {one: (to, ranges[one][1]) for one, (_, to) in first.items()}

    def _oldest(self, ranges: Ranges) -> Partition:
        """Of ranges of one record each, that which comes first."""
        pieces = self._pieces(ranges, 1) if self.reading.merged else {}
        return min(ranges, key=lambda one: (max((time for _, time in pieces.get(one, ())), default=-1), self._numbers[one[0]]))

    @property
    def _numbers(self) -> dict[str, int]:
        """By topic, the place of its source among the sources."""
        return {topic: i for i, source in enumerate(self.sources) for topic in self.topics[source.name]}

    def _some(self, positions: Mapping[Partition, int], ends: Mapping[Partition, int]) -> tuple[Ranges, Collection[Partition]]:
        """What there is, with those that go on behind it."""
        there = {p: (start, ends[p]) for p, start in positions.items() if ends.get(p, start) > start}
        cut = {p for p, (start, end) in there.items() if end - start > self.limit}
        return {p: (start, min(end, start + self.limit)) for p, (start, end) in there.items()}, cut

    def _in_order(self, ranges: Ranges, cut: Collection[Partition]) -> Ranges:
        """Ranges without what comes behind the first end of those that are cut, in the order of their task."""
        number = self._numbers
        size = max(self.limit // _PIECES, 1)
        pieces = self._pieces(ranges, size)
        ends: dict[int, tuple[int, int]] = {}  # by task, where its order is cut: time and number of the source
        for topic, p in cut:
            if (topic, p) in ranges:
                last = max((time for _, time in pieces[topic, p]), default=-1)
                ends[p] = min(ends.get(p, (last, number[topic])), (last, number[topic]))

        def behind(one: Partition, found: Iterable[Piece]) -> int | None:
            time, first = ends[one[1]]
            return next((begin for begin, last in found if (last, number[one[0]]) > (time, first)), None)

        begins = {one: begin for one, found in pieces.items() if (begin := behind(one, found)) is not None}
        looked = {one: (max(begin, ranges[one][0]), min(begin + size, ranges[one][1])) for one, begin in begins.items()}
        singly = self._pieces(looked, 1) if size > 1 else pieces
        after = {one: behind(one, singly[one]) for one in looked}
        return {one: (start, end if (to := after.get(one)) is None else to) for one, (start, end) in ranges.items()}

    def _pieces(self, ranges: Ranges, size: int) -> Mapping[Partition, list[Piece]]:
        """Ranges in pieces of so many offsets, as far as they have records."""
        found: dict[Partition, list[Piece]] = defaultdict(list)
        for topic, p, begin, time in learning(lambda: self._times(ranges, size).collect()) if ranges else ():
            found[topic, p].append((begin, time))
        return found

    def _times(self, ranges: Ranges, size: int) -> DataFrame:
        from pyspark.sql import functions as F

        frames = []
        for i, source in enumerate(self.sources):
            for topic in self.topics[source.name]:
                if mine := {one: found for one, found in ranges.items() if one[0] == topic}:
                    flow = self.reading.flow(source, self.cluster.read(mine), i, lambda _: None)
                    assert not isinstance(flow, Pending)
                    begin = F.col("o")[2] - F.col("o")[2] % F.lit(size)
                    frames.append(flow.frame.select(F.lit(topic).alias("topic"), "p", begin.alias("begin"), "t"))
        return union(frames).groupBy("topic", "p", "begin").agg(F.max("t").alias("t")).orderBy("begin")
