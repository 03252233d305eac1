"""Whether two topics hold the same records: counts and a checksum over key, value, headers and timestamp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Checksum:
    """The records of a topic."""

    records: int
    hash: str
    """The sum of their 64-bit hashes, so that their order does not matter; 16 hexadecimal digits."""


def checksum(spark: SparkSession, bootstrap: str, topic: str) -> Checksum:
    """Read a whole topic with Spark and add up xxhash64(key, value, headers, timestamp) of its records."""
    frame = (
        spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic)
        .option("startingOffsets", "earliest").option("endingOffsets", "latest").option("includeHeaders", "true").load()
    )  # fmt: skip
    row_hash = F.xxhash64("key", "value", "headers", "timestamp").cast("decimal(38,0)")
    row = frame.agg(F.count(F.lit(1)).alias("records"), F.sum(row_hash).alias("hash")).first()
    assert row is not None  # an aggregate without groups has one row
    return Checksum(row["records"], f"{int(row['hash'] or 0) & 0xFFFFFFFFFFFFFFFF:016x}")
