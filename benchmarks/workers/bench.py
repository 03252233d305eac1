"""Workers: three under load of which one, then the leader, is killed; and one with 100 connectors beside Kafka Connect's."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks import report
from benchmarks.options import Options
from benchmarks.workers import crowd, failover
from headrace.embedded import Broker

UNITS = {
    "created": "s", "delivered": "s", "idle-cpu": "% of a core", "memory": "MiB", "threads": "threads", "rest-small-p99": "ms",
    "rest-small-rate": "requests/s", "rest-everything-p99": "ms", "rest-everything-rate": "requests/s",
    "rest-put-config-p99": "ms",
}  # fmt: skip


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/workers.json unless the run is quick or one-sided."""
    load = failover.Load(steady_s=10) if options.quick else failover.Load()
    size = crowd.Size(connectors=20, settle_s=5, idle_s=10, rest_s=5) if options.quick else crowd.Size()
    foreign: list[float | None] = []
    rows: list[report.Row] = []
    for number in range(1, options.rounds + 1):
        rows = _joined(rows, _round(number, options.only, (load, size), foreign, console))
    report.show("Workers: headrace beside Kafka Connect", crowd.Connect.name, rows, console)
    if not options.quick and options.only is None:
        method = {"failover": asdict(load), "crowd": asdict(size), "rounds": options.rounds, "foreign_cpu": foreign}
        console.print(f"written: {report.save('workers', rows, method)}")


def _round(
    number: int, only: str | None, plan: tuple[failover.Load, crowd.Size], foreign: list[float | None], console: Console
) -> list[report.Row]:
    load, size = plan
    rows: list[report.Row] = []
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch:
        if only in (None, "ours"):
            with Broker(name="failover") as broker, report.watched(foreign, console):
                found = failover.measure(broker.bootstrap, f"failover-{number}", Path(scratch), load, console)
            rows += [report.Row(f"failover-{name}", unit, [value], []) for name, (value, unit) in found.items()]
        sides: dict[str, dict[str, float]] = defaultdict(dict)
        for side, kind in (("peer", crowd.Connect), ("ours", crowd.Headrace)):
            if only in (None, side):
                with (
                    Broker(name="crowd") as broker,  # each its own: what the first has left is not read by the second
                    report.watched(foreign, console),
                    kind(broker.bootstrap, f"{side}-{number}", Path(scratch)) as engine,
                ):
                    sides[side] = crowd.measure(engine, size)
        for name, unit in UNITS.items():
            ours, peer = ([sides[side][name]] if side in sides else [] for side in ("ours", "peer"))
            rows.append(report.Row(f"crowd-{name}", unit, ours, peer))
    return rows


def _joined(rows: list[report.Row], more: list[report.Row]) -> list[report.Row]:
    """Put the values of another round behind those that are there."""
    if not rows:
        return more
    return [report.Row(a.name, a.unit, [*a.ours, *b.ours], [*a.peer, *b.peer]) for a, b in zip(rows, more, strict=True)]
