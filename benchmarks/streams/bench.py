"""Streams beside Kafka Streams 4.3 and Quix Streams: records/s of three programs, and the time of a restore.

Every side runs in a process of its own, a warm-up application first, then one that counts, in rounds; never two at once. The time
is from RUNNING until every record has been read and everything that follows from it is written and committed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import uuid
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from confluent_kafka import Producer
from rich.console import Console

from benchmarks import report
from benchmarks.cpu import CpuTime, foreign_share
from benchmarks.java import GC, compiled, java
from benchmarks.load import create_topic
from benchmarks.options import Options
from benchmarks.process import BenchmarkError, Child
from benchmarks.streams import latency
from headrace.embedded import Broker

JAVA = Path(__file__).with_name("java")
QUIX = "quixstreams"


@dataclass(frozen=True)
class Plan:
    """How much is measured: `records` in the topic, `keys` of them, rows of the table; `quix`: records of that side, and of the
    processor beside it.
    """

    records: int
    keys: int
    restore_keys: tuple[int, ...]
    quix: int
    latency_keys: tuple[int, ...]
    timeout_s: float = 900


FULL = Plan(
    records=2_000_000, keys=100_000, restore_keys=(1_000_000, 10_000_000), quix=200_000,
    latency_keys=(100_000, 2_000_000, 10_000_000),
)  # fmt: skip
QUICK = Plan(records=100_000, keys=10_000, restore_keys=(50_000,), quix=20_000, latency_keys=(10_000,))
PROGRAMS = {"count": "count-vs-kafka-streams", "windowed-count": "windowed-count-vs-kafka-streams",
            "join": "stream-table-join-vs-kafka-streams"}  # fmt: skip


def fill(broker: str, topic: str, records: int, keys: int, start: int = 0) -> None:
    """Write records of about 100 bytes; their times go on by a millisecond each."""
    producer = Producer(
        {"bootstrap.servers": broker, "linger.ms": 20, "batch.size": 262144, "queue.buffering.max.messages": 1_000_000}
    )
    value = b"x" * 90
    for number in range(records):
        key = b"k%d" % (start + number * 7919 % keys)
        while True:
            try:
                producer.produce(topic, key=key, value=value, timestamp=1_700_000_000_000 + number)
                break
            except BufferError:
                producer.poll(0.05)
    producer.flush()


class Bench:
    """The measurements of one run; `values`: row → side → values."""

    def __init__(self, plan: Plan, workdir: Path, console: Console, broker: str) -> None:
        self.plan, self.workdir, self.console, self.broker = plan, workdir, console, broker
        self.classes = compiled(JAVA, workdir / "classes")
        self.values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.foreign: list[float | None] = []
        self._quix: Path | None = None

    def measure(self, row: str, side: str, command: list[str], records: int) -> None:
        """Run one side; the last time that it prints counts."""
        before = CpuTime.now()
        log = self.workdir / f"{row}-{side}-{uuid.uuid4().hex[:6]}.log"
        text = Child(f"{side} {row}", command, log).wait(self.plan.timeout_s)
        self.foreign.append(foreign_share(before))
        found = re.findall(r"seconds=([\d.E-]+)", text)
        if not found:
            raise BenchmarkError(f"{side} {row} printed no time.\n{text[-2000:]}")
        rate = records / float(found[-1])
        self.values[row][side].append(rate)
        self.console.print(f"{side} {row}: {rate:,.0f}/s")

    def both(self, program: str, row: str, records: int) -> None:
        """Ours and Kafka Streams': a warm-up application, then the one that counts."""
        for side in ("peer", "ours"):
            self.one(side, program, row, records)

    def one(self, side: str, program: str, row: str, records: int) -> None:
        """One side: a warm-up application, then the one that counts."""
        name = f"{program}-{side}-{uuid.uuid4().hex[:6]}"
        self.measure(
            row, side, [*self._command(side), self.broker, program, f"{name}-warm", str(records), name, str(records)], records
        )

    def restore(self, row: str, application: str, keys: int) -> None:
        """Restore the application of this name, twice; the second time counts."""
        for side in ("peer", "ours"):
            name = f"{application}-{side}"
            self.measure(row, side, [*self._command(side), self.broker, "restore", name, "0", name, "0"], keys)

    def prepare(self, side: str, application: str, records: int) -> None:
        """Let one side count once, so that there is something to restore."""
        command = [*self._command(side), self.broker, "count", f"{application}-{side}", str(records)]
        Child(f"prepare {side}", command, self.workdir / f"prepare-{side}.log").wait(self.plan.timeout_s)

    def _command(self, side: str, *java_options: str) -> list[str]:
        if side == "ours":
            return [sys.executable, "-m", "benchmarks.streams.ours"]
        options = ["-Xmx4G", *GC, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", *java_options]
        return [*java(options, self.classes), "io.headrace.bench.StreamsPeer"]

    def latency(self, side: str, keys: int) -> None:
        """How long a record takes through a count with so many keys: of headrace, or of Kafka Streams without its cache."""
        with Broker(name="bench") as broker:
            for topic in ("records", "out"):
                create_topic(broker.bootstrap, topic)
            fill(broker.bootstrap, "records", keys, keys)
            command = [*self._command(side, "-Duncached=true"), broker.bootstrap, "count", "latency", str(2**62)]
            before = CpuTime.now()
            found = latency.measure(broker.bootstrap, command, keys, self.workdir / f"latency-{side}-{keys}.log")
            self.foreign.append(foreign_share(before))
        self.console.print(f"{side} {keys} keys: {found}")
        for what, value in found.items():
            self.values[f"latency-count-{keys}-{what}"][side].append(value)

    def quix(self) -> None:
        """Count with Quix Streams over fewer records of the same topic."""
        command = [
            str(self._quix_python()),
            str(Path(__file__).with_name("quix.py")),
            self.broker,
            f"quix-{uuid.uuid4().hex[:6]}",
        ]
        self.measure("count-vs-quix", "peer", [*command, str(self.plan.quix)], self.plan.quix)

    def _quix_python(self) -> Path:
        """A Python with Quix Streams, in an environment of its own, because it pins other versions of shared packages."""
        if self._quix is None:
            place = self.workdir / "quix"
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            self._quix = place / "bin" / "python"
            subprocess.run([str(self._quix), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", QUIX], check=True)
        return self._quix


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/streams.json unless the run is quick or one-sided."""
    plan = QUICK if options.quick else FULL
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch, Broker(name="bench") as broker:
        bench = Bench(plan, Path(scratch), console, broker.bootstrap)
        for topic in ("records", "few-records", "table", "out"):
            create_topic(broker.bootstrap, topic)
        fill(broker.bootstrap, "records", plan.records, plan.keys)
        fill(broker.bootstrap, "few-records", plan.quix, plan.keys)  # all of a batch is processed, and the next one, too
        fill(broker.bootstrap, "table", plan.keys, plan.keys)
        os.sync()
        for _ in range(options.rounds):
            for program, row in PROGRAMS.items():
                bench.both(program, row, plan.records + (plan.keys if program == "join" else 0))
            bench.quix()
            bench.one("ours", "processor", "processor-vs-quix", plan.quix)
    values, foreign = dict(bench.values), list(bench.foreign)
    for keys in plan.restore_keys:
        restored = _restore(plan, keys, options.rounds, console)
        values |= restored.values
        foreign += restored.foreign
    values["count-vs-quix"]["ours"] = values["count-vs-kafka-streams"]["ours"]
    values["processor-vs-quix"]["peer"] = values["count-vs-quix"]["peer"]  # a stateful function, too
    rows = [
        report.Row(name, "keys/s" if name.startswith("restore") else "records/s", sides["ours"], sides["peer"])
        for name, sides in values.items()
    ]
    report.show("Streams: headrace beside Kafka Streams and Quix Streams", "peer", rows, console)
    if not options.quick and options.only is None:
        method = asdict(plan) | {"rounds": options.rounds, "foreign_cpu": foreign}
        console.print(f"written: {report.save('streams', rows, method)}")


def _restore(plan: Plan, keys: int, rounds: int, console: Console) -> Bench:
    """Measure how fast a store of so many keys comes back."""
    row = "restore-vs-kafka-streams" if keys == plan.restore_keys[0] else f"restore-{keys}-vs-kafka-streams"
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch, Broker(name="bench") as broker:
        bench = Bench(plan, Path(scratch), console, broker.bootstrap)
        for topic in ("records", "table", "out"):
            create_topic(broker.bootstrap, topic)
        fill(broker.bootstrap, "records", keys, keys)
        for side in ("peer", "ours"):
            bench.prepare(side, "restored", keys)
        for _ in range(rounds):
            bench.restore(row, "restored", keys)
    return bench


def run_latency(options: Options, console: Console) -> None:
    """Measure how long a record takes, print the table, and write results/streams-latency.json unless the run is quick."""
    sizes = options.sizes or (QUICK if options.quick else FULL).latency_keys
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch:
        bench = Bench(FULL, Path(scratch), console, "")
        for _ in range(options.rounds):
            for keys in sizes:
                for side in ("peer", "ours"):
                    if options.only in (None, side):
                        bench.latency(side, keys)
    units = {name: latency.UNITS[name.rpartition("-")[2]] for name in bench.values}
    rows = [report.Row(name, units[name], sides["ours"], sides["peer"]) for name, sides in bench.values.items()]
    report.show("Latency of a count: headrace beside Kafka Streams without its cache", "peer", rows, console)
    if not options.quick and options.only is None:
        method = {"keys": sizes, "rate": latency.RATE, "warmup_s": latency.WARMUP_S, "measured_s": latency.MEASURED_S}
        method |= {"rounds": options.rounds, "foreign_cpu": bench.foreign}
        console.print(f"written: {report.save('streams-latency', rows, method)}")
