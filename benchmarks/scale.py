"""The mirror on more executors of a Spark cluster and on topics of more partitions: how much it copies, and who does the work."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from benchmarks import clusters, load, report, throughput
from benchmarks.cpu import CpuTime, foreign_share, part_seconds
from benchmarks.engine import Mirror
from benchmarks.options import Options
from benchmarks.ours import Headrace
from benchmarks.peer import MirrorMaker

MEMORY_MB = 1024  # of an executor


@dataclass(frozen=True)
class Plan:
    """`records` of 100 bytes are copied to each topic, after `passes` copies of the first one for a JVM to warm up."""

    records: int = 1_000_000
    passes: int = 4
    partitions: tuple[int, ...] = (1, 16, 128, 1000)
    executors: tuple[int, ...] = (1, 2, 4)
    timeout_s: float = 300


FULL = Plan()
QUICK = Plan(records=100_000, passes=1, partitions=(1, 16), executors=(2,))
SHARED = 16  # partitions of the topic that executors share


class OnCluster(Headrace):
    """A worker whose tasks run on executors, each a process with one core, of a standalone Spark cluster that Spark starts."""

    def __init__(self, source: str, destination: str, executors: int, workdir: Path) -> None:
        super().__init__(source, destination, f"executors-{executors}", workdir)
        self._executors = executors

    def worker_properties(self) -> dict[str, str]:
        """Return what all have in common, the master, and what its executors get."""
        master = f"local-cluster[{self._executors},1,{MEMORY_MB}]"
        return super().worker_properties() | {"spark.master": master, "spark.executor.memory": f"{MEMORY_MB}m"}

    def executor_seconds(self) -> float:
        """Return the CPU time that its executors have used."""
        return part_seconds(self.pid, "CoarseGrainedExecutorBackend")


@dataclass(frozen=True)
class Bench:
    """What the measurements of a run share."""

    source: str
    destination: str
    plan: Plan
    workdir: Path
    console: Console

    def copy(self, engine: Mirror, partitions: int) -> float:
        """Mirror the topic of so many partitions; returns the steady records/s."""
        os.sync()
        if isinstance(engine, Headrace):
            engine.partitions = partitions
        with (
            engine.mirroring(f"parts-{partitions}") as mirroring,
            throughput.EndOffsets(self.destination, mirroring.copy) as offsets,
        ):
            samples = throughput.follow(
                offsets, self.plan.records, lambda: engine.check(mirroring.connector), self.plan.timeout_s
            )
        rate = throughput.steady_rate(samples, self.plan.records)
        self.console.print(f"{engine.label} {partitions} partitions: {rate:,.0f} records/s")
        return rate

    def by_partitions(self, kind: type[Mirror]) -> dict[str, float]:
        """The rows of all numbers of partitions."""
        with kind(self.source, self.destination, f"{kind.name.split()[0].lower()}-partitions", self.workdir) as engine:
            for _ in range(self.plan.passes):
                self.copy(engine, self.plan.partitions[0])
            return {f"partitions-{number}": self.copy(engine, number) for number in self.plan.partitions}

    def by_executors(self, executors: int) -> dict[str, float]:
        """The rows of so many executors: records/s, and which share of the worker's CPU time was not theirs."""
        with OnCluster(self.source, self.destination, executors, self.workdir) as engine:
            for _ in range(self.plan.passes):
                self.copy(engine, SHARED)
            before, whole = engine.executor_seconds(), engine.cpu_seconds()
            rate = self.copy(engine, SHARED)
            spent = engine.executor_seconds() - before
            return {f"executors-{executors}": rate, f"driver-share-{executors}": 1 - spent / (engine.cpu_seconds() - whole)}


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/scale.json unless the run is quick or one-sided."""
    plan = QUICK if options.quick else FULL
    ours, peer = dict[str, float](), dict[str, float]()
    before = CpuTime.now()
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch, clusters.two_brokers() as (source, destination):
        bench = Bench(source, destination, plan, Path(scratch), console)
        for number in sorted({*plan.partitions, SHARED}):
            load.fill(source, f"parts-{number}", plan.records, 100, Path(scratch) / f"load-{number}.log", number)
        if options.only != "ours":
            peer |= bench.by_partitions(MirrorMaker)
        if options.only != "peer":
            ours |= bench.by_partitions(Headrace)
            for executors in plan.executors:
                ours |= bench.by_executors(executors)
    foreign = foreign_share(before)
    rows = [
        report.Row(name, "of 1" if name.startswith("driver") else "records/s", _one(ours, name), _one(peer, name))
        for name in ours or peer
    ]
    report.show("Scale: headrace beside MirrorMaker 2", MirrorMaker.name, rows, console)
    report.warn_if_busy(foreign, console)
    if not options.quick and options.only is None:
        console.print(f"written: {report.save('scale', rows, asdict(plan) | {'foreign_cpu': [foreign]})}")


def _one(values: dict[str, float], name: str) -> list[float]:
    return [values[name]] if name in values else []
