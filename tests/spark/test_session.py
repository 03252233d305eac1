"""The session of a worker with many tasks."""

from __future__ import annotations

import select
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_many_queries_may_call_into_python_at_the_same_time(spark: SparkSession) -> None:
    server = spark.sparkContext._gateway._callback_server  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
    address = server.server_socket.getsockname()
    calls = [socket.socket() for _ in range(100)]
    try:
        for call in calls:
            call.setblocking(False)
            call.connect_ex(address)
        waiting = set(calls)
        while waiting and (connected := select.select([], waiting, [], 0.8)[1]):  # what is dropped comes again after a second
            waiting -= set(connected)
        assert not waiting
    finally:
        for call in calls:
            call.close()
