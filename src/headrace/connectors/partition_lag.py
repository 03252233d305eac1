"""How far a connector is behind its source, by partition, which its class can determine on any worker."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartitionLag:
    """The lag of one partition of the source; None: unknown."""

    topic: str
    partition: int
    task: int | None
    """The number of the task that copies it; None: none does now."""
    offset: int | None
    """Offset of the last delivered record, as stored."""
    end_offset: int | None
    """The one after the last record that can be read."""
    lag: int | None
    """Records in between."""
    timestamp: int | None = None
    """Timestamp of the record at `offset`, in epoch ms."""
    freshness_ms: int | None = None
    """The age of the oldest record that is not delivered yet, 0 if all are."""
