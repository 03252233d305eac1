"""Events of a task that its metrics are computed from. Times are epoch ms, durations ms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StateChanged:
    """The task has entered this state (`running`, `paused`, `failed` …)."""

    status: str
    error: str | None = None
    """The error of a failed task, without secrets."""
    restarts: bool = False
    """Whether the failed task will be restarted automatically."""


@dataclass(frozen=True)
class Batch:
    """A batch has passed through the task."""

    read: int
    """Records before the chain."""
    written: int
    """Records written to Kafka or to the sink."""
    took_ms: float
    """From its begin until the last record was acknowledged; of a lane see `feed_run.batch_ms`."""
    failed: int = 0
    """Records that failed in the chain."""
    skipped: int = 0
    """Of the failed records, as `logged` and `letters`."""
    logged: int = 0
    letters: int = 0
    """Written to the dead letter topic."""


@dataclass(frozen=True)
class Committed:
    """The offsets of a batch were stored, or could not be."""

    ok: bool
    """Whether they were stored."""
    took_ms: float


@dataclass(frozen=True)
class Transactional:
    """A batch was committed in transactions (KIP-618)."""

    sizes: tuple[int, ...]
    """The number of records of each transaction."""


@dataclass(frozen=True)
class InFlight:
    """State of a feed in its lane."""

    bytes: int
    """Handed to the producer and not acknowledged."""
    paused: bool
    """Whether flow control pauses the feed now."""
    paused_ms: int
    """Since the last such event."""
    latency: tuple[int, ...]
    """Since the last such event: a histogram by `headrace.spark.feeds.LATENCY_BOUNDS_MS`, from timestamp to acknowledgement."""
    read_bytes: int = 0
    """Keys and values that were read since the last such event."""


@dataclass(frozen=True)
class Retried:
    """A retriable error interrupted the task, which resumes at its stored offsets; or plugins in Java were retried."""

    times: int = 1


@dataclass(frozen=True)
class Assigned:
    """The number of partitions assigned to a sink task."""

    partitions: int


@dataclass(frozen=True)
class Lost:
    """The source has lost a range of a partition."""

    records: int
    """0 if their number is not known."""


@dataclass(frozen=True)
class ModeChosen:
    """The task's stream runs in this mode, for this reason."""

    mode: str
    """`microbatch` or `realtime`."""
    reason: str


Event = StateChanged | Batch | Committed | Transactional | InFlight | Retried | Assigned | Lost | ModeChosen
