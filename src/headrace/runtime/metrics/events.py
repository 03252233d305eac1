"""What happens to a task, as far as it is measured. Times are epoch ms, durations ms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moved:
    """The task is in this state (`running`, `paused`, `failed` …) now."""

    status: str
    error: str | None = None
    """What ended it, without secrets."""


@dataclass(frozen=True)
class Batch:
    """A batch has passed through the task."""

    read: int
    """Records before the chain."""
    written: int
    """Records that came out of it, to Kafka or to the sink."""
    took_ms: float
    """From its begin until the last record was acknowledged."""
    failed: int = 0
    """Records that failed in the chain."""
    skipped: int = 0
    logged: int = 0
    letters: int = 0
    """`skipped`, `logged`, `letters`: how many of these were left out, logged, and written to the dead letter topic."""


@dataclass(frozen=True)
class Committed:
    """The offsets of a batch were stored, or could not be."""

    ok: bool
    took_ms: float


@dataclass(frozen=True)
class Transactional:
    """A batch was committed in transactions of so many records each (KIP-618)."""

    sizes: tuple[int, ...]


@dataclass(frozen=True)
class InFlight:
    """What a lane says of a feed: bytes handed to the producer and not acknowledged, whether flow control pauses it and for how
    many ms it has, and how many records took how long from their timestamp to the acknowledgement
    (`headrace.spark.feeds.LATENCY_BOUNDS_MS`), since the feed was added.
    """

    bytes: int
    paused: bool
    paused_ms: int
    latency: tuple[int, ...]


@dataclass(frozen=True)
class Retried:
    """What may pass interrupted the task, and it begins again at its stored offsets; or plugins in Java were called again."""

    times: int = 1


@dataclass(frozen=True)
class Assigned:
    """A sink task reads this many partitions now."""

    partitions: int


@dataclass(frozen=True)
class Lost:
    """The source has lost a range of so many records of a partition, 0 if nobody knows how many."""

    records: int


@dataclass(frozen=True)
class Streams:
    """The task's stream runs in this mode, `microbatch` or `realtime`, for this reason."""

    mode: str
    reason: str


Event = Moved | Batch | Committed | Transactional | InFlight | Retried | Assigned | Lost | Streams
