"""Run the `headrace` command as a process."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from tests.support import quick_java

PLAIN = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}


def headrace(*arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it to its end, within five minutes."""
    command = [sys.executable, "-m", "headrace.cli", *arguments]
    env = {**quick_java(), **PLAIN, **(environ or {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=env)


class Running:
    """A command that runs: its lines, and signals to it."""

    def __init__(self, process: subprocess.Popen[str], output: IO[str]) -> None:
        self.process = process
        self._output = output

    def line(self) -> str:
        """The next line of standard output, waited for; empty if it ended."""
        return self._output.readline().rstrip("\n")

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal and return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(300)


@contextmanager
def running(*arguments: str) -> Iterator[Running]:
    """Start it; killed at the end of the block if it still runs."""
    command = [sys.executable, "-m", "headrace.cli", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**quick_java(), **PLAIN}) as process:
        assert process.stdout
        try:
            yield Running(process, process.stdout)
        finally:
            process.kill()
