"""Reads dead letters from their topic: page by page, newest first, or by their ids."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice

from headrace.connectors.base import Props
from headrace.dead_letters.letter import Letter, LetterId
from headrace.errors import BadRequestError, NotFoundError
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition
from headrace.preview.live import read_newest, read_ranges
from headrace.preview.records import RawRecord

MAX_LETTERS = 500
"""The maximum number of letters of one request."""
_TIMEOUT_S = 20.0
_MAX_GAP = 50  # offsets between two letters of a partition that are read in one range


@dataclass(frozen=True)
class LetterPage:
    """A page of dead letters of a topic."""

    letters: Sequence[Letter]
    """Newest first; none, and `before`, where the time did not suffice to come to one behind transactions that were aborted."""
    records: int
    """The number of offsets in the topic: its letters and transaction markers."""
    before: str | None
    """The ends of the next page, the argument of `LetterReader.page`; None: this is the last page."""


class LetterReader:
    """Reads a dead letter topic without a consumer group, committed records only. Raises ConnectError."""

    def __init__(self, topic: str, consumer: Props, admin: Admin, timeout_s: float = _TIMEOUT_S) -> None:
        """consumer: Java settings of a consumer of its cluster; timeout_s: of each request."""
        self.topic = topic
        self._consumer = {**consumer, "isolation.level": "read_committed"}
        self._admin, self._timeout_s = admin, timeout_s

    def bounds(self) -> dict[Partition, tuple[int, int]]:
        """The first offset and the end of each partition. Raises NotFoundError if there is no such topic."""
        info = self._admin.describe(self.topic, self._timeout_s)
        if info is None:
            raise NotFoundError(f"There is no topic '{self.topic}': it is created with the first record that fails.")
        partitions = [(self.topic, number) for number in info.partitions]
        first = self._admin.partition_offsets(partitions, "earliest", self._timeout_s)
        end = self._admin.partition_offsets(partitions, "latest", self._timeout_s, read_committed=True)
        return {partition: (first[partition], end[partition]) for partition in partitions}

    def page(
        self, count: int, before: str | None = None, keep: Callable[[RawRecord], Letter] = Letter.beginning_of
    ) -> LetterPage:
        """The newest `count` letters. Raises BadRequestError, NotFoundError.

        before: `LetterPage.before` of the previous page; keep: what is held of each, as `count` of each partition are read.
        """
        bounds = self.bounds()
        ends = {partition: end for partition, (_, end) in bounds.items()}
        if before:
            end_offsets = {(self.topic, place.partition): place.offset for place in map(LetterId.parse, before.split(","))}
            ends = {partition: min(end, end_offsets.get(partition, end)) for partition, end in ends.items()}
        left = {partition: (first, ends[partition]) for partition, (first, _) in bounds.items()}
        read, begins = read_newest(self._consumer, left, count, self._timeout_s, keep)
        chosen = _newest(read, count)
        next_ends = {}
        for (topic, number), begin in begins.items():
            offsets, shown = ([letter.id.offset for letter in some if letter.id.partition == number] for some in (read, chosen))
            next_ends[topic, number] = _next_end(begin, ends[topic, number], offsets, shown)
        more = any(next_ends[partition] > first for partition, (first, _) in bounds.items())
        places = (f"{number}:{next_ends[topic, number]}" for topic, number in sorted(bounds))
        total = sum(end - first for first, end in bounds.values())
        return LetterPage(chosen, total, ",".join(places) if more else None)

    def find(self, ids: Iterable[LetterId]) -> dict[LetterId, Letter]:
        """The letters with these ids, in this order. Raises NotFoundError if one does not exist, BadRequestError for too many."""
        chosen = dict.fromkeys(ids)
        if not 1 <= len(chosen) <= MAX_LETTERS:
            raise BadRequestError(f"{len(chosen)} dead letters are named; 1 to {MAX_LETTERS} can be taken at a time.")
        bounds = self.bounds()
        ids_in_bounds = {
            letter_id for letter_id in chosen if _in_bounds(bounds.get((self.topic, letter_id.partition)), letter_id.offset)
        }
        letters = [
            letter
            for ranges in self._ranges(ids_in_bounds)
            for letter in read_ranges(self._consumer, ranges, time.monotonic() + self._timeout_s, Letter.of)
        ]
        by_id = {letter.id: letter for letter in letters if letter.id in chosen}
        if missing := chosen.keys() - by_id.keys():
            names = ", ".join(sorted(map(str, missing))[:5])
            raise NotFoundError(f"Topic '{self.topic}' has no dead letter {names}: it may have been deleted by age or size.")
        return {letter_id: by_id[letter_id] for letter_id in chosen}

    def _ranges(self, ids: Iterable[LetterId]) -> Iterator[dict[Partition, tuple[int, int]]]:
        """Ranges of offsets that contain these letters and few others, one per partition at a time."""
        ranges: dict[Partition, list[tuple[int, int]]] = {}
        for letter_id in sorted(ids, key=lambda letter_id: (letter_id.partition, letter_id.offset)):
            of_partition = ranges.setdefault((self.topic, letter_id.partition), [])
            if of_partition and letter_id.offset - of_partition[-1][1] < _MAX_GAP:
                of_partition[-1] = (of_partition[-1][0], letter_id.offset + 1)
            else:
                of_partition.append((letter_id.offset, letter_id.offset + 1))
        while ranges:
            yield {partition: of_partition.pop() for partition, of_partition in ranges.items()}
            ranges = {partition: of_partition for partition, of_partition in ranges.items() if of_partition}


def _in_bounds(bounds: tuple[int, int] | None, offset: int) -> bool:
    return bounds is not None and bounds[0] <= offset < bounds[1]


def _newest(read: Iterable[Letter], count: int) -> list[Letter]:
    """The newest letters by time; those of a partition stay in the order of their offsets."""
    by_partition: dict[int, list[Letter]] = {}
    for letter in sorted(read, key=lambda letter: -letter.id.offset):
        by_partition.setdefault(letter.id.partition, []).append(letter)
    return list(islice(merge(*by_partition.values(), key=lambda letter: -(letter.record.timestamp or 0)), count))


def _next_end(begin: int, end: int, offsets: Collection[int], shown: Collection[int]) -> int:
    """The end of the next page of a partition. offsets: that were read from `begin` on; shown: those on this page."""
    if len(shown) == len(offsets):
        return begin
    return min(shown) if shown else end
