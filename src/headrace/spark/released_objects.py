"""Telling the JVM which of its objects Python no longer refers to, many at a time.

Py4J tells it of each object by itself, and waits for the answer. A plan of Spark is made of thousands of them.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST = 1000
"""Commands sent before their answers are read: what both sides hold in their sockets' buffers."""


def release_in_batches(spark: SparkSession) -> None:
    """Have the thread of Py4J that releases objects take all that wait at once, for the session's gateway."""
    from py4j.clientserver import JavaClient
    from py4j.protocol import ENTRY_POINT_OBJECT_ID, GATEWAY_SERVER_OBJECT_ID

    client: Any = spark.sparkContext._gateway._gateway_client  # pyright: ignore
    if not isinstance(client, JavaClient):
        return
    waiting: Any = client.finalizer_deque
    kept = (ENTRY_POINT_OBJECT_ID, GATEWAY_SERVER_OBJECT_ID)

    def collect(target_id: str, enqueue: bool = True) -> None:
        if enqueue:
            waiting.appendleft((client, target_id))
            return
        ids = [target_id]
        while len(ids) < _MOST and waiting and isinstance(waiting[-1], tuple):  # a text ends the thread
            ids.append(waiting.pop()[1])
        if ids := [object_id for object_id in ids if object_id not in kept]:
            _release(client, ids)

    client.garbage_collect_object = collect  # what Py4J's thread, and the end of a reference, call


def _release(client: Any, ids: list[str]) -> None:
    with contextlib.suppress(Exception):  # like Py4J: a gateway that is closed has no objects any more
        connection = client._get_connection()
        try:
            connection.socket.sendall("".join(f"m\nd\n{object_id}\ne\n" for object_id in ids).encode())
            answers = [connection.stream.readline() for _ in ids]
        except OSError:
            connection.close()
            raise
        if all(answers):
            client._give_back_connection(connection)
        else:
            connection.close()
