"""Translates offsets of the source to offsets of the target, by known pairs (KIP-382, KAFKA-14666). Pure.

Of each partition 64 pairs are kept, which lie the farther apart the older they are: entry i is at most 2^i records behind the
newest one. An offset that lies behind a pair is translated to one past it, whatever the distance: how many of the records
between them are in the target is not known, and none may be skipped. So translation never says too much; it may say too little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headrace.connectors.mirror.formats import Checkpoint, OffsetSync
from headrace.connectors.mirror.policies import DefaultPolicy
from headrace.kafka.groups import CommittedOffset, Partition

PAIRS = 64
TOO_OLD = -1
"""Translation of an offset before the oldest pair."""


class Translations:
    """The pairs of all partitions of one flow."""

    def __init__(self, only_newest: bool = True) -> None:
        """only_newest: of the pairs that are there before `ready`, only each partition's last one counts: translations of an
        earlier process, which are not known, may have used the others.
        """
        self._only_newest, self._ready = only_newest, False
        self._syncs: dict[Partition, list[OffsetSync]] = {}

    def ready(self) -> None:
        """All pairs that were there at the start have been added: from now on, offsets are translated."""
        self._ready = True

    def add(self, sync: OffsetSync) -> None:
        """Take a pair, in the order of their topic."""
        partition = (sync.topic, sync.partition)
        syncs = self._syncs.get(partition)
        if syncs is None or (not self._ready and self._only_newest) or sync.upstream < syncs[0].upstream:
            self._syncs[partition] = [sync] * PAIRS
        else:
            self._syncs[partition] = _updated(syncs, sync)

    def at(self, partition: Partition, offset: int) -> OffsetSync | None:
        """The pair that an offset is translated by: the last one that is not behind it."""
        return next((sync for sync in self._syncs.get(partition, []) if sync.upstream <= offset), None)

    def translate(self, partition: Partition, offset: int) -> int | None:
        """The offset in the target to continue at after having read everything before `offset`.

        TOO_OLD if it lies before every pair; None if there is no pair, or not all have been read yet.
        """
        if not self._ready or partition not in self._syncs:
            return None
        sync = self.at(partition, offset)
        if sync is None:
            return TOO_OLD
        return sync.downstream + (0 if offset == sync.upstream else 1)


def _updated(original: list[OffsetSync], sync: OffsetSync) -> list[OffsetSync]:
    """The pairs with a newer one: entries that have become too old for their place are replaced by the next newer that fits."""
    syncs = list(original)
    replacement, at = sync, 0
    syncs[0] = sync
    for current in range(1, PAIRS):
        while True:
            old = original[at]
            apart = _apart(syncs[current - 1], old, current - 1)
            from_next = current + 1 >= PAIRS or _apart(old, syncs[current + 1], current)
            promoted = _recent(syncs[current - 1], old, current - 1, current) and apart and from_next
            skipped = (at + 1 < PAIRS and old is original[at + 1]) or not apart
            replacement = old if promoted else replacement
            at += promoted or skipped
            if not (at < current and skipped):
                break
        if _recent(syncs[current - 1], syncs[current], current - 1, current):
            break
        syncs[current] = replacement
    return syncs


def _recent(sync: OffsetSync, later: OffsetSync, i: int, j: int) -> bool:
    """Whether `other`, at entry j, is near enough to `sync` at entry i."""
    return sync is later or sync.upstream <= later.upstream + (1 << j) - (1 << i)


def _apart(sync: OffsetSync, later: OffsetSync, i: int) -> bool:
    """Whether `other` is far enough from `sync`, at entry i, to be worth its place."""
    return sync is later or sync.upstream >= later.upstream + (1 << max(i - 2, 0))


@dataclass(frozen=True)
class Naming:
    """How a topic of the source is called in the target."""

    policy: DefaultPolicy
    source: str
    """The alias of the source."""
    target: str
    """The alias of the target."""

    def downstream(self, topic: str) -> str:
        """The name in the target; of a topic that came from there, the one that it has there."""
        if self.policy.source(topic) == self.target:
            return self.policy.original(topic)
        return self.policy.remote(self.source, topic)


def checkpoints(
    group: str, committed: Mapping[Partition, CommittedOffset], translations: Translations, naming: Naming
) -> dict[Partition, Checkpoint]:
    """The checkpoints of a group's committed offsets (by partition of the source), by partition of the target.

    They keep the texts beside the offsets: Kafka Streams finds the time of its partitions in them.
    Partitions whose offset cannot be translated are left out.
    """
    checkpoints: dict[Partition, Checkpoint] = {}
    for (topic, partition), (offset, metadata) in committed.items():
        downstream = translations.translate((topic, partition), offset)
        if downstream is not None and downstream != TOO_OLD:
            remote = naming.downstream(topic)
            checkpoints[remote, partition] = Checkpoint(group, remote, partition, offset, downstream, metadata)
    return checkpoints


def has_changed(checkpoint: Checkpoint, last: Checkpoint | None) -> bool:
    """Whether a checkpoint is to be written after the last one: it goes forward, or the group has gone back in the source."""
    return last is None or checkpoint.upstream < last.upstream or checkpoint.downstream > last.downstream


def forward(
    checkpoints: Mapping[Partition, Checkpoint], committed: Mapping[Partition, CommittedOffset]
) -> dict[Partition, CommittedOffset]:
    """The offsets of a group to commit in the target: where they are beyond what it has committed there."""
    return {
        p: CommittedOffset(c.downstream, c.metadata)
        for p, c in checkpoints.items()
        if p not in committed or c.downstream > committed[p].offset
    }
