"""The soak: mirrors at least once and exactly once, under load, while everything around them fails."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from benchmarks import report
from benchmarks.load import create_topic
from benchmarks.options import Options
from benchmarks.ours import Headrace
from benchmarks.soak import records
from benchmarks.soak.faults import Deployment, drawn, faults
from headrace.embedded import Broker

TOPIC, RATE = "soak", 400
CALM_S = (3.0, 20.0)  # between two faults
CATCH_UP_S = 300


KINDS: dict[str, tuple[type[Headrace], bool]] = {
    "at-least-once": (Headrace, False),
    "exactly-once": (Headrace, True),
}
"""Of each mirror: its worker, and whether it delivers exactly once."""


def run(options: Options, console: Console) -> None:
    """Run for `options.minutes`, print what came out, and write results/soak.json; a quick run: two minutes, nothing saved."""
    seconds = 120.0 if options.quick else options.minutes * 60
    seed = options.seed or int(time.time())
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="headrace-soak-")))
        source, target = (stack.enter_context(Broker(name=name, data=scratch / name)) for name in ("source", "target"))
        create_topic(source.bootstrap, TOPIC)
        deployed = [
            _deployed(stack, worker(source.bootstrap, target.bootstrap, kind, scratch, exactly_once), kind)
            for kind, (worker, exactly_once) in KINDS.items()
        ]
        soak = Soak(source, target, deployed, console)
        soak.run(seconds, random.Random(seed))
        rows = soak.rows()
    report.show(f"Soak of {seconds / 60:g} minutes", "-", rows, console)
    if not options.quick:
        method = {"minutes": seconds / 60, "rate": RATE, "seed": seed, "faults": dict(sorted(soak.happened.items()))}
        console.print(f"written: {report.save('soak', rows, {**method, 'traces': soak.traces})}")


def _deployed(stack: ExitStack, engine: Headrace, kind: str) -> Deployment:
    stack.enter_context(engine)
    config = engine.connector(TOPIC, kind) | ({"exactly.once.support": "required"} if engine.exactly_once else {})
    engine.call("POST", "/connectors", {"name": kind, "config": config})
    return Deployment(engine, kind)


@dataclass
class Soak:
    """One run: what happened to the mirrors, and what became of the records."""

    source: Broker
    target: Broker
    deployed: list[Deployment]
    console: Console
    happened: Counter[str] = field(default_factory=Counter)
    traces: list[str] = field(default_factory=list)
    caught_up_s: dict[str, float] = field(default_factory=dict)

    def run(self, seconds: float, chance: random.Random) -> None:
        """Send and let things fail for so long; then wait until everything is copied."""
        sender = records.Sender(self.source.bootstrap, TOPIC, RATE)
        sender.start()
        begun = time.monotonic()
        self._watch(15)
        for fault in islice(drawn(faults(self.source, self.target, self.deployed), chance), 10_000):
            if time.monotonic() - begun > seconds:
                break
            lasts = chance.uniform(0, fault.longest_s)
            self.console.print(f"{time.monotonic() - begun:6.0f} s  {fault.name}, {lasts:.0f} s")
            self.happened[fault.name.partition(":")[0]] += 1
            fault.begin()
            time.sleep(lasts)
            fault.end()
            self._watch(chance.uniform(*CALM_S))
        sender.stop()
        self._catch_up()

    def _watch(self, seconds: float) -> None:
        """Look for tasks that have failed, and start them again, as an operator would."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for one in self.deployed:
                self._help(one)
            time.sleep(1)

    def _help(self, one: Deployment) -> None:
        status = _get(one, "status")
        parts = [status["connector"], *status["tasks"]] if status else []
        if failed := [part for part in parts if part["state"] == "FAILED"]:
            trace = str(failed[0].get("trace", "")).strip()
            self.traces.append(f"{one.connector}: {trace.splitlines()[0] if trace else ''}")
            self.console.print(f"{one.connector} FAILED: {trace}", markup=False)
            httpx.post(f"{one.engine.url}/connectors/{one.connector}/restart?includeTasks=true&onlyFailed=true", timeout=60)

    def _catch_up(self) -> None:
        """Wait until the last record of each partition is copied, and stored as such."""
        ends = {f"{TOPIC}:{p}": len(values) - 1 for p, values in records.read(self.source.bootstrap, TOPIC).items()}
        begun, waiting = time.monotonic(), list(self.deployed)
        while waiting and time.monotonic() - begun < CATCH_UP_S:
            for one in list(waiting):
                if _offsets(one) == ends:
                    waiting.remove(one)
                    self.caught_up_s[one.connector] = time.monotonic() - begun
                else:
                    self._help(one)
            time.sleep(1)
        for one in waiting:
            self.console.print(
                f"{one.connector} has not caught up: {_offsets(one)} of {ends}; {_get(one, 'status')}", markup=False
            )

    def rows(self) -> list[report.Row]:
        """Count."""
        sent = records.read(self.source.bootstrap, TOPIC)
        found = [report.Row("records", "records", [sum(map(len, sent.values()))], []),
                 report.Row("faults", "faults", [self.happened.total()], [])]  # fmt: skip
        for one in self.deployed:
            copy = records.read(self.target.bootstrap, f"{one.connector}.{TOPIC}")
            outcome = records.compare(sent, copy)
            values = {"lost": outcome.lost, "twice": outcome.twice, "out-of-order": outcome.misplaced}
            found += [report.Row(f"{one.connector}-{name}", "records", [value], []) for name, value in values.items()]
            failed = sum(trace.startswith(one.connector) for trace in self.traces)
            found.append(report.Row(f"{one.connector}-tasks-failed", "times", [failed], []))
            if one.connector in self.caught_up_s:
                found.append(report.Row(f"{one.connector}-caught-up", "s", [self.caught_up_s[one.connector]], []))
        return found


def _offsets(one: Deployment) -> dict[str, int]:
    found = _get(one, "offsets").get("offsets", [])
    return {entry["partition"]["topic:partition"]: entry["offset"]["offset"] for entry in found}


def _get(one: Deployment, what: str) -> dict[str, Any]:
    """An answer of the worker, empty while it gives none."""
    try:
        answer = httpx.get(f"{one.engine.url}/connectors/{one.connector}/{what}", timeout=10)
    except httpx.TransportError:
        return {}
    return answer.json() if answer.is_success else {}
