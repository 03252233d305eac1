"""A child process with its log in a file: started, watched and stopped by the benchmarks."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headrace.embedded.child import spawn


class BenchmarkError(Exception):
    """A benchmark cannot go on; the message says which part, and ends with the last lines of its log."""


class Child:
    """One child process, which dies with this one.

    `log` receives what it prints. Errors of `check`, `wait` and `wait_until` carry the end of that file.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name, self.log = name, log
        with log.open("ab") as output:
            self._process = spawn(list(command), output)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def check(self) -> None:
        """Raise BenchmarkError if the process has ended."""
        status = self._process.poll()
        if status is not None:
            raise BenchmarkError(f"{self.name} ended with status {status}.\n{self.tail()}")

    def wait(self, timeout_s: float) -> str:
        """Wait for the process to end by itself and return what it printed; a status other than 0 raises."""
        try:
            status = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.stop()
            raise BenchmarkError(f"{self.name} did not end within {timeout_s:.0f} s.\n{self.tail()}") from None
        if status:
            raise BenchmarkError(f"{self.name} ended with status {status}.\n{self.tail()}")
        return self.log.read_text(errors="replace")

    def wait_until(self, ready: Callable[[], bool], what: str, timeout_s: float) -> None:
        """Wait until `ready` answers true, looking every 100 ms; `what` completes the sentence "X did not …"."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            self.check()
            if time.monotonic() > deadline:
                raise BenchmarkError(f"{self.name} did not {what} within {timeout_s:.0f} s.\n{self.tail()}")
            time.sleep(0.1)

    def stop(self, grace_s: float = 30) -> None:
        """End the process: SIGTERM, then SIGKILL after `grace_s` seconds."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(grace_s)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def kill(self) -> None:
        """`kill -9`."""
        self._process.kill()
        self._process.wait()

    def tail(self, lines: int = 25) -> str:
        """Return the last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def free_port() -> int:
    """Return a loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_properties(path: Path, properties: Mapping[str, str]) -> Path:
    """Write a .properties file (values here need no escapes) and return its path."""
    path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    return path
