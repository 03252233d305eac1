"""Calls from the JVM into Python, in a process with many open files and many queries."""

from __future__ import annotations

import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CALLS, FILES = 50, 1100


@pytest.fixture
def many_files() -> Any:
    """More open files than `select` can tell apart."""
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(FILES)]
    yield
    for number in opened:
        os.close(number)


def test_queries_call_into_python_although_a_thousand_files_are_open(
    spark: SparkSession, many_files: None, tmp_path: Any
) -> None:
    batches: list[int] = []

    def deliver(frame: DataFrame, batch: int) -> None:
        batches.append(batch)

    rate = spark.readStream.format("rate").load()
    query = rate.writeStream.foreachBatch(deliver).option("checkpointLocation", str(tmp_path)).trigger(once=True).start()
    ended = query.awaitTermination(240)
    query.stop()
    assert ended
    assert batches


def test_many_calls_wait_to_be_taken(spark: SparkSession) -> None:
    gateway: Any = spark.sparkContext._gateway
    address = gateway._callback_server.server_socket.getsockname()
    together = threading.Barrier(CALLS)

    def call(_number: int) -> None:
        together.wait(240)
        socket.create_connection(address, timeout=0.8).close()  # what is dropped comes again after a second

    with ThreadPoolExecutor(CALLS) as pool:
        list(pool.map(call, range(CALLS)))
