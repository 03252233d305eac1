"""The assignment of connectors and tasks to workers: pure arithmetic, equal on every worker (docs/decisions/0008).

The group assigns slots to workers (`headrace.kafka.membership`); each connector instance and each task belongs to one slot by
its name.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Assignment:
    """The slots assigned to this worker."""

    slots: frozenset[int]
    """Its slots, of `count` in all."""
    count: int
    """Of the whole group."""
    generation: int
    """Generation of the group, for statuses."""

    @property
    def leads(self) -> bool:
        """Whether this worker is the leader: the one with the last slot, which Kafka's sticky assignor moves last."""
        return self.count - 1 in self.slots

    def json(self) -> dict[str, int]:
        """The body of the assignment in the REST API."""
        return {"slots": len(self.slots), "slot_count": self.count, "generation": self.generation}

    def has_connector(self, name: str) -> bool:
        """Whether the connector's instance runs here."""
        return slot(name, None, self.count) in self.slots

    def tasks(self, name: str, total: int) -> frozenset[int]:
        """Which of the connector's tasks 0 … total-1 run here."""
        return frozenset(task for task in range(total) if slot(name, task, self.count) in self.slots)


EVERYTHING = Assignment(frozenset([0]), 1, 0)
"""The assignment of a standalone worker."""

NOTHING = Assignment(frozenset(), 1, -1)
"""The assignment of a worker that is not a member of the group."""


def slot(connector: str, task: int | None, count: int) -> int:
    """The slot of a connector's instance (task None), or of one of its tasks; tasks of one connector are spread."""
    first = zlib.crc32(connector.encode("utf-8", "surrogatepass"))
    return (first if task is None else first + 7 * (task + 1)) % count


def slot_count(partitions: int, announced: int | None) -> int:
    """How many slots the group uses, of a topic with this many partitions.

    announced: what the group's leader has published. Workers with different numbers would run a connector twice, or nowhere, so
    partitions that are added to the topic are not used as long as the group remembers the number before.
    """
    return min(announced or partitions, partitions)
