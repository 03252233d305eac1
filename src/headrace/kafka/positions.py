"""Start positions of a task's partitions, and its progress: pure decisions, and their log messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from headrace.kafka.groups import Partition

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class StartPositions:
    """The start positions of a set of partitions, and the deviations from the stored ones."""

    positions: Mapping[Partition, int]
    """First offset to read."""
    looked_up: tuple[Partition, ...] = ()
    """Partitions not started at `earliest`, to be stored before reading, so that a restart before the first batch does not use a
    later end.
    """
    lost: tuple[tuple[Partition, int, int], ...] = ()
    """(partition, first, last) ranges that were deleted before they were read."""
    beyond: tuple[tuple[Partition, int, int], ...] = ()
    """(partition, position, end) of positions after the end, as of a topic that was recreated."""
    missing: tuple[Partition, ...] = ()
    """Partitions that do not exist now."""


def decide(
    partitions: list[Partition],
    stored: Mapping[Partition, int],
    logs: Mapping[Partition, tuple[int, int]],
    reset: str,
    since: Mapping[Partition, int] | None = None,
) -> StartPositions:
    """Decide the start positions.

    stored: the next offset to read, by partition; logs: first and end offset that there are now, by partition (those that do not
    exist are absent); reset: for partitions without a stored offset and for stored offsets outside of the log, as a consumer's
    `auto.offset.reset`: `earliest`, `latest`, or else the offsets `since`, and the end of partitions that these do not have.
    """
    positions: dict[Partition, int] = {}
    looked_up, lost, beyond, missing = [], [], [], []
    for partition in partitions:
        if partition not in logs:
            missing.append(partition)
            continue
        first, end = logs[partition]
        position = stored.get(partition)
        if position is not None and first <= position <= end:
            positions[partition] = position
            continue
        if position is not None and position < first:
            lost.append((partition, position, first - 1))
        elif position is not None:
            beyond.append((partition, position, end))
        positions[partition] = first if reset == "earliest" else min((since or {}).get(partition, end), end)
        if reset != "earliest":
            looked_up.append(partition)
    return StartPositions(positions, tuple(looked_up), tuple(lost), tuple(beyond), tuple(missing))


def warn(start: StartPositions, who: str) -> None:
    """Log deviations from stored positions; who: `source` or `sink`, the prefix of the events' names."""
    for topic, partition in start.missing:
        log.warning("%s.partition.missing", who, topic=topic, partition=partition,
                    hint="deleted in the source cluster? it is left out until the next reconfiguration")  # fmt: skip
    for (topic, partition), first, last in start.lost:
        log.warning("%s.offsets.lost", who, topic=topic, partition=partition, first=first, last=last,
                    resumes_at=start.positions[topic, partition], hint="deleted before they were copied?")  # fmt: skip
    for (topic, partition), position, end in start.beyond:
        log.warning("%s.offset.beyond-end", who, topic=topic, partition=partition, position=position, end=end,
                    resumes_at=start.positions[topic, partition], hint="was the topic deleted and recreated?")  # fmt: skip


def advanced(before: Mapping[str, Mapping[int, int]], after: Mapping[str, Mapping[int, int]]) -> dict[Partition, tuple[int, int]]:
    """The partitions with progress: first offset of the batch and the one after its last."""
    return {
        (topic, p): (before.get(topic, {}).get(p, end), end)
        for topic, ends in after.items()
        for p, end in ends.items()
        if end > before.get(topic, {}).get(p, end)
    }


def by_topic(positions: Mapping[Partition, int]) -> dict[str, dict[int, int]]:
    """Positions in the form of `headrace.spark.kafka`: topic → partition → offset."""
    offsets: dict[str, dict[int, int]] = {}
    for (topic, partition), offset in positions.items():
        offsets.setdefault(topic, {})[partition] = offset
    return offsets


def by_partition(offsets: Mapping[str, Mapping[int, int]]) -> dict[Partition, int]:
    """The reverse of `by_topic`."""
    return {(topic, partition): offset for topic, parts in offsets.items() for partition, offset in parts.items()}


def halved(ranges: Mapping[Partition, tuple[int, int]]) -> list[dict[Partition, tuple[int, int]]]:
    """Two halves of ranges of offsets, to be read one after the other; the ranges alone if they have one offset."""
    total = sum(end - start for start, end in ranges.values())
    if total < 2:
        return [dict(ranges)]
    lower: dict[Partition, tuple[int, int]] = {}
    upper: dict[Partition, tuple[int, int]] = {}
    left = total // 2
    for partition, (start, end) in ranges.items():
        cut = min(end, start + left)
        left -= cut - start
        if start < cut:
            lower[partition] = start, cut
        if cut < end:
            upper[partition] = cut, end
    return [lower, upper]


def summary(moved: Mapping[Partition, tuple[int, int]]) -> str:
    """The ranges in words, at most five of them."""
    ranges = [f"{t}-{p} offsets {first} to {end - 1}" for (t, p), (first, end) in sorted(moved.items())]
    return ", ".join(ranges[:5]) + (f" and {len(ranges) - 5} more partitions" if len(ranges) > 5 else "")
