"""Global tables: all rows of a topic, the same for all tasks; loaded before the start, updated between batches."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from headrace.streams.engine.changelog import Changelog
from headrace.streams.engine.cluster import Cluster
from headrace.streams.engine.columns import kind_of
from headrace.streams.engine.flows import Records
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.registry_formats import with_schema_lookup
from headrace.streams.engine.source import RAW, SourceReader
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.nodes import SourceNode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.streams.stores import StateStore


class GlobalTable:
    """The rows of a global table, under task 0."""

    def __init__(
        self, source: SourceNode, source_reader: SourceReader, cluster: Cluster, partitions: int, store: StateStore
    ) -> None:
        """Load the topic. Raises StreamsError."""
        self._source, self._source_reader, self._cluster = source, source_reader, cluster
        self._partitions = [(source.topics[0], p) for p in range(partitions)]
        self._runtime = cluster.runtime(1)
        frame = self._rows(self._runtime.spark.createDataFrame([], RAW))
        layout = Layout((("k", kind_of(frame, "k")),), kind_of(frame, "v"))
        self.table = StoreTable(self._runtime, store.name, Changelog.of(store.name, store, layout))
        self._positions = cluster.offsets(self._partitions, "earliest")
        self._lock = threading.Lock()
        self.update()

    def update(self) -> None:
        """Load new records."""
        with self._lock:
            ends = self._cluster.offsets(self._partitions, "latest")
            ranges = {p: (start, ends[p]) for p, start in self._positions.items() if ends.get(p, 0) > start}
            if ranges:
                with_schema_lookup(lambda: self.table.load(self._rows(self._cluster.read(ranges))))
                self._positions.update({p: end for p, (_, end) in ranges.items()})

    def close(self) -> None:
        """Close the runtime."""
        self._runtime.close()

    def _rows(self, raw: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        records = cast(Records, self._source_reader.flow(self._source, raw, 0))
        latest = (
            records.frame.where("k is not null")
            .groupBy("k")
            .agg(F.max_by(F.struct("v", "t"), F.struct("t", "p", "o")).alias("x"))
        )
        return latest.select(F.lit(0).alias("p"), "k", F.col("x.v").alias("v"), F.col("x.t").alias("t"))
