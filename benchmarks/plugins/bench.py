"""Connectors in Java beside the same plugins in a real Kafka Connect worker: Kafka's file source, and Debezium for PostgreSQL.

Both sides run in turns, each a fresh worker on a broker of its own; never both at once.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from tests.spark_formats.postgres import Postgres

from benchmarks import report
from benchmarks.java import compiled
from benchmarks.options import Options
from benchmarks.plugins.measures import UNITS, Database, Measures, Size
from benchmarks.plugins.workers import PLUGINS, Connect, Headrace, Plugged
from headrace.cli.plugins.add import add
from headrace.embedded import Broker

KINDS: dict[str, type[Plugged]] = {"peer": Connect, "ours": Headrace}
QUICK = Size(lines=20_000, rows=5_000, starts=2, warm_up_s=2, measured_s=3, settle_s=2, idle_s=5)


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/plugins.json unless the run is quick or one-sided."""
    size = QUICK if options.quick else Size()
    values: dict[str, dict[str, list[float]]] = {side: defaultdict(list) for side in KINDS}
    foreign: list[float | None] = []
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch, Postgres() as server:
        workdir = Path(scratch)
        plugins = workdir / "plugins"
        add(list(PLUGINS), plugins)
        (driver,) = plugins.rglob("postgresql-*.jar")
        database = Database(server, compiled(Path(__file__).with_name("java"), workdir / "classes"), driver)
        database.run(
            "create table stored (id int primary key, item text, price int, changed timestamp); insert into stored "
            f"select n, 'an item with the number ' || n, n % 1000, now() from generate_series(1, {size.rows}) n"
        )
        for number in range(1, options.rounds + 1):
            for side, kind in KINDS.items():
                if options.only not in (None, side):
                    continue
                with (
                    Broker(name=side) as broker,
                    report.watched(foreign, console),
                    kind(broker.bootstrap, f"{side}-{number}", workdir, plugins) as engine,
                ):
                    for row, value in Measures(engine, size, database, workdir).measure():
                        values[side][row].append(value)
                        console.print(f"{engine.label} {row}: {value:,.2f} {UNITS[row]}")
    rows = [report.Row(row, unit, values["ours"][row], values["peer"][row]) for row, unit in UNITS.items()]
    report.show("Plugins in Java: headrace beside Kafka Connect", Connect.name, rows, console)
    if not options.quick and options.only is None:
        method = {"size": asdict(size), "rounds": options.rounds, "foreign_cpu": foreign}
        console.print(f"written: {report.save('plugins', rows, method)}")
