"""The log of a streaming query is written without a process of its own for each file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.runtime.query_run import batch_offsets, begin_after
from tests.support import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_the_log_has_its_entries_and_no_checksums(spark: SparkSession, tmp_path: Path) -> None:
    found: dict[int, str] = {}

    def batch(frame: DataFrame, number: int) -> None:
        found[number] = batch_offsets(tmp_path, number)  # here, as a run does: Spark keeps the entries of two batches only

    begin_after(tmp_path, '{"offset":0,"timestamp":0}')
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    query = rows.writeStream.foreachBatch(batch).option("checkpointLocation", str(tmp_path)).start()
    try:
        wait_until(lambda: 4 in found or not query.isActive, 240, "five batches")
        assert query.isActive, query.exception()
    finally:
        query.stop()
    assert json.loads(found[4])["offset"] == 15  # three batches of five rows: 0 and 1 are what begin_after wrote
    # Hadoop's own way would have written a checksum beside each, and run two processes for each of these files.
    assert [path for path in tmp_path.rglob("*") if path.name.endswith(".crc")] == []
