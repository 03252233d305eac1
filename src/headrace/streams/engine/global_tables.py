"""Global tables: all rows of a topic, the same for all tasks; loaded before the start, updated between batches."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

import structlog

from headrace.sql_functions import F
from headrace.streams.engine.changelog import Changelog
from headrace.streams.engine.cluster import Cluster
from headrace.streams.engine.columns import kind_of
from headrace.streams.engine.flows import Records
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.registry_formats import with_schema_lookup
from headrace.streams.engine.source import RAW, Ranges, SourceReader
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.nodes import SourceNode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.streams.stores import StateStore

log = structlog.get_logger(__name__)


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
        """Load new records; all of them again if the topic was deleted and created again."""
        with self._lock:
            ends = self._cluster.offsets(self._partitions, "latest")
            recreated = [p for p, position in self._positions.items() if ends.get(p, position) < position]
            if recreated:
                log.warning(
                    "%s-%d ends at offset %d, but has been read up to %d: it was created again, or records were lost. The global "
                    "table is loaded again.",
                    *recreated[0], ends[recreated[0]], self._positions[recreated[0]],
                )  # fmt: skip
            positions = self._cluster.offsets(self._partitions, "earliest") if recreated else self._positions
            ranges = {p: (start, ends[p]) for p, start in positions.items() if ends.get(p, 0) > start}
            if ranges or recreated:
                with_schema_lookup(lambda: self.table.load(self._changes(ranges, replaces=bool(recreated))))
                self._positions = {**positions, **{p: end for p, (_, end) in ranges.items()}}

    def _changes(self, ranges: Ranges, *, replaces: bool) -> DataFrame:
        """The rows from ranges of offsets. replaces: with deletions of all other rows, so that no reader meets an empty table."""
        spark = self._runtime.spark
        rows = self._rows(self._cluster.read(ranges) if ranges else spark.createDataFrame([], RAW))
        if not replaces:
            return rows
        others = self.table.rows().join(rows.where("v is not null"), "k", "left_anti")
        nothing = F.lit(None).cast(self.table.layout.value).alias("v")
        return rows.where("v is not null").unionByName(others.select(F.lit(0).alias("p"), "k", nothing, "t"))

    def close(self) -> None:
        """Close the runtime."""
        self._runtime.close()

    def _rows(self, raw: DataFrame) -> DataFrame:
        records = cast(Records, self._source_reader.flow(self._source, raw))
        latest = (
            records.frame.where("k is not null").groupBy("k").agg(F.max_by(F.struct("v", "t"), F.struct("p", "o")).alias("x"))
        )
        return latest.select(F.lit(0).alias("p"), "k", F.col("x.v").alias("v"), F.col("x.t").alias("t"))
