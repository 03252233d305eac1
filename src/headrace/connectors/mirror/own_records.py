"""Records that a connector itself produces, few and small, as a DataFrame for delivery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from headrace.connectors.base import Poll, Progress
from headrace.record import RecordColumns
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST = 2000
"""How many records go into one batch."""


class OwnRecords(Protocol):
    """A record of one of MirrorMaker's topics (`formats`)."""

    def key(self) -> bytes: ...  # noqa: D102
    def value(self) -> bytes: ...  # noqa: D102


def poll(spark: SparkSession, topic: str, records: Sequence[tuple[dict[str, Any], OwnRecords]], now_ms: int) -> Poll:
    """A batch for partition 0 of a topic: each record with its source partition, whose offset is always 0, and a timestamp."""
    rows = ", ".join(f"(X'{record.key().hex()}', X'{record.value().hex()}')" for _, record in records)
    frame = spark.sql(f"SELECT key, value FROM VALUES {rows} AS records(key, value)")
    record = RecordColumns(
        topic=F.lit(topic), key=frame["key"], value=frame["value"],
        timestamp=F.timestamp_millis(F.lit(now_ms)), partition=F.lit(0),
    )  # fmt: skip
    progress = Progress(
        [(where, {"offset": 0}) for where, _ in records], frozenset([topic]), f"{len(records)} records for {topic}"
    )
    return Poll(frame, record, progress, lambda _topic: topic)
