"""Whether a task makes no progress while its lag grows: `(progress, what is seen now) -> progress`. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

STALLED_MS = 60_000
"""How long no offset is stored, with a lag that grows, before the task counts as stalled: several times what storing may take."""


@dataclass(frozen=True)
class CommitProgress:
    """What was seen of a task since it last stored offsets; times are epoch ms."""

    since_ms: int
    """When offsets were stored last, the task was first seen running, or the lag was last as small as `least`."""
    commits: float = 0
    """How often offsets had been stored by then."""
    least: int | None = None
    """The smallest lag since offsets were stored last; None: not known yet."""
    lag: int | None = None
    """The lag that was seen last."""
    running: bool = False

    def updated(self, commits: float, lag: int | None, running: bool, now_ms: int) -> CommitProgress:
        """Take what is so now. commits: how often offsets were stored in all; lag: None where it is not known now."""
        if commits != self.commits or not running or not self.running:
            return CommitProgress(now_ms, commits, lag, lag, running)
        if lag is None:
            return self
        if self.least is None or lag <= self.least:  # idle, or reading: the lag has to grow from here on
            return replace(self, since_ms=now_ms, least=lag, lag=lag)
        return replace(self, lag=lag)

    def stalled_ms(self, now_ms: int) -> int:
        """For how long the lag has been larger than before and nothing was stored; 0 if not, or not for STALLED_MS yet."""
        grown = self.lag is not None and self.least is not None and self.lag > self.least
        length = now_ms - self.since_ms
        return length if grown and length >= STALLED_MS else 0
