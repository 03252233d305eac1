"""What is measured: a worker in a process of its own, steered over Kafka Connect's REST API.

Both sides are this one class, so that they are started, told what to do, watched and stopped in the same way; `ours`
and `peer` only say which command and which connector.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import httpx

from benchmarks.cpu import tree_rss_mb, tree_seconds, tree_threads
from benchmarks.load import PARTITIONS
from benchmarks.process import BenchmarkError, Child, free_port, write_properties

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
INTERNAL = ("config", "offset", "status")

# What those who mirror much set for the clients, on both sides: the size that the MirrorMaker 2 chapter "handling high
# volumes of messages" of Strimzi and Red Hat gives (the rest of what it gives are the defaults, but for a linger of
# 100 ms, which would only spoil the latency: full batches do not linger).
CLIENTS = {"producer.override.batch.size": "327680"}


class Engine(ABC):
    """A worker of one kind on the cluster of the broker `destination` (`host:port`).

    `label` tells this worker from all others on the same broker: it is in its group, its internal topics and the topics
    that it writes, so each worker starts from nothing. `workdir` receives its properties file and its log.
    """

    name: ClassVar[str]

    def __init__(self, destination: str, label: str, workdir: Path) -> None:
        self.destination, self.label, self.workdir = destination, label, workdir
        self._port = free_port()
        self._http = httpx.Client(base_url=self.url, timeout=90)
        self._child: Child | None = None

    @abstractmethod
    def command(self, properties: Path) -> list[str]:
        """Return the command line of a worker that reads `properties`."""

    def worker_properties(self) -> dict[str, str]:
        """Return the settings of the worker; a subclass may add to those that both sides share."""
        return {
            "bootstrap.servers": self.destination,
            "group.id": f"bench-{self.label}",
            "listeners": self.url,
            "rest.advertised.host.name": "127.0.0.1",
            **{f"{kind}.storage.topic": f"bench-{self.label}-{kind}" for kind in INTERNAL},
            **{f"{kind}.storage.replication.factor": "1" for kind in INTERNAL},
            **dict.fromkeys(("key.converter", "value.converter", "header.converter"), BYTES),
        }

    def __enter__(self) -> Self:
        """Start the worker."""
        self.start()
        return self

    def start(self) -> None:
        """Start the worker, also again after `kill`, and wait until its REST API answers (at most two minutes)."""
        properties = write_properties(self.workdir / f"{self.label}.properties", self.worker_properties())
        self._child = Child(f"{self.name} ({self.label})", self.command(properties), self.workdir / f"{self.label}.log")
        try:
            self._child.wait_until(self._answers, "answer over REST", 120)
        except BaseException:
            self._child.stop()
            raise

    def __exit__(self, *_: object) -> None:
        """Stop the worker."""
        self._http.close()
        self._running.stop()

    @contextmanager
    def deployed(self, connector: str, config: Mapping[str, str]) -> Iterator[None]:
        """Have a connector for as long as the context lasts."""
        self._expect(self._http.post("/connectors", json={"name": connector, "config": dict(config)}), 201)
        yield
        self._expect(self._http.delete(f"/connectors/{connector}"), 204)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer of a request, which has to be a success; BenchmarkError otherwise, also without an answer."""
        try:
            answer = self._http.request(method, path, json=body)
        except httpx.TransportError as error:
            self._running.check()
            raise BenchmarkError(f"{self.name}: {method} {path} had no answer: {error!r}") from error
        if not answer.is_success:
            self._expect(answer, 200)
        return answer.json() if answer.content else None

    def kill(self) -> None:
        """`kill -9` of the worker's first process."""
        self._running.kill()

    @property
    def pid(self) -> int:
        """The id of the worker's first process."""
        return self._running.pid

    @property
    def url(self) -> str:
        """Where its REST API listens."""
        return f"http://127.0.0.1:{self._port}"

    def cpu_seconds(self) -> float:
        """Return the CPU time that the worker, with all that it started, has used so far."""
        return tree_seconds(self._running.pid)

    def idle(self, seconds: float) -> dict[str, float]:
        """Watch the worker for so long; return % of a core, resident MiB and threads of all its processes."""
        started, cpu = time.monotonic(), self.cpu_seconds()
        time.sleep(seconds)
        used = (self.cpu_seconds() - cpu) / (time.monotonic() - started)
        return {"idle-cpu": 100 * used, "memory": tree_rss_mb(self.pid), "threads": float(tree_threads(self.pid))}

    def check(self, connector: str) -> None:
        """Raise BenchmarkError if the process has ended, or if the connector or one of its tasks has failed."""
        self._running.check()
        answer = self._http.get(f"/connectors/{connector}/status")
        if answer.status_code == 200:  # a new connector may not have reported yet
            self._raise_if_failed(connector, answer.json())

    def check_all(self) -> None:
        """Do as `check` does for every connector of the worker, with one request."""
        self._running.check()
        for connector, views in self.call("GET", "/connectors?expand=status").items():
            self._raise_if_failed(connector, views["status"])

    def _raise_if_failed(self, connector: str, status: Mapping[str, Any]) -> None:
        for part in [status["connector"], *status["tasks"]]:
            if part["state"] == "FAILED":
                trace = part.get("trace", "")
                raise BenchmarkError(f"{self.name}: {connector} FAILED: {trace}\n{self._running.tail()}")

    @property
    def _running(self) -> Child:
        if self._child is None:
            raise BenchmarkError(f"{self.name} ({self.label}) has not been started.")
        return self._child

    def _answers(self) -> bool:
        """Ask for the list of connectors: a Connect worker answers it only after it has joined its group."""
        try:
            return self._http.get("/connectors").status_code == 200
        except httpx.TransportError:
            return False

    def _expect(self, answer: httpx.Response, status: int) -> None:
        if answer.status_code != status:
            request = f"{answer.request.method} {answer.request.url.path}"
            raise BenchmarkError(
                f"{self.name}: {request} answered {answer.status_code} (expected {status}): {answer.text}\n{self._running.tail()}"
            )


@dataclass(frozen=True)
class Mirroring:
    """A connector that mirrors `topic`; its copy is `copy`."""

    connector: str
    topic: str
    copy: str


class Mirror(Engine):
    """A worker that mirrors from the broker `source` to the broker `destination`."""

    def __init__(self, source: str, destination: str, label: str, workdir: Path, exactly_once: bool = False) -> None:
        """exactly_once: with KIP-618's delivery."""
        super().__init__(destination, label, workdir)
        self.source, self.exactly_once = source, exactly_once
        self.partitions = PARTITIONS  # of the topics that it makes, where it does not take the source's number
        self._mirrored = 0

    def worker_properties(self) -> dict[str, str]:
        """Return the settings of the worker, with exactly-once delivery of sources if that is measured (KIP-618)."""
        return super().worker_properties() | ({"exactly.once.source.support": "enabled"} if self.exactly_once else {})

    @abstractmethod
    def connector(self, topic: str, alias: str) -> dict[str, str]:
        """Return the configuration of a connector that mirrors `topic` to ALIAS.TOPIC, without settings of clients."""

    @contextmanager
    def mirroring(self, topic: str, tuned: bool = True) -> Iterator[Mirroring]:
        """Mirror `topic` from its beginning to a new copy, for as long as the context lasts.

        `tuned`: with the client settings CLIENTS; otherwise with none.
        """
        self._mirrored += 1
        alias = f"{self.label}-{self._mirrored}"
        with self.deployed(alias, self.connector(topic, alias) | (CLIENTS if tuned else {})):
            yield Mirroring(alias, topic, f"{alias}.{topic}")
