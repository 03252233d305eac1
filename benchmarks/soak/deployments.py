"""The workers of a soak, one of each kind, with their mirrors."""

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
from benchmarks.engine import Mirror
from benchmarks.ours import Headrace
from benchmarks.process import BenchmarkError
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


KINDS = (
    Kind("at-least-once", 10),
    Kind("exactly-once", 10, exactly_once=True),
    Kind("executors", 5, exactly_once=True, executors=2),
    Kind("batches", 5, config=_IN_BATCHES),
)


@dataclass(frozen=True)
class Deployment:
    """A worker and its connectors, each of which mirrors one of the topics to `<connector>.<topic>`."""

    kind: Kind
    engine: Mirror
    topics: Sequence[str]

    @classmethod
    def of(cls, kind: Kind, source: str, target: str, topics: Sequence[str], workdir: Path) -> Deployment:
        """With a worker that does not run yet; topics: of the source."""
        directory = workdir / kind.name
        directory.mkdir()
        if kind.executors:
            engine: Headrace = OnCluster(source, target, kind.executors, directory, kind.exactly_once)
        else:
            engine = Headrace(source, target, kind.name, directory, kind.exactly_once)
        return cls(kind, engine, topics[: kind.connectors])

    @property
    def connectors(self) -> dict[str, str]:
        """The topic that each copies, by its name."""
        return {f"{self.kind.name}-{number}": topic for number, topic in enumerate(self.topics)}

    def create(self) -> None:
        """Create the connectors on the worker, which runs."""
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

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes of the worker."""
        _send(tree(self.engine.pid), number)

    def kill_executor(self, chance: random.Random) -> None:
        """`kill -9` of an executor, with the Spark tasks in it."""
        if executors := parts(self.engine.pid, "CoarseGrainedExecutorBackend"):
            _send([chance.choice(executors)], signal.SIGKILL)


def _send(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue  # it has just ended
