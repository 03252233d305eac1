"""The workers of a soak, of each kind, with their mirrors."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.cpu import parts, tree
from benchmarks.engine import INTERNAL, Mirror
from benchmarks.ours import Headrace
from benchmarks.process import BenchmarkError, free_port
from benchmarks.scale import OnCluster

_REST_S = 120
_JSON = {"": "org.apache.kafka.connect.json.JsonConverter", ".schemas.enable": "false"}
_IN_BATCHES = {
    **{f"{side}value.converter{suffix}": value for side in ("source.", "") for suffix, value in _JSON.items()},
    "transforms": "same",
    "transforms.same.type": "benchmarks.soak.same.Same",
}


@dataclass(frozen=True)
class Kind:
    """Mirrors that are alike."""

    name: str
    connectors: int
    exactly_once: bool = False
    executors: int = 0
    """Of a Spark cluster; 0: they run in the worker."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Of each connector, besides what all have."""
    workers: int = 1
    """Of one group; of several, another one takes over what a killed or frozen one had."""


KINDS = (
    Kind("at-least-once", 10),
    Kind("exactly-once", 10, exactly_once=True),
    Kind("executors", 5, exactly_once=True, executors=2),
    Kind("batches", 5, config=_IN_BATCHES),
    Kind("two-workers", 10, exactly_once=True, workers=2),
)


class Member(Headrace):
    """A worker of a group, whose Spark has its web page, which can kill what runs."""

    def __init__(self, kind: Kind, number: int, source: str, target: str, workdir: Path) -> None:
        super().__init__(source, target, f"{kind.name}-{number}", workdir, kind.exactly_once)
        self._group, self._spark = f"bench-{kind.name}", free_port()

    def worker_properties(self) -> dict[str, str]:
        """Return the same group and internal topics for all of its workers, and the web page."""
        topics = {f"{kind}.storage.topic": f"{self._group}-{kind}" for kind in INTERNAL}
        page = {"spark.ui.enabled": "true", "spark.ui.port": str(self._spark)}
        return super().worker_properties() | {"group.id": self._group, **topics, **page}

    def kill_spark_tasks(self) -> None:
        """Kill all Spark tasks that run in the worker, lanes and batches."""
        with httpx.Client(base_url=f"http://127.0.0.1:{self._spark}", timeout=60, follow_redirects=True) as page:
            (application,) = page.get("/api/v1/applications").raise_for_status().json()
            active = page.get(f"/api/v1/applications/{application['id']}/stages?status=active").raise_for_status().json()
            for stage in active:
                page.post(f"/stages/stage/kill/?id={stage['stageId']}").raise_for_status()


@dataclass(frozen=True)
class Deployment:
    """Workers and their connectors, each of which mirrors one of the topics to `<connector>.<topic>`."""

    kind: Kind
    workers: Sequence[Mirror]
    topics: Sequence[str]

    @classmethod
    def of(cls, kind: Kind, source: str, target: str, topics: Sequence[str], workdir: Path) -> Deployment:
        """With workers that do not run yet; topics: of the source."""
        directory = workdir / kind.name
        directory.mkdir()
        if kind.executors:
            workers: list[Mirror] = [OnCluster(source, target, kind.executors, directory, kind.exactly_once)]
        else:
            workers = [Member(kind, number, source, target, directory) for number in range(kind.workers)]
        return cls(kind, workers, topics[: kind.connectors])

    @property
    def engine(self) -> Mirror:
        """The worker that requests are sent to."""
        return self.workers[0]

    @property
    def connectors(self) -> dict[str, str]:
        """The topic that each copies, by its name."""
        return {f"{self.kind.name}-{number}": topic for number, topic in enumerate(self.topics)}

    def create(self) -> None:
        """Create the connectors; the workers run."""
        required = {"exactly.once.support": "required"} if self.kind.exactly_once else {}
        for name, topic in self.connectors.items():
            config = {**self.engine.connector(topic, name), **required, **self.kind.config}
            self.engine.call("POST", "/connectors", {"name": name, "config": config})

    def put(self, connector: str, what: str) -> None:
        """PUT `pause`, `resume` or `stop`, until the worker takes it."""
        deadline = time.monotonic() + _REST_S
        while True:
            try:
                self.engine.call("PUT", f"/connectors/{connector}/{what}")
                return
            except (BenchmarkError, httpx.TransportError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)

    def kill_executor(self, chance: random.Random) -> None:
        """`kill -9` of an executor, with the Spark tasks in it."""
        if executors := parts(self.engine.pid, "CoarseGrainedExecutorBackend"):
            _send([chance.choice(executors)], signal.SIGKILL)


def send_to_all(worker: Mirror, number: signal.Signals) -> None:
    """Send a signal to all processes of a worker."""
    _send(tree(worker.pid), number)


def _send(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue  # it has just ended
