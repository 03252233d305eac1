"""Which part of a cluster's work is whose: pure arithmetic that every worker does alike (docs/decisions/0008).

The group deals out slots (`headrace.kafka.membership`); each connector instance and each task belongs to one slot by its name.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Assignment:
    """This worker's part."""

    slots: frozenset[int]
    """Those that it has, of `count` in all."""
    count: int
    generation: int
    """Of the group, for statuses."""

    @property
    def leads(self) -> bool:
        """Whether this worker is the leader: the one with the last slot, which Kafka's sticky assignor moves last."""
        return self.count - 1 in self.slots

    def json(self) -> dict[str, int]:
        """As the REST API shows it."""
        return {"slots": len(self.slots), "slot_count": self.count, "generation": self.generation}

    def has_connector(self, name: str) -> bool:
        """Whether the connector's instance runs here."""
        return slot(name, None, self.count) in self.slots

    def tasks(self, name: str, total: int) -> frozenset[int]:
        """Which of the connector's tasks 0 … total-1 run here."""
        return frozenset(task for task in range(total) if slot(name, task, self.count) in self.slots)


EVERYTHING = Assignment(frozenset([0]), 1, 0)
"""The share of a worker that is alone."""

NOTHING = Assignment(frozenset(), 1, -1)
"""The share of a worker that is no member."""


def slot(connector: str, task: int | None, count: int) -> int:
    """The slot of a connector's instance (task None), or of one of its tasks; tasks of one connector are spread."""
    first = zlib.crc32(connector.encode("utf-8", "surrogatepass"))
    return (first if task is None else first + 7 * (task + 1)) % count
