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
    logged: int = 0
    letters: int = 0
    """`skipped`, `logged`, `letters`: how many of the failed records were skipped, logged, and written to the dead letter topic.
    """


@dataclass(frozen=True)
class Committed:
    """The offsets of a batch were stored, or could not be."""

    ok: bool
    took_ms: float


@dataclass(frozen=True)
class Transactional:
    """A batch was committed in transactions; `sizes` are their numbers of records (KIP-618)."""

    sizes: tuple[int, ...]


@dataclass(frozen=True)
class InFlight:
    """State of a feed in its lane: bytes handed to the producer and not acknowledged, and whether flow control pauses it.

    Since the last such event: the pause in ms, a histogram of latencies from record timestamp to acknowledgement
    (`headrace.spark.feeds.LATENCY_BOUNDS_MS`), and the bytes of keys and values that were read.
    """

    bytes: int
    paused: bool
    paused_ms: int
    latency: tuple[int, ...]
    read_bytes: int = 0


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
    """The source has lost a range of a partition; `records` is 0 if their number is unknown."""

    records: int


@dataclass(frozen=True)
class ModeChosen:
    """The task's stream runs in this mode, `microbatch` or `realtime`, for this reason."""

    mode: str
    reason: str


Event = StateChanged | Batch | Committed | Transactional | InFlight | Retried | Assigned | Lost | ModeChosen
