"""Writes all results of a batch at once: records of sinks and repartition topics, and rows of changelogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from headrace.spark import failure
from headrace.spark.kafka import TIMESTAMP_HEADER, write
from headrace.streams.engine.changelog import BATCH
from headrace.streams.engine.columns import HEADERS, union

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = ("topic", "partition", "key", "value", "headers", "t", "numbered")


class BatchWriter:
    """Writes to the application's cluster."""

    def __init__(self, producer: Mapping[str, str]) -> None:
        """producer: Java producer settings."""
        self._producer = dict(producer)

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Write and wait until everything is acknowledged; rows: of `COLUMNS`; number: of the batch, in changelogs.

        Raises ConnectError, RetriableError where another try may help.
        """
        frames = list(rows)
        if not frames:
            return
        try:
            write(with_record_headers(union(frames), number), self._producer)
        except Exception as error:
            raise failure.as_error(error, "The results of a batch could not be written") from error


def with_record_headers(frame: DataFrame, number: int) -> DataFrame:
    """The columns that a producer takes, from `COLUMNS`: with the time as last header, and the batch's number in changelogs."""
    from pyspark.sql import functions as F

    # As bytes, because a number would be part of the code that Spark compiles, again for every batch.
    batch = F.struct(F.lit(BATCH).alias("key"), F.lit(number.to_bytes(8, "big")).alias("value"))
    stamp = F.struct(F.lit(TIMESTAMP_HEADER).alias("key"), F.col("t").cast("string").cast("binary").alias("value"))
    headers = F.coalesce(F.col("headers"), F.expr(f"cast(array() as {HEADERS})"))
    numbered_headers = F.when(F.col("numbered"), F.concat(headers, F.array(batch))).otherwise(headers)
    return frame.select("topic", "partition", "key", "value", F.concat(numbered_headers, F.array(stamp)).alias("headers"))
