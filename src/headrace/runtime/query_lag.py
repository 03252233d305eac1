"""The lag of a query, from Spark's own progress reports, without requests to brokers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headrace.spark.kafka import parse_offsets


def source_lag(query: Any) -> Callable[[], dict[str, int] | None]:
    """A function that returns the records that a query (`StreamingQuery`) has still to read, by source partition.

    It returns the last known lag when the query is gone, so that a failed task keeps its lag.
    """
    last: dict[str, int] | None = None

    def lag() -> dict[str, int] | None:
        nonlocal last
        try:
            progress = query.lastProgress
        except Exception:  # Spark is gone
            return last
        lag = behind(progress) if progress else None
        last = last if lag is None else lag
        return last

    return lag


def behind(progress: Mapping[str, Any]) -> dict[str, int] | None:
    """Latest offset minus end offset of each partition, from a query's progress; None if its source does not count records."""
    records: dict[str, int] = {}
    for source in progress["sources"]:
        try:
            latest, end = (parse_offsets(_text(source[key])) for key in ("latestOffset", "endOffset"))
        except (ValueError, TypeError, AttributeError):
            return None
        for topic, offsets in latest.items():
            records |= {f"{topic}-{p}": max(0, offset - end.get(topic, {}).get(p, offset)) for p, offset in offsets.items()}
    return records


def _text(offsets: object) -> str:
    import json

    return offsets if isinstance(offsets, str) else json.dumps(offsets)
