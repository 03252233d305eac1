"""Transforms beside Kafka Connect's: records/s and CPU time of one chain, in memory and in a worker.

Both sides run in rounds, A B A B: a fresh process, a warm-up, then the measurement, then it ends; never both at once.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from benchmarks import report, throughput
from benchmarks.java import compiled
from benchmarks.options import Options
from benchmarks.transforms import data, loops
from benchmarks.transforms.chain import FORMATS, Format, transforms
from benchmarks.transforms.workers import Connect, Headrace, Transformer
from headrace.embedded import Broker

JAVA = Path(__file__).with_name("java")
SIDES = ("peer", "ours")


@dataclass(frozen=True)
class Plan:
    """How much is measured, per process: `records` of each format, so many passes in memory and copies by a worker."""

    records: int
    memory_warm_up: int
    memory_rounds: int
    worker_warm_up: int
    worker_rounds: int
    timeout_s: float = 300


FULL = Plan(records=1_000_000, memory_warm_up=3, memory_rounds=3, worker_warm_up=4, worker_rounds=2)
QUICK = Plan(records=50_000, memory_warm_up=2, memory_rounds=2, worker_warm_up=1, worker_rounds=1)


@dataclass(frozen=True)
class Bench:
    """What the measurements of one run share; `values`: side → row → the values of all rounds."""

    plan: Plan
    workdir: Path
    classes: Path
    console: Console
    values: dict[str, dict[str, list[float]]]
    foreign: list[float | None]

    def memory(self, form: Format, number: int, sides: list[str]) -> None:
        """Run the chain in memory on each side; what they make has to be the same."""
        file = self.workdir / f"{form.name}.tsv"
        if not file.exists():
            data.write_file(form, self.plan.records, file)
        given = loops.Input(file, form.converters | transforms("out"), self.plan.memory_warm_up, self.plan.memory_rounds)
        outcomes: list[loops.Outcome] = []
        for side in sides:
            log = self.workdir / f"memory-{side}-{form.name}-{number}.log"
            with report.watched(self.foreign, self.console):
                outcomes.append(loops.ours(given, log) if side == "ours" else loops.peer(self.classes, given, log))
            for each in outcomes[-1].rounds:
                self.note(side, f"memory-{form.name}", each.rate, each.cpu)
        if len(outcomes) > 1:
            loops.require_same(*outcomes)

    def worker(self, broker: str, side: str, number: int) -> None:
        """Run one side's worker through warm-up and measurement of every format."""
        place = (broker, f"{side}-{number}", self.workdir)
        with (
            report.watched(self.foreign, self.console),
            Headrace(*place) if side == "ours" else Connect(*place, self.classes) as engine,
        ):
            for form in FORMATS:
                for turn in range(self.plan.worker_warm_up + self.plan.worker_rounds):
                    rate, cpu = self.copy(engine, form, turn)
                    if turn >= self.plan.worker_warm_up:
                        self.note(side, f"worker-{form.name}", rate, cpu)

    def copy(self, engine: Transformer, form: Format, turn: int) -> tuple[float, float]:
        """Have the topics of a format read, transformed and written once; return records/s and CPU s per million.

        The records/s are those that arrive. The CPU time is that of the worker from the start of its connector to the last
        record, over all that were read.
        """
        os.sync()
        connector, total = f"{engine.label}-{form.name}-{turn}", data.kept(self.plan.records)
        out = f"out-{connector}-{form.name}"
        cpu = engine.cpu_seconds()
        with (
            engine.deployed(connector, engine.connector(form, f"out-{connector}")),
            throughput.EndOffsets(engine.destination, out) as offsets,
        ):
            samples = throughput.follow(offsets, total, lambda: engine.check(connector), self.plan.timeout_s)
            cpu = engine.cpu_seconds() - cpu
            time.sleep(0.5)  # a record that is written twice, or was not dropped, is there by now
            surplus = offsets.count(offsets.partitions()) - total
        rate = throughput.steady_rate(samples, total)
        notes = f", {surplus} records too many" if surplus else ""
        self.console.print(f"{connector}: {rate:,.0f} records/s{notes}")
        return rate, cpu / self.plan.records * 1e6

    def note(self, side: str, row: str, rate: float, cpu: float) -> None:
        """Keep and print the two values of a measurement."""
        self.values[side][row].append(rate)
        self.values[side][f"{row}-cpu"].append(cpu)
        self.console.print(f"{side} {row}: {rate:,.0f} records/s, {cpu:.2f} CPU s per million")


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/transforms.json unless the run is quick or one-sided."""
    plan = QUICK if options.quick else FULL
    sides = [side for side in SIDES if options.only in (None, side)]
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch:
        workdir = Path(scratch)
        classes = compiled(JAVA, workdir / "classes")
        bench = Bench(plan, workdir, classes, console, {side: defaultdict(list) for side in SIDES}, [])
        for number in range(1, options.rounds + 1):
            for form in FORMATS:
                bench.memory(form, number, sides)
        with Broker(name="bench") as broker:
            for form in FORMATS:
                data.fill(broker.bootstrap, form, plan.records)
            for number in range(1, options.rounds + 1):
                for side in sides:
                    bench.worker(broker.bootstrap, side, number)
    table = rows(bench.values)
    report.show("Transforms: headrace beside Kafka Connect", Connect.name, table, console)
    if not options.quick and options.only is None:
        memory = {"heap": loops.HEAP, "jvm": loops.JVM}
        method = asdict(plan) | {"rounds": options.rounds, "memory": memory, "foreign_cpu": bench.foreign}
        console.print(f"written: {report.save('transforms', table, method)}")


def rows(values: dict[str, dict[str, list[float]]]) -> list[report.Row]:
    ours, peer = values["ours"], values["peer"]
    return [
        report.Row(name, "CPU s/M records" if name.endswith("-cpu") else "records/s", ours.get(name, []), peer.get(name, []))
        for name in ours or peer
    ]
