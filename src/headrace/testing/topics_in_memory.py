"""Topics without a broker, for `TopologyTestDriver`."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.kafka.groups import Partition
from headrace.kafka.reset_policy import BY_DURATION, reset_ms
from headrace.streams.engine.columns import union
from headrace.streams.engine.runtime import StreamBatch, TaskRuntime
from headrace.streams.engine.source import RAW, Ranges
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headrace.streams.engine.cluster import BatchTransactions

Row = tuple[str, int, int, int, bytes | None, bytes | None, list[tuple[str, bytes]] | None]


class TopicsInMemory:
    """Topics of one partition each, with the committed offsets of their one reader."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.rows: dict[str, list[Row]] = {}
        self.offsets_committed: dict[Partition, tuple[int, str]] = {}

    def append(self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Any = None) -> None:
        """Add a record."""
        rows = self.rows.setdefault(topic, [])
        rows.append((topic, 0, len(rows), timestamp, key, value, headers))

    def runtime(self, partitions: int) -> TaskRuntime:
        """What a sub-topology has in Spark's JVM; there is one partition."""
        return TaskRuntime(self.spark, 1, {}, {}, None)

    def ends(self, runtime: TaskRuntime, inputs: Mapping[str, Mapping[Partition, int]]) -> dict[Partition, int] | None:
        """Nothing is known without `offsets`."""
        return None

    def run(self, runtime: TaskRuntime, batch: StreamBatch, inputs: Mapping[str, Ranges]) -> None:
        """Compute a batch, and add what it made."""
        for name, ranges in inputs.items():
            rows = [row for (t, _), (a, b) in ranges.items() for row in self.rows.get(t, [])[a:b]]
            runtime.set_input(name, b"".join(map(_packed, rows)))
        runtime.run(batch)
        if not batch.commits:
            self.add_held(runtime, batch.number)

    def add_held(self, runtime: TaskRuntime, number: int | None) -> None:
        """Add what a batch made. number: of the batch, for its changelogs."""
        held = io.BytesIO(runtime.results_bytes())
        while topic := _bytes(held):
            (timestamp,) = struct.unpack(">q", held.read(8))
            key, value = _bytes(held), _bytes(held)
            (count,) = struct.unpack(">i", held.read(4))
            headers = [((_bytes(held) or b"").decode(), _bytes(held)) for _ in range(count)]
            if held.read(1) == b"\x01" and number is not None:
                headers.append(("b", number.to_bytes(8, "big")))
            self.append(topic.decode(), key, value, timestamp, headers)

    def limits(self) -> Mapping[str, int]:
        """They take whatever comes."""
        return {}

    def read(self, ranges: Ranges) -> DataFrame:
        """Records of ranges of offsets."""
        rows = [row for (t, _), (a, b) in ranges.items() for row in self.rows[t][a:b]]
        return self.spark.createDataFrame(rows, RAW).coalesce(1)

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Add what a batch made."""
        frames = list(rows)
        if not frames:
            return
        for row in union(frames).collect():
            headers = [(h["key"], as_bytes(h["value"])) for h in row["headers"] or []]
            if row["numbered"]:
                headers.append(("b", number.to_bytes(8, "big")))
            self.append(row["topic"], as_bytes(row["key"]), as_bytes(row["value"]), row["t"], headers)

    def offsets(self, partitions: Iterable[Partition], policy: str) -> dict[Partition, int]:
        """Offsets by a reset policy."""
        if policy.startswith(BY_DURATION):
            since = now_ms() - reset_ms(policy)
            times = {p: [row[3] >= since for row in self.rows.get(p[0], [])] for p in partitions}
            return {p: new.index(True) if True in new else len(new) for p, new in times.items()}
        return {p: 0 if policy == "earliest" else len(self.rows.get(p[0], [])) for p in partitions}

    def committed(self, partitions: Iterable[Partition]) -> dict[Partition, tuple[int, str]]:
        """Committed offsets with their notes."""
        return {p: self.offsets_committed[p] for p in partitions if p in self.offsets_committed}

    def commit(self, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        """Commit offsets with notes."""
        self.offsets_committed.update(offsets)

    def transactions(self, subtopology: int) -> BatchTransactions | None:
        """None: batches are written at least once."""
        return None


def _packed(row: Row) -> bytes:
    """A record in the form of `RecordBytes.java`."""
    topic, partition, offset, timestamp, key, value, headers = row
    parts = [_with_length(topic.encode()), struct.pack(">iqq", partition, offset, timestamp)]
    parts += [_with_length(key), _with_length(value), struct.pack(">i", -1 if headers is None else len(headers))]
    parts += [part for name, content in headers or () for part in (_with_length(name.encode()), _with_length(content))]
    return b"".join(parts)


def _with_length(content: bytes | None) -> bytes:
    return struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content


def _bytes(stream: io.BytesIO) -> bytes | None:
    """The next text or bytes of `RecordBytes.java`; None as well at the end."""
    (length,) = struct.unpack(">i", stream.read(4) or b"\xff\xff\xff\xff")
    return None if length < 0 else stream.read(length)


def as_bytes(value: Any) -> bytes | None:
    """What Spark gives as a bytearray."""
    return None if value is None else bytes(value)
