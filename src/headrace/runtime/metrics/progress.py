"""Detects a stalled task, which commits nothing while its lag grows: `(progress, observation) -> progress`. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

STALLED_MS = 60_000
"""Time without stored offsets and with a growing lag after which a task counts as stalled: several commit intervals."""


@dataclass(frozen=True)
class CommitProgress:
    """Observations of a task since it last stored offsets; times are epoch ms."""

    since_ms: int
    """When offsets were stored last, the task was first seen running, or the lag was last as small as `least`."""
    commits: float = 0
    """How often offsets had been stored by then."""
    least: int | None = None
    """The smallest lag since offsets were stored last; None: not known yet."""
    lag: int | None = None
    """The last observed lag."""
    running: bool = False
    """Whether the task was, at the last observation."""

    def updated(self, commits: float, lag: int | None, running: bool, now_ms: int) -> CommitProgress:
        """Add an observation. commits: total number of commits; lag: None if unknown."""
        if commits != self.commits or not running or not self.running:
            return CommitProgress(now_ms, commits, lag, lag, running)
        if lag is None:
            return self
        if self.least is None or lag <= self.least:  # idle, or reading: the lag has to grow from here on
            return replace(self, since_ms=now_ms, least=lag, lag=lag)
        return replace(self, lag=lag)

    def stalled_ms(self, now_ms: int) -> int:
        """How long the lag has grown without a commit; 0 if it has not, or not for STALLED_MS yet."""
        grown = self.lag is not None and self.least is not None and self.lag > self.least
        length = now_ms - self.since_ms
        return length if grown and length >= STALLED_MS else 0
