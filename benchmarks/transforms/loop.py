"""headrace's compiled chain in a loop: the counterpart of ChainLoop.java, with the same arguments and the same output.

`python -m benchmarks.transforms.loop PROPERTIES FILE CORES WARM_UP ROUNDS`. The records are a cached DataFrame; every pass
and round is one Spark job over all of them, into the sink that keeps nothing.
"""

from __future__ import annotations

import base64
import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.cpu import tree_seconds
from benchmarks.transforms.loops import HEAP, JVM
from headrace.converters.base import load, load_header
from headrace.record import HEADERS_TYPE
from headrace.spark.session import session
from headrace.transforms.chain import Converters, compile_chain
from headrace.transforms.stages import stages

PARTITIONS_PER_CORE = 4  # so that the cores finish together
SAMPLES = 20  # as in ChainLoop.java


def main(arguments: list[str]) -> None:
    """Run the loop and print a line per pass and round, then the samples."""
    properties, data, cores, warm_up, rounds = Path(arguments[0]), arguments[1], *map(int, arguments[2:])
    config = dict(line.split("=", 1) for line in properties.read_text().splitlines())
    options = {"spark.driver.memory": HEAP.lower(), "spark.driver.extraJavaOptions": " ".join(JVM)}
    spark = session({"spark.master": f"local[{cores}]", **options})
    given = source(spark, data).repartition(PARTITIONS_PER_CORE * cores).persist(StorageLevel.MEMORY_ONLY)
    records = given.count()
    chain = transformed(given, config)
    # Not part of the rounds: what is written is the same in each.
    total = chain.agg(F.count("*"), F.sum(F.length("value"))).first()
    assert total
    for number in range(warm_up + rounds):
        cpu, start = tree_seconds(os.getpid()), time.monotonic()
        chain.write.format("noop").mode("overwrite").save()
        seconds, cpu = time.monotonic() - start, tree_seconds(os.getpid()) - cpu
        kind = "warm-up" if number < warm_up else "round"
        print(f"{kind} records={records} seconds={seconds} process_cpu={cpu} out={total[0]} bytes={total[1]}", flush=True)
    for row in transformed(given.where(F.col("offset") < SAMPLES), config).select("value").collect():
        print(f"sample {base64.b64encode(row[0]).decode()}", flush=True)
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()  # so that its CPU time is that of a child of ours, and not of somebody else


def transformed(frame: DataFrame, config: dict[str, str]) -> DataFrame:
    """The records after the chain of a configuration, by its converters."""
    value = {k.removeprefix("value.converter."): v for k, v in config.items() if k.startswith("value.converter.")}
    keys = load("org.apache.kafka.connect.converters.ByteArrayConverter", {}, is_key=True)
    values = load(config["value.converter"], value, is_key=False)
    converters = Converters(keys, values, load_header("org.apache.kafka.connect.storage.SimpleHeaderConverter", {}))
    incoming = frame.selectExpr(
        "topic AS in_topic", "partition AS in_partition", "offset AS in_offset", "unix_millis(timestamp) AS in_timestamp",
        "key AS in_key", "value AS in_value", "headers AS in_headers",
    )  # fmt: skip
    schemas = {}
    new = values.schema_in("in_value", [])
    if new is not None:
        row = incoming.selectExpr(f"{new} AS schema").selectExpr("collect_set(schema) AS schemas").first()
        schemas["value"] = row["schemas"] if row else []
    while True:
        chain = compile_chain(stages(config), converters, converters, schemas)
        wanted = (
            chain.apply(incoming).selectExpr(f"collect_set({chain.request_columns['value']})").first()
            if chain.request_columns
            else None
        )
        if wanted is None or not wanted[0]:
            return chain.apply(incoming)
        values.learn(wanted[0])


def source(spark: SparkSession, data: str) -> DataFrame:
    """Return the records of a file with the columns of `headrace.spark.kafka.read_stream`."""
    part = F.split("value", "\t")

    def column(number: int, type_: str) -> Column:
        return part[number].cast(type_)

    return spark.read.text(data).select(
        column(4, "binary").alias("key"),
        F.unbase64(part[5]).alias("value"),
        part[0].alias("topic"),
        column(1, "int").alias("partition"),
        column(2, "long").alias("offset"),
        F.timestamp_millis(column(3, "long")).alias("timestamp"),
        F.lit(0).alias("timestampType"),
        F.lit(None).cast(HEADERS_TYPE).alias("headers"),
    )


if __name__ == "__main__":
    main(sys.argv[1:])
