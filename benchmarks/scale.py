"""The mirror on more executors of a Spark cluster and on topics of more partitions: how much it copies, and who does the work."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from benchmarks import clusters, load, mirror, report
from benchmarks.cpu import CpuTime, foreign_share, part_seconds
from benchmarks.engine import Mirror
from benchmarks.options import Options
from benchmarks.ours import Headrace
from benchmarks.peer import MirrorMaker

MEMORY_MB = 1024  # of an executor


@dataclass(frozen=True)
class Plan:
    """`passes` copies of the first topic, then of each one that warms up the JVM for so many partitions and two that count: at
    defaults, and with clients tuned. The topics have `records` of 100 bytes.
    """

    records: int = 1_000_000
    passes: int = 4
    partitions: tuple[int, ...] = (1, 16, 128, 1000, 5000)
    executors: tuple[int, ...] = (1, 2, 4)
    timeout_s: float = 300


FULL = Plan()
QUICK = Plan(records=100_000, passes=1, partitions=(1, 16), executors=(2,))
SHARED = 16  # partitions of the topic that executors share


class OnCluster(Headrace):
    """A worker whose tasks run on executors, each a process with one core, of a standalone Spark cluster that Spark starts."""

    def __init__(self, source: str, destination: str, executors: int, workdir: Path, exactly_once: bool = False) -> None:
        super().__init__(source, destination, f"executors-{executors}", workdir, exactly_once)
        self._executors = executors

    def worker_properties(self) -> dict[str, str]:
        """Return what all have in common, the master, and what its executors get."""
        master = f"local-cluster[{self._executors},1,{MEMORY_MB}]"
        return super().worker_properties() | {"spark.master": master, "spark.executor.memory": f"{MEMORY_MB}m"}

    def executor_seconds(self) -> float:
        """Return the CPU time that its executors have used."""
        return part_seconds(self.pid, "CoarseGrainedExecutorBackend")


@dataclass(frozen=True)
class Scale:
    """The measurements of a run, with the copies of the mirror's benchmark."""

    bench: mirror.Bench
    plan: Plan

    def copy(self, engine: Mirror, partitions: int, tuned: bool = True) -> float:
        """Mirror the topic of so many partitions, and delete the copy: a broker has a file open for each partition.

        Returns the steady records/s.
        """
        source = _source(self.plan, partitions)
        rate = self.bench.copy(engine, source, tuned)
        load.delete_topics(self.bench.destination, suffix=f".{source.name}")
        return rate

    def by_partitions(self, kind: type[Mirror]) -> dict[str, float]:
        """The rows of all numbers of partitions."""
        bench = self.bench
        with kind(bench.source, bench.destination, f"{kind.name.split()[0].lower()}-partitions", bench.workdir) as engine:
            for _ in range(self.plan.passes):
                self.copy(engine, self.plan.partitions[0])
            rates: dict[str, float] = {}
            for number in self.plan.partitions:
                self.copy(engine, number)
                rates[f"partitions-{number}"] = self.copy(engine, number, tuned=False)
                rates[f"partitions-{number}-tuned"] = self.copy(engine, number)
            return rates

    def by_executors(self, executors: int) -> dict[str, float]:
        """The rows of so many executors: records/s, and which share of the worker's CPU time was not theirs."""
        with OnCluster(self.bench.source, self.bench.destination, executors, self.bench.workdir) as engine:
            for _ in range(self.plan.passes):
                self.copy(engine, SHARED)
            before, whole = engine.executor_seconds(), engine.cpu_seconds()
            rate = self.copy(engine, SHARED)
            spent = engine.executor_seconds() - before
            return {f"executors-{executors}": rate, f"driver-share-{executors}": 1 - spent / (engine.cpu_seconds() - whole)}


def _source(plan: Plan, partitions: int) -> mirror.Source:
    return mirror.Source(f"parts-{partitions}", 100, plan.records, partitions=partitions)


@contextmanager
def _prepared(plan: Plan, console: Console) -> Iterator[Scale]:
    """Brokers of their own for each side: thousands of partitions that one side has copied make them slower for the other."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch, clusters.two_brokers() as (source, destination):
        sources = tuple(_source(plan, number) for number in sorted({*plan.partitions, SHARED}))
        bench = mirror.Bench(source, destination, mirror.Plan((), sources, (), plan.timeout_s), Path(scratch), console)
        bench.fill_source()
        yield Scale(bench, plan)


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/scale.json unless the run is quick or one-sided."""
    plan = QUICK if options.quick else FULL
    ours, peer = dict[str, float](), dict[str, float]()
    before = CpuTime.now()
    if options.only != "ours":
        with _prepared(plan, console) as scale:
            peer = scale.by_partitions(MirrorMaker)
    if options.only != "peer":
        with _prepared(plan, console) as scale:
            ours = scale.by_partitions(Headrace)
            for executors in plan.executors:
                ours |= scale.by_executors(executors)
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
