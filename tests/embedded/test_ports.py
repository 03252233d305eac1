"""A port that was given to one is given to nobody else before a server listens on it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from headrace.embedded import ports


def test_two_calls_never_return_the_same_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_PORTS", range(21_000, 21_200))
    assert len({ports.free_port() for _ in range(100)}) == 100


@pytest.mark.slow
def test_another_process_does_not_get_it_while_this_one_runs() -> None:
    port = ports.free_port()
    program = (
        "from headrace.embedded import ports\n"
        f"ports._PORTS = range({port}, {port} + 400)\n"  # a hundred of them may be those of the test before
        f"print({port} in {{ports.free_port() for _ in range(100)}})"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"
