"""Dead letters read from their topic: some at a time, newest first, or those that are named."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice

from headrace.connectors.base import Props
from headrace.dead_letters.letter import Letter, LetterId
from headrace.errors import BadRequestError, NotFoundError
from headrace.kafka.admin import Admin
from headrace.preview.live import Partition, read_ranges

MOST = 500
"""How many letters one request takes."""
_TIMEOUT_S = 20.0
_GAP = 50  # between two letters of a partition that are read at once


@dataclass(frozen=True)
class LetterPage:
    """Some dead letters of a topic."""

    letters: Sequence[Letter]
    """Newest first."""
    records: int
    """Offsets that the topic holds: its letters, and the marks of transactions."""
    before: str | None
    """Where the next page ends, for `read_page`; None: this is the last one."""


class LetterReader:
    """Reads a dead letter topic: without a group, and nothing that a transaction has aborted. Raises ConnectError."""

    def __init__(self, topic: str, consumer: Props, admin: Admin, timeout_s: float = _TIMEOUT_S) -> None:
        """consumer: Java settings of a consumer of its cluster; timeout_s: how long each question to the cluster may take."""
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

    def page(self, count: int, before: str | None = None) -> LetterPage:
        """The newest `count` letters before a place that an earlier page named. Raises BadRequestError, NotFoundError."""
        bounds = self.bounds()
        ends = {partition: end for partition, (_, end) in bounds.items()}
        if before:
            asked = {(self.topic, place.partition): place.offset for place in map(LetterId.parse, before.split(","))}
            ends = {partition: min(end, asked.get(partition, end)) for partition, end in ends.items()}
        ranges = {p: (max(first, ends[p] - count), ends[p]) for p, (first, _) in bounds.items() if ends[p] > first}
        read = self._read(ranges)
        chosen = _newest(read, count)
        left = {}
        for (topic, number), (begin, end) in ranges.items():
            offsets, shown = ([letter.id.offset for letter in some if letter.id.partition == number] for some in (read, chosen))
            left[topic, number] = _next_end(begin, end, offsets, shown)
        more = any(left.get(p, ends[p]) > first for p, (first, _) in bounds.items())
        places = (f"{number}:{left.get((topic, number), ends[topic, number])}" for topic, number in sorted(bounds))
        total = sum(end - first for first, end in bounds.values())
        return LetterPage(chosen, total, ",".join(places) if more else None)

    def named(self, ids: Iterable[LetterId]) -> dict[LetterId, Letter]:
        """These letters, in this order. Raises NotFoundError for what is no longer there, BadRequestError for too many."""
        chosen = dict.fromkeys(ids)
        if not 1 <= len(chosen) <= MOST:
            raise BadRequestError(f"{len(chosen)} dead letters are named; 1 to {MOST} can be taken at a time.")
        bounds = self.bounds()
        inside = {letter_id for letter_id in chosen if _inside(bounds.get((self.topic, letter_id.partition)), letter_id.offset)}
        letters = [letter for ranges in self._ranges(inside) for letter in self._read(ranges)]
        by_id = {letter.id: letter for letter in letters if letter.id in chosen}
        if missing := chosen.keys() - by_id.keys():
            names = ", ".join(sorted(map(str, missing))[:5])
            raise NotFoundError(f"Topic '{self.topic}' has no dead letter {names}: it may have been deleted by age or size.")
        return {letter_id: by_id[letter_id] for letter_id in chosen}

    def _ranges(self, ids: Iterable[LetterId]) -> Iterator[dict[Partition, tuple[int, int]]]:
        """What to read for these: ranges of offsets, one of a partition at a time, with little that is not wanted."""
        runs: dict[Partition, list[tuple[int, int]]] = {}
        for letter_id in sorted(ids, key=lambda letter_id: (letter_id.partition, letter_id.offset)):
            of_partition = runs.setdefault((self.topic, letter_id.partition), [])
            if of_partition and letter_id.offset - of_partition[-1][1] < _GAP:
                of_partition[-1] = (of_partition[-1][0], letter_id.offset + 1)
            else:
                of_partition.append((letter_id.offset, letter_id.offset + 1))
        while runs:
            yield {partition: of_partition.pop() for partition, of_partition in runs.items()}
            runs = {partition: of_partition for partition, of_partition in runs.items() if of_partition}

    def _read(self, ranges: Mapping[Partition, tuple[int, int]]) -> list[Letter]:
        records = read_ranges(self._consumer, ranges, time.monotonic() + self._timeout_s) if ranges else []
        return [Letter.of(record) for record in records]


def _inside(bounds: tuple[int, int] | None, offset: int) -> bool:
    return bounds is not None and bounds[0] <= offset < bounds[1]


def _newest(read: Iterable[Letter], count: int) -> list[Letter]:
    """The newest letters; those of a partition in the order of their offsets, whatever their times."""
    by_partition: dict[int, list[Letter]] = {}
    for letter in sorted(read, key=lambda letter: -letter.id.offset):
        by_partition.setdefault(letter.id.partition, []).append(letter)
    return list(islice(merge(*by_partition.values(), key=lambda letter: -(letter.record.timestamp or 0)), count))


def _next_end(begin: int, end: int, offsets: Collection[int], shown: Collection[int]) -> int:
    """Where the next page of a partition ends. offsets: that were read of it, from `begin` on; shown: on this page."""
    if len(shown) == len(offsets):
        return begin
    return min(shown) if shown else end
