"""Debezium on a worker that is killed with its JVM, in the snapshot and in the stream: nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster
from tests.deployed import CONNECTOR_S
from tests.java_plugins.conftest import CREATION
from tests.java_plugins.test_debezium import CONNECTOR, settings
from tests.process import WorkerProcess, worker_properties
from tests.spark_formats.conftest import Sql
from tests.spark_formats.postgres import Postgres
from tests.support import wait_until

ROWS, TRANSACTIONS = 10_000, 30
JSON = "org.apache.kafka.connect.json.JsonConverter"


def killed(worker: WorkerProcess) -> None:
    """`kill -9` of the worker and its JVM, and another start."""
    os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    worker.start().await_ready()


def table_of(changes: list[dict[str, Any]]) -> dict[int, str]:
    """The rows that the changes lead to."""
    rows: dict[int, str] = {}
    for change in changes:
        if change["after"] is None:
            rows.pop(change["before"]["id"], None)
        else:
            rows[change["after"]["id"]] = change["after"]["item"]
    return rows


@pytest.mark.parametrize("support", ["disabled", "enabled"])
def test_nothing_is_lost_and_with_exactly_once_no_change_is_there_twice(
    destination_broker: Broker, cluster: Cluster, plugin_path: Path, postgres: Postgres, sql: Sql,
    topic_name: Callable[[str], str], tmp_path: Path, support: str,
):  # fmt: skip
    prefix = topic_name("killed")
    table = prefix.replace("-", "_")
    topic = f"{prefix}.public.{table}"
    sql(f"create table {table} (id int primary key, item text)")
    sql(f"insert into {table} select n, 'old ' || n from generate_series(1, {ROWS}) n")
    props = worker_properties(topic_name("group"), f"http://127.0.0.1:{free_port()}")
    props |= {"bootstrap.servers": destination_broker.bootstrap, "exactly.once.source.support": support}
    props |= {"plugin.path": str(plugin_path), "plugin.discovery": "service_load"}
    config = {**settings(postgres, prefix), **CREATION, "connector.class": CONNECTOR, "table.include.list": f"public.{table}"}
    config |= {"max.batch.size": "200", "max.queue.size": "400", "snapshot.fetch.size": "200"}
    for part in ("key", "value"):
        config |= {f"{part}.converter": JSON, f"{part}.converter.schemas.enable": "false"}

    def changes() -> list[dict[str, Any]]:
        return [json.loads(r.value) for r in cluster.read(topic) if r.value]

    with WorkerProcess(tmp_path, props) as worker:
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
    stale = table_of(found).keys() - rows.keys()  # a snapshot that begins again does not know what was deleted before
    assert all(ROWS - TRANSACTIONS < id <= ROWS for id in stale)
    streamed = Counter((c["op"], c["source"]["lsn"], (c["after"] or c["before"])["id"]) for c in found if c["op"] != "r")
    if support == "enabled":
        assert [change for change, times in streamed.items() if times > 1] == []
