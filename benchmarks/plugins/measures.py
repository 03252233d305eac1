"""What one worker is measured by: a file, a table, its changes, the start of connectors, and ten that have nothing to do."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from confluent_kafka import Consumer, TopicPartition
from tests.spark_formats.postgres import Postgres

from benchmarks.java import java
from benchmarks.latency import percentile
from benchmarks.plugins.workers import Plugged, debezium, file_source
from benchmarks.process import BenchmarkError, Child
from benchmarks.throughput import EndOffsets, follow, steady_rate

LIMIT_S = 300
LINE = "{:>99}\n"
UNITS = {
    "file": "records/s", "file-cpu": "s/million", "snapshot": "records/s", "snapshot-cpu": "s/million", "start": "s",
    "change-p50": "ms", "change-p99": "ms", "idle-cpu": "% of a core",
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """How much is measured; the first copy of the file and of the table is not counted."""

    lines: int = 1_000_000
    rows: int = 100_000
    starts: int = 5
    rate: int = 100
    """Rows that are inserted per second."""
    warm_up_s: int = 5
    measured_s: int = 20
    idle: int = 10
    settle_s: float = 5
    idle_s: float = 20


@dataclass(frozen=True)
class Database:
    """The server, and the program that speaks to it."""

    server: Postgres
    classes: Path
    driver: Path

    def run(self, statements: str) -> None:
        """Run statements."""
        self._child("statements", statements).wait(LIMIT_S)

    def inserting(self, insert: str, rate: int, count: int) -> Child:
        """Return a process that runs an insert so often, with the time as its parameter."""
        return self._child("the inserts", insert, str(rate), str(count))

    def _child(self, name: str, *arguments: str) -> Child:
        command = java(own=self.classes, more=[self.driver])
        return Child(name, [*command, "io.headrace.bench.Sql", self.server.url, *arguments], self.classes / "sql.log")


@dataclass(frozen=True)
class Measures:
    """The measures of one worker that runs on a broker that holds nothing yet."""

    engine: Plugged
    size: Size
    database: Database
    workdir: Path

    def measure(self) -> Iterator[tuple[str, float]]:
        """Measure one row after the other; gives name and value of each as soon as it is known."""
        file = self.workdir / "lines.txt"
        if not file.exists():
            file.write_text("".join(map(LINE.format, range(self.size.lines))))
        for row in ("", "file"):
            topic = f"file-{row}"
            yield from self._copied(row, topic, file_source(file, topic), self.size.lines)
        for row in ("", "snapshot"):
            prefix = f"{self.engine.label}-table{row}"
            config = debezium(self.database.server.port, "stored", prefix)
            yield from self._copied(row, f"{prefix}.public.stored", config, self.size.rows)
        yield "start", median(self._start_s(number) for number in range(self.size.starts))
        found = self._changes()
        yield from ((f"change-p{share}", percentile(found, share / 100)) for share in (50, 99))
        yield "idle-cpu", self._idle()

    def _copied(self, row: str, topic: str, config: dict[str, str], total: int) -> Iterator[tuple[str, float]]:
        """Copy `total` records; gives rate and CPU time if the row has a name."""
        cpu = self.engine.cpu_seconds()
        name = topic.replace(".", "-")
        with self._deployed(name, config), EndOffsets(self.engine.destination, topic) as offsets:
            samples = follow(offsets, total, lambda: self.engine.check(name), LIMIT_S)
            used = self.engine.cpu_seconds() - cpu
        if row:
            yield row, steady_rate(samples, total)
            yield f"{row}-cpu", used * 1e6 / total

    def _start_s(self, number: int) -> float:
        """Seconds from the request that creates a connector until its first record is there."""
        file, topic = self.workdir / "line.txt", f"start-{number}"
        file.write_text("one\n")
        begun = time.monotonic()
        with self._deployed(topic, file_source(file, topic)), EndOffsets(self.engine.destination, topic) as offsets:
            while not sum(offsets.ends(offsets.partitions())):
                if time.monotonic() - begun > LIMIT_S:
                    raise BenchmarkError(f"{self.engine.name}: no record of {topic} within {LIMIT_S} s.")
                time.sleep(0.01)
            return time.monotonic() - begun

    def _changes(self) -> list[float]:
        """Milliseconds from an insert until its change is read from the topic."""
        size, table = self.size, "changes_" + self.engine.label.replace("-", "_")
        self.database.run(f"create table {table} (id serial primary key, sent bigint); insert into {table} (sent) values (0)")
        prefix = f"{self.engine.label}-changes"
        with self._deployed(prefix, debezium(self.database.server.port, table, prefix)):
            topic = f"{prefix}.public.{table}"
            with EndOffsets(self.engine.destination, topic) as offsets:
                follow(offsets, 1, lambda: self.engine.check(prefix), LIMIT_S)
            skipped, total = size.rate * size.warm_up_s, size.rate * (size.warm_up_s + size.measured_s)
            sender = self.database.inserting(f"insert into {table} (sent) values (?)", size.rate, total)
            found = self._read(topic, total, sender)
            sender.wait(LIMIT_S)
        return found[skipped:]

    def _read(self, topic: str, count: int, sender: Child) -> list[float]:
        consumer = Consumer({"bootstrap.servers": self.engine.destination, "group.id": "bench", "fetch.wait.max.ms": 10})
        consumer.assign([TopicPartition(topic, 0, 1)])
        found: list[float] = []
        deadline = time.monotonic() + LIMIT_S
        while len(found) < count:
            record = consumer.poll(1)
            if record is not None and not record.error():
                found.append(time.time() * 1000 - json.loads(record.value() or b"{}")["after"]["sent"])
            elif time.monotonic() > deadline:
                raise BenchmarkError(f"{len(found)} of {count} changes arrived.\n{sender.tail()}")
        consumer.close()
        return found

    def _idle(self) -> float:
        """Have connectors that have read all there is; % of a core."""
        file = self.workdir / "line.txt"
        names = [f"idle-{number}" for number in range(self.size.idle)]
        for name in names:
            self.engine.call("POST", "/connectors", {"name": name, "config": self._whole(file_source(file, name))})
        with EndOffsets(self.engine.destination, *names) as offsets:
            follow(offsets, len(names), self.engine.check_all, LIMIT_S)
        time.sleep(self.size.settle_s)
        return self.engine.idle(self.size.idle_s)["idle-cpu"]

    def _deployed(self, name: str, config: dict[str, str]) -> AbstractContextManager[None]:
        return self.engine.deployed(name, self._whole(config))

    def _whole(self, config: dict[str, str]) -> dict[str, str]:
        creation = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
        return config | creation | self.engine.own | {"tasks.max": "1"}
