"""Avro, JSON with schemas and plain JSON through one chain of transforms: records/s and CPU time in memory, on all cores.

Both sides run in rounds, A B A B: a fresh process, a warm-up, then the measurement, then it ends; never both at once.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks import report
from benchmarks.formats import chain
from benchmarks.java import compiled
from benchmarks.options import Options
from benchmarks.transforms import bench as transforms
from benchmarks.transforms import data, loops
from benchmarks.transforms.chain import FORMATS
from headrace.jvm.jars import jars, wheel_jar
from headrace.testing.registry import SchemaRegistry

JAVA = Path(__file__).with_name("java")
_NAME = "Kafka Connect's converters in a loop"


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/formats.json unless the run is quick or one-sided."""
    plan = transforms.QUICK if options.quick else transforms.FULL
    sides = [side for side in transforms.SIDES if options.only in (None, side)]
    avro = [wheel_jar("avro"), *jars("avro-data")]
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch, SchemaRegistry() as registry:
        workdir = Path(scratch)
        registry.register("bench-avro-value", chain.SCHEMA)
        classes = compiled(transforms.JAVA, workdir / "classes")
        compiled(JAVA, classes, avro)
        bench = transforms.Bench(plan, workdir, classes, console, {side: defaultdict(list) for side in transforms.SIDES}, [])
        file = data.write_lines(chain.records(plan.records), workdir / "avro.tsv")
        for number in range(1, options.rounds + 1):
            outcomes = []
            for side in sides:
                given = loops.Input(
                    file, chain.properties(side, registry.url) | transforms.transforms("out"), plan.memory_warm_up,
                    plan.memory_rounds, chain.decode,
                )  # fmt: skip
                log = workdir / f"memory-{side}-avro-{number}.log"
                with report.watched(bench.foreign, console):
                    found = loops.ours(given, log) if side == "ours" else loops.peer(classes, given, log, avro)
                for each in found.rounds:
                    bench.note(side, "memory-avro", each.rate, each.cpu)
                outcomes.append(found)
            if len(outcomes) > 1:
                loops.require_same(*outcomes)
            for form in FORMATS:
                bench.memory(form, number, sides)
    rows = transforms.rows(bench.values)
    report.show("Formats: headrace beside converters in a JVM loop", _NAME, rows, console)
    if not options.quick and options.only is None:
        method = asdict(plan) | {"rounds": options.rounds, "heap": loops.HEAP, "jvm": loops.JVM, "foreign_cpu": bench.foreign}
        console.print(f"written: {report.save('formats', rows, method)}")
