"""Many mirrors on one worker beside Kafka Connect with MirrorMaker's connector: 30, 100 and 1,000 of them, and REST beside 100.

Both sides run in turns, each a fresh worker between two brokers of its own; never both at once.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from confluent_kafka import KafkaException
from rich.console import Console

from benchmarks import clusters, report
from benchmarks.engine import Mirror
from benchmarks.many.mirrors import Mirrors, Size
from benchmarks.options import Options
from benchmarks.ours import Headrace
from benchmarks.peer import MirrorMaker
from benchmarks.process import BenchmarkError

KINDS: dict[str, type[Mirror]] = {"peer": MirrorMaker, "ours": Headrace}
UNITS = {
    "created": "s", "delivered": "s", "latency-p50": "ms", "latency-p99": "ms", "idle-cpu": "% of a core", "memory": "MiB",
    "list": "ms", "hot": "records/s", "rest-status-p50": "ms", "rest-status-p99": "ms", "rest-status-rate": "requests/s",
    "rest-status-full-p50": "ms", "rest-status-full-p99": "ms", "rest-status-full-rate": "requests/s",
}  # fmt: skip

# The warm-up is longer than the brokers need for the first entry of each topic's index, which a record of the 22nd second makes:
# with a hundred topics, to have the disk give them a block each holds up a broker for ten seconds, whoever copies.
FULL = (
    Size(30, limit_s=300, settle_s=10, idle_s=30, rate=1, warm_up_s=45, measured_s=60, hot_records=1_000_000),
    Size(100, limit_s=300, settle_s=10, idle_s=30, rate=1, warm_up_s=45, measured_s=60, rest_s=20),
    Size(1000, limit_s=900, settle_s=20, idle_s=30, lists=5),
)
QUICK = (
    Size(4, limit_s=120, settle_s=2, idle_s=5, rate=1, warm_up_s=3, measured_s=5, rest_s=3, hot_records=20_000),
    Size(12, limit_s=120, settle_s=2, idle_s=5, lists=2),
)


@dataclass(frozen=True)
class Bench:
    """What the turns of a run share; `values`: side → row → the values of all rounds."""

    workdir: Path
    console: Console
    values: dict[str, dict[str, list[float]]] = field(default_factory=lambda: {side: defaultdict(list) for side in KINDS})
    missed: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Row → why a side has no value of it."""
    foreign: list[float | None] = field(default_factory=list)

    def turn(self, side: str, size: Size, number: int) -> None:
        """Run the worker of one side with so many mirrors, and keep what is measured.

        Where it does not get through, the rows that are left have that as their entry.
        """
        label = f"{side}-{size.connectors}-{number}"
        with clusters.two_brokers() as (source, destination), report.watched(self.foreign, self.console):
            left = [f"{row}-{size.connectors}" for row in size.rows()]
            try:
                with KINDS[side](source, destination, label, self.workdir) as engine:
                    for row, value in Mirrors(engine, size, self.workdir).measure():
                        name = f"{row}-{size.connectors}"
                        left.remove(name)
                        self.values[side][name].append(value)
                        self.console.print(f"{label} {row}: {value:,.1f} {UNITS[row]}")
            except (BenchmarkError, KafkaException) as error:  # the latter: a broker that no longer answers the benchmark itself
                self.console.print(str(error), markup=False, highlight=False)
                for name in left:
                    self.missed[name].append(str(error).splitlines()[0])

    def rows(self, sizes: Sequence[Size]) -> list[report.Row]:
        """Return what was measured, and what could not be."""
        return [
            report.Row(name, UNITS[row], self.values["ours"][name], self.values["peer"][name], self.missed[name])
            for size in sizes
            for row in size.rows()
            for name in [f"{row}-{size.connectors}"]
        ]


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/many.json unless the run is quick or one-sided."""
    sizes = [size for size in (QUICK if options.quick else FULL) if size.connectors in (options.sizes or [size.connectors])]
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch:
        bench = Bench(Path(scratch), console)
        for number in range(1, options.rounds + 1):
            for size in sizes:
                for side in KINDS:
                    if options.only in (None, side):
                        bench.turn(side, size, number)
    rows = bench.rows(sizes)
    report.show("Many mirrors: headrace beside MirrorMaker 2", MirrorMaker.name, rows, console)
    if not options.quick and options.only is None:
        method = {"sizes": [asdict(size) for size in sizes], "rounds": options.rounds, "foreign_cpu": bench.foreign}
        console.print(f"written: {report.save('many', rows, method)}")
