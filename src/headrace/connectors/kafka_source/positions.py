"""Where a task begins to read each of its partitions: pure decisions, and the sentences about what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Partition = tuple[str, int]


@dataclass(frozen=True)
class Start:
    """The outcome for a set of partitions.

    positions: first offset to read; looked_up: those that follow from `latest`, to be stored before anything is read, so that a
    crash before the first batch does not look up a later end; lost: (partition, first, last) ranges that were to be copied and
    are no longer in the log; beyond: (partition, position, end) of positions after the end, as of a topic that was made anew;
    missing: partitions that do not exist in the source cluster now.
    """

    positions: Mapping[Partition, int]
    looked_up: tuple[Partition, ...] = ()
    lost: tuple[tuple[Partition, int, int], ...] = ()
    beyond: tuple[tuple[Partition, int, int], ...] = ()
    missing: tuple[Partition, ...] = ()


def decide(
    partitions: list[Partition],
    stored: Mapping[Partition, int],
    log: Mapping[Partition, tuple[int, int]],
    reset: str,
) -> Start:
    """Where to begin.

    stored: offset of the last record copied, by partition; log: first and end offset that the source has now, by partition (those
    that do not exist are absent); reset: `earliest` or `latest`, for partitions without a stored offset and for stored offsets
    outside of the log, as a consumer's `auto.offset.reset` (KIP-310: the stored offset is where reading goes on, after it).
    """
    positions: dict[Partition, int] = {}
    looked_up, lost, beyond, missing = [], [], [], []
    for partition in partitions:
        if partition not in log:
            missing.append(partition)
            continue
        first, end = log[partition]
        wanted = stored[partition] + 1 if partition in stored else None
        if wanted is not None and first <= wanted <= end:
            positions[partition] = wanted
            continue
        if wanted is not None and wanted < first:
            lost.append((partition, wanted, first - 1))
        elif wanted is not None:
            beyond.append((partition, wanted, end))
        positions[partition] = first if reset == "earliest" else end
        if reset == "latest":
            looked_up.append(partition)
    return Start(positions, tuple(looked_up), tuple(lost), tuple(beyond), tuple(missing))
