"""Many connectors on one worker: what they cost while they have nothing to do, and how quickly REST answers beside them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from benchmarks import ours, peer
from benchmarks.engine import Engine
from benchmarks.process import BenchmarkError
from benchmarks.rest import Asking, Request, ask

STRING = "org.apache.kafka.connect.storage.StringConverter"
THREADS = 4


@dataclass(frozen=True)
class Size:
    """How much: connectors (half of them sources, half sinks); seconds to settle, to watch them idle, and to ask REST."""

    connectors: int = 100
    settle_s: float = 20
    idle_s: float = 30
    rest_s: float = 20


class Headrace(Engine):
    """A headrace worker."""

    name: ClassVar[str] = "headrace"

    def command(self, properties: Path) -> list[str]:
        """Run `headrace worker`."""
        return ours.worker(properties)


class Connect(Engine):
    """A worker of Kafka Connect."""

    name: ClassVar[str] = "Kafka Connect 4.3.0"

    def command(self, properties: Path) -> list[str]:
        """Run ConnectDistributed."""
        return peer.connect(properties)

    def worker_properties(self) -> dict[str, str]:
        """Return what both sides share, and how plugins are found."""
        return super().worker_properties() | peer.PLUGINS


def config(number: int, folder: Path) -> dict[str, str]:
    """Return the configuration of one connector: lines of a file to a topic; or, of the next, its records to another file."""
    topic = f"{folder.name}-{number // 2}"
    common = {"value.converter": STRING, "tasks.max": "1"}
    if number % 2:
        return common | {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "topics": topic,
            "file": str(folder / f"out-{number}.txt"),
        }
    return common | {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": str(folder / f"in-{number}.txt"),
        "topic": topic,
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
    }


def measure(engine: Engine, size: Size) -> dict[str, float]:
    """Create the connectors on a worker that runs, have each deliver a line, and return row → value."""
    folder = engine.workdir / engine.label
    folder.mkdir()
    for number in range(0, size.connectors, 2):
        (folder / f"in-{number}.txt").write_text(f"{engine.label} {number}\n")
    began = time.monotonic()
    for number in range(size.connectors):
        engine.call("POST", "/connectors", {"name": f"c{number}", "config": config(number, folder)})
    created_s = time.monotonic() - began
    _await_delivery(engine, size, folder)
    delivered_s = time.monotonic() - began
    time.sleep(size.settle_s)
    idle = engine.idle(size.idle_s)
    return {"created": created_s, "delivered": delivered_s, **idle, **_rest(engine, size, folder)}


def _await_delivery(engine: Engine, size: Size, folder: Path) -> None:
    """Every sink has written the line of its source."""
    deadline = time.monotonic() + 300
    waiting = [folder / f"out-{number}.txt" for number in range(1, size.connectors, 2)]
    while waiting := [file for file in waiting if not file.exists() or not file.read_bytes()]:
        if time.monotonic() > deadline:
            raise BenchmarkError(f"{engine.name}: {len(waiting)} of the sinks have written nothing.")
        engine.check_all()
        time.sleep(1)


def _rest(engine: Engine, size: Size, folder: Path) -> dict[str, float]:
    """THREADS clients ask without a pause, mostly for small things; another changes configurations, one after the other."""

    def read(number: int) -> Request:
        connector = f"/connectors/c{number % size.connectors}"
        return "GET", (connector + "/status", connector, "/connectors", connector + "/config")[number // 7 % 4], None

    def change(number: int) -> Request:
        chosen = number % size.connectors
        return "PUT", f"/connectors/c{chosen}/config", config(chosen, folder)

    found: dict[str, float] = {}
    everything: list[Request] = [("GET", "/connectors?expand=status&expand=info", None)]
    for row, asking in {
        "rest-small": Asking(engine.url, read, THREADS, 0.0),
        "rest-everything": Asking(engine.url, everything, THREADS, 0.0),
        "rest-put-config": Asking(engine.url, change, 1, 0.2),
    }.items():
        answers = ask(asking, size.rest_s, f"{row} at {engine.name}")
        found[f"{row}-p99"] = answers.percentile(0.99)
        if row != "rest-put-config":
            found[f"{row}-rate"] = len(answers.seen) / size.rest_s
    return found
