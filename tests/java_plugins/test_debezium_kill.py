"""Debezium on a worker that is killed with its JVM, in the snapshot and in the stream: nothing is lost.

Both kinds of delivery run at once: each has a worker, a table and topics of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster
from tests.deployed import CONNECTOR_S
from tests.java_plugins.conftest import CREATION
from tests.java_plugins.test_debezium import CONNECTOR, settings
from tests.process import WorkerProcess, worker_properties
from tests.spark_formats.conftest import Sql, statements
from tests.spark_formats.postgres import Postgres
from tests.support import at_once, selected, wait_until

Changes = list[dict[str, Any]]
Run = tuple[dict[int, str], Changes]
"""The rows of the table in the end, and all changes of it."""

ROWS, TRANSACTIONS = 10_000, 30
JSON = "org.apache.kafka.connect.json.JsonConverter"


def killed(worker: WorkerProcess) -> None:
    """`kill -9` of the worker and its JVM, and another start."""
    os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    worker.start().await_ready()


def table_of(changes: Changes) -> dict[int, str]:
    """The rows that the changes lead to."""
    rows: dict[int, str] = {}
    for change in changes:
        if change["after"] is None:
            rows.pop(change["before"]["id"], None)
        else:
            rows[change["after"]["id"]] = change["after"]["item"]
    return rows


def identity(change: dict[str, Any]) -> tuple[object, ...]:
    """What no other change has: a snapshot that begins again after a kill reads every row again, but at another time."""
    source = change["source"]
    moment = source["ts_ms"] if change["op"] == "r" else None
    return change["op"], source["lsn"], moment, (change["after"] or change["before"])["id"]


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest, destination_broker: Broker, destination: Cluster, plugin_path: Path, postgres: Postgres,
    spark: SparkSession, topic_name: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Future[Run]]]:  # fmt: skip
    """What comes of each kind of delivery that is to be tested."""

    def run(support: str) -> Run:
        prefix = topic_name("killed")
        props = worker_properties(topic_name("group"), f"http://127.0.0.1:{free_port()}")
        props |= {"bootstrap.servers": destination_broker.bootstrap, "exactly.once.source.support": support}
        props |= {"plugin.path": str(plugin_path), "plugin.discovery": "service_load"}
        worker = WorkerProcess(tmp_path_factory.mktemp(support), props)
        return killed_twice(worker, prefix, destination, postgres, statements(postgres.url, spark))

    with at_once(run, selected(request, "support"), 2) as futures:
        yield futures


def killed_twice(worker: WorkerProcess, prefix: str, cluster: Cluster, postgres: Postgres, sql: Sql) -> Run:
    """Have a table copied and changed, and kill the worker in the snapshot and at a chance moment of the changes."""
    table = prefix.replace("-", "_")
    topic = f"{prefix}.public.{table}"
    sql(f"create table {table} (id int primary key, item text)")
    sql(f"insert into {table} select n, 'old ' || n from generate_series(1, {ROWS}) n")
    config = {**settings(postgres, prefix), **CREATION, "connector.class": CONNECTOR, "table.include.list": f"public.{table}"}
    config |= {"max.batch.size": "200", "max.queue.size": "400", "snapshot.fetch.size": "200"}
    for part in ("key", "value"):
        config |= {f"{part}.converter": JSON, f"{part}.converter.schemas.enable": "false"}

    def changes() -> Changes:
        return [json.loads(r.value) for r in cluster.read(topic) if r.value]

    with worker:
        worker.await_ready().call("POST", "/connectors", {"name": prefix, "config": config})
        wait_until(lambda: cluster.size(topic) > 0, CONNECTOR_S, "the snapshot to begin")
        killed(worker)
        moment = random.randrange(5, TRANSACTIONS)
        for n in range(TRANSACTIONS):
            new = ROWS + 10 * n
            sql(
                f"insert into {table} select n, 'new ' || n from generate_series({new + 1}, {new + 10}) n; "
                f"update {table} set item = 'changed in {n}' where id between {10 * n} and {10 * n + 5}; "
                f"delete from {table} where id = {ROWS - n}"
            )
            if n == moment:
                wait_until(lambda: cluster.size(topic) > ROWS, CONNECTOR_S, "the stream to begin")
                killed(worker)
        rows = dict(sql(f"select id, item from {table}"))
        wait_until(lambda: rows.items() <= table_of(changes()).items(), CONNECTOR_S, "all changes")
        found = changes()
        worker.call("DELETE", f"/connectors/{prefix}")
    return rows, found


@pytest.mark.parametrize("support", ["disabled", "enabled"])
def test_nothing_is_lost_and_with_exactly_once_no_change_is_there_twice(runs: dict[str, Future[Run]], support: str):
    rows, found = runs[support].result()
    stale = table_of(found).keys() - rows.keys()  # a snapshot that begins again does not know what was deleted before
    assert all(ROWS - TRANSACTIONS < id <= ROWS for id in stale)
    if support == "enabled":
        assert [change for change, times in Counter(map(identity, found)).items() if times > 1] == []
