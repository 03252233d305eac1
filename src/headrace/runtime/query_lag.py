"""How far a query has read its source, from Spark's own progress reports, without requests to brokers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headrace.kafka.delivered_position import DeliveredPosition
from headrace.spark.kafka import parse_offsets


def source_positions(query: Any) -> Callable[[], dict[str, DeliveredPosition] | None]:
    """A function that returns how far a query (`StreamingQuery`) has read each source partition.

    It returns the last known positions when the query is gone, so that a failed task keeps its lag.
    """
    last: dict[str, DeliveredPosition] | None = None

    def positions() -> dict[str, DeliveredPosition] | None:
        nonlocal last
        try:
            progress = query.lastProgress
        except Exception:  # Spark is gone
            return last
        current = positions_of(progress) if progress else None
        last = last if current is None else current
        return last

    return positions


def positions_of(progress: Mapping[str, Any]) -> dict[str, DeliveredPosition] | None:
    """End offset and latest offset of each partition, from a query's progress; None if its source does not count records."""
    positions: dict[str, DeliveredPosition] = {}
    for source in progress["sources"]:
        try:
            latest, end = (parse_offsets(_text(source[key])) for key in ("latestOffset", "endOffset"))
        except (ValueError, TypeError, AttributeError):
            return None
        for topic, offsets in latest.items():
            ends = end.get(topic, {})
            positions |= {f"{topic}-{p}": DeliveredPosition(ends.get(p, offset), offset) for p, offset in offsets.items()}
    return positions


def _text(offsets: object) -> str:
    import json

    return offsets if isinstance(offsets, str) else json.dumps(offsets)
