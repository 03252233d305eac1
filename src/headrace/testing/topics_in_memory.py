"""Topics without a broker, for `TopologyTestDriver`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.streams.engine.columns import union
from headrace.streams.engine.source import RAW, Partition, Ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = tuple[str, int, int, int, bytes | None, bytes | None, list[tuple[str, bytes]] | None]


class TopicsInMemory:
    """Topics of one partition each, with the committed offsets of their one reader."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.rows: dict[str, list[Row]] = {}
        self.offsets_committed: dict[Partition, tuple[int, str]] = {}

    def append(self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Any = None) -> None:
        """Add a record."""
        rows = self.rows.setdefault(topic, [])
        rows.append((topic, 0, len(rows), timestamp, key, value, headers))

    def read(self, ranges: Ranges) -> DataFrame:
        """Records of ranges of offsets."""
        return self._spark.createDataFrame([row for (t, _), (a, b) in ranges.items() for row in self.rows[t][a:b]], RAW)

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Add what a batch made."""
        frames = list(rows)
        if not frames:
            return
        for row in union(frames).collect():
            headers = [(h["key"], bytes(h["value"])) for h in row["headers"] or []]
            if row["numbered"]:
                headers.append(("b", number.to_bytes(8, "big")))
            self.append(row["topic"], as_bytes(row["key"]), as_bytes(row["value"]), row["t"], headers)

    def offsets(self, partitions: Iterable[Partition], which: str) -> dict[Partition, int]:
        """Earliest or latest offsets."""
        return {p: 0 if which == "earliest" else len(self.rows.get(p[0], [])) for p in partitions}

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, tuple[int, str]]:
        """Committed offsets with their notes."""
        return {p: self.offsets_committed[p] for p in partitions if p in self.offsets_committed}

    def commit(self, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        """Commit offsets with notes."""
        self.offsets_committed.update(offsets)


def as_bytes(value: Any) -> bytes | None:
    """What Spark gives as a bytearray."""
    return None if value is None else bytes(value)
