"""The mirror beside MirrorMaker 2: throughput by the size of records and what it costs, exactly once, latency by their rate.

Both sides run in rounds, A B A B: a fresh process, a warm-up, then every measurement, then it ends; never both at once.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks import clusters, latency, load, raw, report, throughput
from benchmarks.cpu import tree_peak_mb
from benchmarks.engine import CLIENTS, Mirror
from benchmarks.options import Options
from benchmarks.ours import Headrace
from benchmarks.peer import MirrorMaker

Values = dict[str, float]
Rounds = dict[type[Mirror], dict[str, list[float]]]


@dataclass(frozen=True)
class Source:
    """A source topic `name` of `records` records of `size` bytes in `partitions`, which is mirrored `passes` times."""

    name: str
    size: int
    records: int
    passes: int = 1
    partitions: int = load.PARTITIONS


@dataclass(frozen=True)
class Plan:
    """How much is measured, per process and round."""

    warm_up: tuple[Source, ...]
    throughput: tuple[Source, ...]
    latencies: tuple[latency.Load, ...]
    timeout_s: float = 300


# A JVM needs several million records to be warm: MirrorMaker's first copy runs at a fraction of its later speed.
FULL = Plan(
    warm_up=(Source("warm-100B", 100, 1_000_000, passes=8), Source("warm-1KB", 1000, 250_000, passes=3)),
    throughput=(Source("100B", 100, 2_000_000), Source("1KB", 1000, 500_000), Source("10KB", 10_000, 60_000)),
    # At 1,000 records/s a JVM goes on compiling for half a minute: what it runs for each poll is called that seldom.
    latencies=tuple(latency.Load(rate, warmup_s=30, measured_s=30) for rate in (50, 1000, 10_000)),
)
QUICK = Plan(
    warm_up=(Source("warm-100B", 100, 200_000),),
    throughput=(Source("100B", 100, 300_000), Source("1KB", 1000, 60_000)),
    latencies=(latency.Load(rate=50, warmup_s=3, measured_s=5),),
)


@dataclass(frozen=True)
class Bench:
    """What the measurements of one run share: two brokers, the plan, a scratch directory and the terminal."""

    source: str
    destination: str
    plan: Plan
    workdir: Path
    console: Console

    def fill_source(self) -> None:
        """Write the source topics that are mirrored whole."""
        for each in (*self.plan.warm_up, *self.plan.throughput):
            log = self.workdir / f"load-{each.name}.log"
            summary = load.fill(self.source, each.name, each.records, each.size, log, each.partitions)
            self.console.print(f"loaded {each.name}: {','.join(summary.split(',')[:2])}")

    def round(self, kind: type[Mirror], number: int) -> Values:
        """Run one engine through warm-up and all measurements; return row name → value."""
        label = f"{kind.name.split()[0].lower()}-{number}"
        with kind(self.source, self.destination, label, self.workdir) as engine:
            for each in self.plan.warm_up:
                for _ in range(each.passes):
                    self.copy(engine, each)
            values: Values = {}
            for suffix, tuned in (("", False), ("-tuned", True)):
                for each in self.plan.throughput:
                    before = engine.cpu_seconds()
                    values[f"throughput-{each.name}{suffix}"] = self.copy(engine, each, tuned)
                    values[f"cpu-{each.name}{suffix}"] = (engine.cpu_seconds() - before) / each.records * 1_000_000
            values["memory"] = tree_peak_mb(engine.pid)
        return values | self.exactly_once(kind, label) | self.latencies(kind, label)

    def latencies(self, kind: type[Mirror], label: str) -> Values:
        """Run the engine again, in a process of its own; return the rows of latencies."""
        with kind(self.source, self.destination, f"{label}-latencies", self.workdir) as engine:
            for _ in range(max(1, self.plan.warm_up[0].passes // 4)):
                self.copy(engine, self.plan.warm_up[0])
            values: Values = {}
            for each in self.plan.latencies:
                values |= self.latency(engine, each)
        return values

    def limit(self, source: Source, number: int) -> float:
        """Copy one loaded topic with the bare loop, after the warm-up topics, and return the steady records/s."""
        copy = f"raw-{source.name}-{number}"
        warm = [(each.name, f"{copy}-{each.name}-{n}") for each in self.plan.warm_up for n in range(each.passes // 2)]
        batch_bytes = CLIENTS["producer.override.batch.size"]
        os.sync()
        with (
            raw.copying(self.source, self.destination, [*warm, (source.name, copy)], batch_bytes, self.workdir) as loop,
            throughput.EndOffsets(self.destination, copy) as offsets,
        ):
            samples = throughput.follow(offsets, source.records, loop.check, self.plan.timeout_s)
        rate = throughput.steady_rate(samples, source.records)
        self.console.print(f"bare loop {source.name}: {rate:,.0f} records/s")
        return rate

    def exactly_once(self, kind: type[Mirror], label: str) -> Values:
        """Run the engine again, in its exactly-once mode; return the row of the first throughput topic."""
        source = self.plan.throughput[0]
        with kind(self.source, self.destination, f"{label}-exactly-once", self.workdir, exactly_once=True) as engine:
            for _ in range(self.plan.warm_up[0].passes):
                self.copy(engine, self.plan.warm_up[0])
            return {f"throughput-exactly-once-{source.name}": self.copy(engine, source, tuned=False)}

    def copy(self, engine: Mirror, source: Source, tuned: bool = True) -> float:
        """Mirror one loaded topic and return the steady records/s."""
        os.sync()
        engine.partitions = source.partitions
        with (
            engine.mirroring(source.name, tuned) as mirroring,
            throughput.EndOffsets(self.destination, mirroring.copy) as offsets,
            throughput.EndOffsets(self.destination, mirroring.copy, committed=True) as committed,
        ):
            watch = partial(engine.check, mirroring.connector)
            samples = throughput.follow(offsets, source.records, watch, self.plan.timeout_s)
            samples = throughput.until_committed(samples, committed, watch, self.plan.timeout_s)
            time.sleep(0.5)  # a record that is copied twice is there by now
            surplus = offsets.count(offsets.partitions()) - source.records
        if engine.exactly_once:
            surplus = 0  # what is there beside the records are the ends of transactions
        rate = throughput.steady_rate(samples, source.records)
        notes = (", tuned" if tuned else "") + (f", {surplus} records twice" if surplus else "")
        self.console.print(f"{engine.label} {source.name}: {rate:,.0f} records/s{notes}")
        return rate

    def latency(self, engine: Mirror, what: latency.Load) -> Values:
        """Send at this rate to a new topic; return the rows of its latencies."""
        topic = f"latency-{what.rate}-{engine.label}"
        load.create_topic(self.source, topic)
        os.sync()
        with engine.mirroring(topic, tuned=False) as mirroring:
            route = latency.Route(self.source, (topic,), self.destination, (mirroring.copy,), load.PARTITIONS)
            log = self.workdir / f"{topic}.log"
            found = latency.measure(route, what, lambda: engine.check(mirroring.connector), log)
        rows = {f"latency-p{p}-{what.rate}": latency.percentile(found, p / 100) for p in (50, 99)}
        text = ", ".join(f"{name} {value:.1f} ms" for name, value in rows.items())
        self.console.print(f"{engine.label} {text}, max {max(found):.1f} ms of {len(found)}")
        return rows


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/mirror.json unless the run is quick or one-sided."""
    plan = QUICK if options.quick else FULL
    kinds = [kind for side, kind in (("peer", MirrorMaker), ("ours", Headrace)) if options.only in (None, side)]
    values: Rounds = {kind: defaultdict(list) for kind in kinds}
    foreign: list[float | None] = []
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch, clusters.two_brokers() as (source, destination):
        bench = Bench(source, destination, plan, Path(scratch), console)
        bench.fill_source()
        limits: dict[str, list[float]] = defaultdict(list)
        for number in range(1, options.rounds + 1):
            for each in plan.throughput:
                limits[each.name].append(bench.limit(each, number))
            for kind in kinds:
                with report.watched(foreign, console):
                    for name, value in bench.round(kind, number).items():
                        values[kind][name].append(value)
    rows = _rows(values) + _shares(values, limits)
    report.show("Mirror: headrace beside MirrorMaker 2", MirrorMaker.name, rows, console)
    if not options.quick and options.only is None:
        method = asdict(plan) | {"rounds": options.rounds, "foreign_cpu": foreign}
        console.print(f"written: {report.save('mirror', rows, method)}")


def _rows(values: Rounds) -> list[report.Row]:
    ours, peer = values.get(Headrace, {}), values.get(MirrorMaker, {})
    units = {"throughput": "records/s", "latency": "ms", "cpu": "s/million records", "memory": "MiB"}
    return [report.Row(name, units[name.split("-")[0]], ours.get(name, []), peer.get(name, [])) for name in ours or peer]


def _shares(values: Rounds, limits: dict[str, list[float]]) -> list[report.Row]:
    """What each side reaches of the bare loop's speed in the same round."""
    rows = []
    for name, bare in limits.items():
        reached = {kind: found[f"throughput-{name}-tuned"] for kind, found in values.items()}  # as the loop is
        parts = {kind: [one / limit for one, limit in zip(rates, bare, strict=True)] for kind, rates in reached.items()}
        rows.append(report.Row(f"share-of-bare-loop-{name}", "of 1", parts.get(Headrace, []), parts.get(MirrorMaker, [])))
    return rows
