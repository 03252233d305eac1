"""How old the oldest record is that a task has still to deliver: `(freshness, positions) -> freshness`. Pure.

Estimated from the ends of logs that are asked for anyway, so that no record is read: a record is at least as old as the first
poll that saw its partition end behind it. A record that was there before the first poll counts from that poll on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headrace.kafka.delivered_position import DeliveredPosition

_MOST_ENDS = 64
"""Ends kept of a partition; of more, every second one is forgotten."""


@dataclass(frozen=True)
class _SeenEnd:
    """An end of a log, and the first poll (epoch ms) that saw it."""

    offset: int
    seen_ms: int


@dataclass(frozen=True)
class Freshness:
    """The ends of logs that polls have seen and that are not yet delivered up to, oldest first, by partition."""

    ends: Mapping[str, Sequence[_SeenEnd]] = field(default_factory=dict)
    known: bool = False
    """Whether the last poll was answered."""

    def updated(self, positions: Mapping[str, DeliveredPosition] | None, now_ms: int) -> Freshness:
        """Add a poll. positions: by partition; None: they are not known now."""
        if positions is None:
            return Freshness(self.ends, known=False)
        return Freshness({name: _ends(self.ends.get(name, ()), position, now_ms) for name, position in positions.items()}, True)

    def age_ms(self, now_ms: int) -> int | None:
        """How long the oldest record that is not delivered has been there; 0 if all are; None if that is not known."""
        if not self.known:
            return None
        return max((now_ms - ends[0].seen_ms for ends in self.ends.values() if ends), default=0)


def _ends(seen: Sequence[_SeenEnd], position: DeliveredPosition, now_ms: int) -> Sequence[_SeenEnd]:
    """The ends of one partition after a poll."""
    if seen and position.end < seen[-1].offset:
        seen = ()  # another topic of the same name
    left = [end for end in seen if end.offset > position.next]
    if position.behind and (not left or position.end > left[-1].offset):
        left.append(_SeenEnd(position.end, now_ms))
    return left if len(left) <= _MOST_ENDS else [left[0], *left[1:-1:2], left[-1]]
