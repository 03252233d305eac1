"""Another worker of the group, as a process: one task of the connector `shared`, which has read and written with a schema.

Prints the address of its REST API, and ends with its standard input.
"""

from __future__ import annotations

import sys
from typing import Any, cast

from headrace.cluster.herder import Herder
from headrace.converters.avro import AvroConverter
from headrace.rest import RestServer
from headrace.runtime.metrics import Metrics
from headrace.runtime.metrics.events import Batch
from headrace.runtime.metrics.figures import TaskFigures
from headrace.runtime.schema_usage import USAGE
from headrace.values.schema import Schema
from tests.rest.conftest import worker_config
from tests.rest.memory_herder import MemoryHerder

NAME = "shared"


def measure(metrics: Metrics, task: int, records: int, age_ms: float) -> None:
    """A task has read so many records in the last ten seconds."""
    metrics.task(NAME, task, "source").record(Batch(read=records, written=records, took_ms=1))
    metrics.task_state(NAME, task, "RUNNING")
    for read, age in ((0, None), (records, age_ms)):
        metrics.history.add([TaskFigures(NAME, task, read, 0.0, None, age)], 10)


def use(task: int, subject: str, schema_id: int) -> AvroConverter:
    """A task has written with a schema; what is returned has to be kept for as long as that is to be known."""
    converter = AvroConverter({"schema.registry.url": "http://localhost:1"}, is_key=False)
    converter.uses.add("written", "value", schema_id, "AVRO", (subject, 1), Schema("struct", fields={"n": Schema("int32")}))
    USAGE.watch(NAME, task, [converter])
    return converter


def main() -> None:
    herder: Any = MemoryHerder()
    herder.create(NAME, {"connector.class": "FileStreamSource"})
    measure(herder.metrics, 1, 70, 900.0)
    kept = use(1, "there-value", 2)
    server = RestServer(cast(Herder, herder), worker_config())
    server.start()
    print(server.urls[0], flush=True)
    sys.stdin.read()
    server.stop()
    del kept


if __name__ == "__main__":
    main()
