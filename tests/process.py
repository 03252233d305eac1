"""A worker as a process of its own, as `headrace worker FILE` starts it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from tests.support import QUICK_JVM, wait_until

_START_S = 300


def worker_properties(group: str, listener: str) -> dict[str, str]:
    """A worker's properties but for `bootstrap.servers`; its internal topics are named after the group.

    They have fewer partitions than by default: each costs the test's broker files, and the worker a fetch.
    """
    properties = {
        "group.id": group,
        "listeners": listener,
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "spark.driver.extraJavaOptions": QUICK_JVM,
        "offset.storage.partitions": "5",
        "status.storage.partitions": "1",
    }
    for kind in ("config", "offset", "status"):
        properties |= {f"{kind}.storage.topic": f"{group}-{kind}", f"{kind}.storage.replication.factor": "1"}
    return properties


class WorkerProcess:
    """`headrace worker` with these properties; a context manager that kills whatever is left of it."""

    def __init__(self, directory: Path, properties: dict[str, str], environ: dict[str, str] | None = None) -> None:
        """environ: variables to take settings from instead of the properties (`--from-env`)."""
        self.file, self._out, self._err = directory / "worker.properties", directory / "out", directory / "err"
        self.file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> Self:
        """Start the process; it is not waited for."""
        with self._out.open("wb") as out, self._err.open("wb") as err:
            command = [sys.executable, "-m", "headrace.cli", "worker", "--from-env" if self._environ else str(self.file)]
            env = {**os.environ, **(self._environ or {})}
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, process_group=0, env=env)
        return self

    def await_ready(self) -> Self:
        """Wait until it has said where its REST API listens, or has ended."""

        def told() -> bool:
            return self.output.startswith("rest=") and self.output.endswith("\n")

        wait_until(lambda: told() or self.returncode is not None, _START_S, lambda: f"a worker; {self.errors}")
        assert self.returncode is None, self.errors
        self.url = self.output.removeprefix("rest=").strip()
        return self

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process, "not started"
        return self._process

    @property
    def returncode(self) -> int | None:
        return self.process.poll()

    @property
    def output(self) -> str:
        return self._out.read_text()

    @property
    def errors(self) -> str:
        """Its standard error: the log, and the sentence that it ended with."""
        return self._err.read_text()

    def call(self, method: str, path: str, body: object = None) -> Any:
        answer = httpx.request(method, self.url + path, json=body, timeout=100)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def children(self) -> list[int]:
        """The processes that it has started, its JVM among them."""
        return children(self.process.pid)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all its processes."""
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """`kill -9` of the process itself, and of nothing else."""
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def children(pid: int) -> list[int]:
    """The processes that run and that this one has started."""
    stats = {stat.parent.name: stat for stat in Path("/proc").glob("[0-9]*/stat")}
    return [int(number) for number, stat in stats.items() if parent(stat) == pid]


def is_alive(pid: int) -> bool:
    """Whether a process runs (one that is dead and not yet waited for does not)."""
    return parent(Path(f"/proc/{pid}/stat")) is not None


def parent(stat: Path) -> int | None:
    """The parent of a process, by its `/proc/<pid>/stat`; None if it does not run."""
    try:
        state, number = stat.read_text().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in ("Z", "X") else int(number)
