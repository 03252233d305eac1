"""A worker answers like Kafka Connect: the scenarios recorded from it (rest/README.md) are played against `headrace worker`.

Each scenario is a fact by itself: it starts and stops its own workers on a real broker. What differs on purpose, or for now,
is listed with its reason; a difference that has gone fails the test, so that the list stays true.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from headrace.embedded import Broker, ports
from tests.support import quick_java

pytestmark = pytest.mark.slow

Results = list[dict[str, Any]]
AT_ONCE = 3
TOOL = Path(__file__).parent / "rest"
ROOT = Path(__file__).parents[2]
SETTINGS = {"num.partitions": "3", "default.replication.factor": "1", "log.cleaner.enable": "false"}
WORKER = f"{sys.executable} -m headrace.cli worker {{properties}}"
WITHOUT_SPARK = f"{sys.executable} -m tests.conformance.worker {{properties}}"
BROKER = f"{sys.executable} -m tests.conformance.broker {{properties}} {{cluster_id}}"

SCENARIOS = (
    "R01-root", "R03-create", "R05-source-life", "R07-initial-state", "R09-put-config", "R10-patch-config", "R12-unknown",
    "R14-restart-failed", "R16-offsets-source", "R17-offsets-sink", "R25-plugins", "R27-validate", "R29-loggers", "R31-admin-off",
    "R32-names", "R36-two-workers", "R37-headers", "R38-exactly-once", "R39-override-none", "R41-override-allow", "R42-startup",
    "R43-broker-down", "R44-crash", "R45-types-and-order", "B01-create-default", "B02-create-groups", "B04-create-existing",
    "B05-create-off", "B06-create-invalid", "B08-create-sink", "B09-broker-refuses", "B11-no-settings", "B12-auto-create",
    "B14-dead-letters", "B15-internal-topics", "B17-internal-bad", "A01-source-topics", "A02-sink-topics", "A03-tracking-off",
)  # fmt: skip
"""Scenarios that have to come out as recorded, but for the lines below."""

SLOW = {
    "R05-source-life", "R14-restart-failed", "R16-offsets-source", "R17-offsets-sink", "R32-names", "R36-two-workers",
    "R38-exactly-once", "R43-broker-down", "R44-crash", "B01-create-default", "B02-create-groups", "B04-create-existing",
    "B05-create-off", "B06-create-invalid", "B09-broker-refuses", "B12-auto-create", "B14-dead-letters", "B17-internal-bad",
    "A01-source-topics", "A02-sink-topics", "A03-tracking-off",
}  # fmt: skip
"""Of these, the ones that take half a minute or more each: played by `make conformance`, not by `make test`."""

TASKLESS = {
    "R01-root", "R12-unknown", "R25-plugins", "R27-validate", "R29-loggers", "R31-admin-off", "R37-headers", "R39-override-none",
    "R41-override-allow", "R45-types-and-order", "B15-internal-topics",
}  # fmt: skip
"""Scenarios in which no task ever runs: their workers start no Spark. R42-startup is about how `headrace worker` starts."""

PLAYED = [name for name in SCENARIOS if os.environ.get("HEADRACE_CONFORMANCE") == "all" or name not in SLOW]


_UNRESOLVED = "what cannot be resolved is FAILED and says why; Kafka Connect leaves it as it was (docs/parity.md)"
_DELIVERED = "what precedes a record that fails is delivered and committed (docs/parity.md)"
_SHOWN = "a bad value of topic.creation.* is shown at its key; Kafka Connect finds it when the connector starts (docs/parity.md)"
_LEFT = "topics that a sink's new configuration no longer consumes leave its active topics, as KIP-558 says (docs/parity.md)"
_REACHED = "a name with `/`, `%`, `\\\\`, `;` or braces is reached, and its Location leads to it (docs/parity.md)"

DIFFERENT = {
    "R01-root.052": _REACHED,
    **dict.fromkeys(
        [f"R32-names.{line:03d}" for line in (21, 22, 23, 24, 26, 27, 28, 34, 54, 84, 87, 88, 90, 92, 103, 104, 109, 110)],
        _REACHED,
    ),
    **dict.fromkeys([f"R14-restart-failed.{line:03d}" for line in (49, 53, 55, 57, 58, 60, 63, 65)], _UNRESOLVED),
    **dict.fromkeys(["R14-restart-failed.030", "R14-restart-failed.035"], _DELIVERED),
    "R16-offsets-source.029": "a change without partition and offset is refused; Kafka Connect takes it and stores nothing",
    **dict.fromkeys([f"B06-create-invalid.{line:03d}" for line in (38, 45, 52, 59, 66, 73, 80, 89, 96, 103)], _SHOWN),
    **dict.fromkeys([f"A02-sink-topics.{line:03d}" for line in (20, 23, 24)], _LEFT),
    "R42-startup.002": "a worker that starts says so with 503 (KIP-1017); the recorded one gave a 404 page for a moment",
    **dict.fromkeys(["R43-broker-down.012", "R43-broker-down.015"], "what is known is shown, with or without a broker"),
    "R43-broker-down.017": "says what failed after 30 s, in Kafka Connect's words for it, not after 90 s that it took too long",
}
"""Line of the transcript → why headrace differs there."""

MAY_DIFFER = {
    "R05-source-life.074": "a restart that takes longer than the 1.5 s that were recorded still shows",
    "R05-source-life.076": "the same",
    "R05-source-life.113": "a batch that is cut off by a stop, after its grace, is delivered again (at least once)",
    "R05-source-life.118": "the same",
    "R09-put-config.019": "tasks are there sooner or later than in the recorded worker",
    "R16-offsets-source.008": "Spark starts meanwhile",
    "R32-names.081": "fourteen queries start at once; not each has delivered by then",
    "R32-names.082": "the same",
    "R32-names.089": "a connector made just before already has a status",
    "R43-broker-down.023": "the request that failed may have been done or not",
    "B06-create-invalid.124": "Spark starts meanwhile",
}
"""Line of the transcript → why it depends on the machine's speed whether headrace differs there."""

LATER: dict[str, str] = {}
"""Scenarios that are not played yet → why."""

SETTLE_S = {"R01-root": 0, "R25-plugins": 0, "R43-broker-down": 8}
"""Scenarios in which a GET differs on purpose, for which every second is waited. In the first two nothing changes that could
show later; in the last one the broker must not be away for longer. What is right ends the waiting.
"""


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Results]]:
    """Gives the results of a scenario. All are played from the first call on, three at a time, since most of it is waiting;
    each on a cluster of which it is the only user: the tool deletes what appears there.
    """
    mine = [item for item in request.session.items if item.path == request.path]
    asked = [name for name in PLAYED if any(f"[{name}]" in item.name for item in mine)]
    with ExitStack() as stack:
        brokers: Queue[Broker] = Queue()
        for number in range(AT_ONCE):
            brokers.put(stack.enter_context(Broker(name=f"conformance-{number}", settings=SETTINGS)))

        def one(scenario: str) -> Results:
            broker = brokers.get()
            try:
                return play(scenario, broker, tmp_path_factory.mktemp(scenario))
            finally:
                brokers.put(broker)

        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        stack.callback(pool.shutdown, cancel_futures=True)
        results = {name: pool.submit(one, name) for name in asked}
        yield lambda scenario: results[scenario].result()


def free_ports() -> int:
    """The first of two neighbouring free ports, which nobody else is given: who gets one may not listen yet."""
    while True:
        port = ports.free_port()
        if ports._is_free(port + 1) and ports._reserve(port + 1):
            return port


def play(scenario: str, broker: Broker, work: Path) -> Results:
    """Run the tool for one scenario; returns its results, one for each exchange and outcome."""
    report = work / "report.json"
    command = [sys.executable, str(TOOL / "replay.py"), str(TOOL / "transcript.jsonl"), "--only", f"^{scenario}$"]
    worker = WITHOUT_SPARK if scenario in TASKLESS else WORKER
    command += ["--bootstrap", broker.bootstrap, "--worker-cmd", worker, "--rest-port", str(free_ports())]
    command += ["--broker-cmd", BROKER, "--broker-port", str(free_ports()), "--report", str(report)]
    command += ["--start-timeout", "180", "--wait-timeout", "120", "--settle", str(SETTLE_S.get(scenario, 30))]
    ended = subprocess.run(
        [*command, "--keep-logs", str(work)], cwd=ROOT, env=quick_java(), capture_output=True, text=True, timeout=900
    )
    assert report.exists(), ended.stdout + ended.stderr
    return json.loads(report.read_text(encoding="utf-8"))[0]["results"]


@pytest.mark.parametrize("scenario", PLAYED)
def test_a_recorded_scenario_comes_out_the_same(scenario: str, played: Callable[[str], Results]) -> None:
    results = played(scenario)
    failed = {result["id"]: (result["request"], result["differences"]) for result in results if not result["passed"]}
    known = {line for line in DIFFERENT if line.startswith(scenario + ".")}
    assert {line: failed[line] for line in failed.keys() - known - MAY_DIFFER.keys()} == {}
    assert known - failed.keys() == set(), "these differ no more: take them out of DIFFERENT"


def test_every_recorded_scenario_is_played_or_has_a_reason_why_not() -> None:
    lines = (TOOL / "transcript.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted({json.loads(line)["group"] for line in lines}) == sorted([*SCENARIOS, *LATER])
