"""A worker answers like Kafka Connect: the scenarios recorded from it (rest/README.md) are played against `headrace worker`.

Each scenario is a fact by itself: it starts and stops its own workers on a real broker. What differs on purpose, or for now,
is listed with its reason; a difference that has gone fails the test, so that the list stays true.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.embedded import Broker

TOOL = Path(__file__).parent / "rest"
ROOT = Path(__file__).parents[2]
SETTINGS = {"num.partitions": "3", "default.replication.factor": "1", "log.cleaner.enable": "false"}
WORKER = f"{sys.executable} -m headrace.cli worker {{properties}}"
BROKER = f"{sys.executable} -m tests.conformance.broker {{properties}} {{cluster_id}}"

GREEN = ("R01-root", "R12-unknown", "R31-admin-off", "R37-headers")
"""Scenarios that have to pass, but for the exchanges in DIFFERENT."""

DIFFERENT: dict[str, str] = {}
"""Line of the transcript → why headrace differs there."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """A cluster of its own: the tool deletes what appears on it."""
    with Broker(name="conformance", settings=SETTINGS) as broker:
        yield broker


def free_ports() -> int:
    """The first of two neighbouring free ports."""
    while True:
        with socket.create_server(("localhost", 0)) as first:
            port = first.getsockname()[1]
            try:
                socket.create_server(("localhost", port + 1)).close()
            except OSError:
                continue
            return port


def play(scenario: str, broker: Broker, work: Path) -> list[dict[str, Any]]:
    """Run the tool for one scenario; returns its results, one for each exchange and outcome."""
    report = work / "report.json"
    command = [sys.executable, str(TOOL / "replay.py"), str(TOOL / "transcript.jsonl"), "--only", f"^{scenario}$"]
    command += ["--bootstrap", broker.bootstrap, "--worker-cmd", WORKER, "--rest-port", str(free_ports())]
    command += ["--broker-cmd", BROKER, "--broker-port", str(free_ports()), "--report", str(report)]
    ended = subprocess.run([*command, "--keep-logs", str(work)], cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert report.exists(), ended.stdout + ended.stderr
    return json.loads(report.read_text(encoding="utf-8"))[0]["results"]


@pytest.mark.parametrize("scenario", GREEN)
def test_a_recorded_scenario_comes_out_the_same(scenario: str, broker: Broker, tmp_path: Path) -> None:
    results = play(scenario, broker, tmp_path)
    failed = {result["id"]: (result["request"], result["differences"]) for result in results if not result["passed"]}
    known = {line for line in DIFFERENT if line.startswith(scenario + ".")}
    assert {line: failed[line] for line in failed.keys() - known} == {}
    assert known - failed.keys() == set(), "these differ no more: take them out of DIFFERENT"
