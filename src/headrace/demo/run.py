"""The demo, step by step: two clusters, real data, a worker, a connector, and the proof that everything arrived."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from headrace.demo.data import TABLES, load
from headrace.demo.show import DemoResult, tables
from headrace.demo.surroundings import example, rest_port
from headrace.demo.verify import checksum
from headrace.embedded.broker import Broker
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.admin import Admin
from headrace.spark.session import session
from headrace.testing.worker import EmbeddedWorker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARRIVAL_S = 300.0
"""Longest wait for the last record; the demo's data takes about ten seconds."""


def run(console: Console, scratch: Path, leave: bool, stop: threading.Event) -> bool:
    """Run the demo; returns whether the destination holds exactly what the source holds.

    scratch: an empty directory for the brokers; leave: end by itself instead of at `stop`. Raises a HeadraceError for what
    keeps it from running.
    """
    with ExitStack() as running, _progress(console) as progress:
        source = running.enter_context(_step(progress, "Starting the source cluster", lambda: _broker("source", scratch)))
        target = running.enter_context(
            _step(progress, "Starting the destination cluster", lambda: _broker("destination", scratch))
        )
        spark = _step(progress, "Starting Spark", session)
        for table in TABLES:
            what = f"Loading {table.rows:,} records into '{table.name}'"
            _step(progress, what, lambda table=table: load(spark, source.bootstrap, table))
        worker = running.enter_context(_step(progress, "Starting a worker", lambda: _worker(target.bootstrap)))
        connector = _connector(source.bootstrap)
        worker.call("POST", "/connectors", connector)
        admins = Admin({"bootstrap.servers": source.bootstrap}), Admin({"bootstrap.servers": target.bootstrap})
        seconds = _watch(progress, worker, connector, admins[1])
        result = _step(progress, "Comparing every record", lambda: _compare(spark, source, target, connector))
        result.lag = _lag(progress, admins[0], connector)
        progress.stop()
        console.print(*tables(result, worker, admins[1], connector, seconds), sep="\n")
        console.print(_closing(worker, source, target))
        if not leave:
            console.print("Ctrl-C ends the demo and deletes its scratch directory.")
            stop.wait()
    return result.matches


def _progress(console: Console) -> Progress:
    columns = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}"),
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console)


def _step(progress: Progress, what: str, action: Callable[[], Any]) -> Any:
    task = progress.add_task(what, total=1)
    done = action()
    progress.update(task, completed=1)
    return done


def _broker(name: str, scratch: Path) -> Broker:
    broker = Broker(data=scratch / name, name=name)
    broker.start()
    return broker


def _worker(bootstrap: str) -> EmbeddedWorker:
    from headrace.config import load_properties

    props = load_properties(example("worker.properties")) | {"listeners": f"http://127.0.0.1:{rest_port()}"}
    return EmbeddedWorker(bootstrap, props)


def _connector(source: str) -> dict[str, Any]:
    connector = json.loads(example("mirror-flights.json").read_text(encoding="utf-8"))
    connector["config"]["source.bootstrap.servers"] = source  # the one value that the file cannot know
    return connector


def _watch(progress: Progress, worker: EmbeddedWorker, connector: dict[str, Any], admin: Admin) -> float:
    """Show how the destination fills; returns the seconds from the first look to the last record."""
    prefix, total = connector["config"]["destination.topics.prefix"], sum(t.rows for t in TABLES)
    task = progress.add_task(f"Mirroring by connector '{connector['name']}'", total=total)
    begin = time.monotonic()
    while (arrived := sum(_size(admin, prefix + t.name) for t in TABLES)) < total:
        progress.update(task, completed=arrived)
        if failures := _failures(worker, connector["name"]):
            raise ConnectError(f"The connector failed: {failures[0].splitlines()[0]}")
        if time.monotonic() - begin > ARRIVAL_S:
            raise ConnectError(f"Only {arrived:,} of {total:,} records arrived within {ARRIVAL_S:.0f} s.")
        time.sleep(0.1)
    progress.update(task, completed=total)
    return time.monotonic() - begin


def _failures(worker: EmbeddedWorker, name: str) -> list[str]:
    """The traces of what has failed; there is no status yet in the first moments of a connector."""
    statuses = worker.call("GET", "/connectors?expand=status")
    status = statuses.get(name, {}).get("status")
    parts = [status["connector"], *status["tasks"]] if status else []
    return [part["trace"] for part in parts if part["state"] == "FAILED"]


def _size(admin: Admin, topic: str) -> int:
    """The records of a topic, by its offsets; 0 while it does not exist, or is so new that it has no leader."""
    info = admin.describe(topic)
    partitions = [(topic, p) for p in info.partitions] if info else []
    try:
        return sum(admin.partition_offsets(partitions, "latest").values())
    except RetriableError:
        return 0


def _compare(spark: SparkSession, source: Broker, target: Broker, connector: dict[str, Any]) -> DemoResult:
    prefix = connector["config"]["destination.topics.prefix"]
    pairs = {
        t.name: (checksum(spark, source.bootstrap, t.name), checksum(spark, target.bootstrap, prefix + t.name)) for t in TABLES
    }
    return DemoResult(prefix, pairs)


def _lag(progress: Progress, admin: Admin, connector: dict[str, Any]) -> dict[str, int]:
    """The lag of the source group by topic, once its last commit has arrived (it follows the last batch)."""
    group = connector["config"]["source.group.id"]
    end = time.monotonic() + 15
    while True:
        lag = {}
        committed = admin.committed(group)
        for table in TABLES:
            partitions = [(table.name, p) for p in range(table.partitions)]
            ends = admin.partition_offsets(partitions, "latest")
            lag[table.name] = sum(ends[p] - committed.get(p, 0) for p in partitions)
        if not any(lag.values()) or time.monotonic() > end:
            return lag
        time.sleep(0.2)


def _closing(worker: EmbeddedWorker, source: Broker, target: Broker) -> str:
    return (
        f"\nPage         [bold]{worker.url.rstrip('/')}/ui[/]\nREST API     [bold]{worker.url}[/]\n"
        f"Source       {source.bootstrap}\nDestination  {target.bootstrap}\n"
        f"Try          curl {worker.url}/connectors/mirror-flights/status"
    )
