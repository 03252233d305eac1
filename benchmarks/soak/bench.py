"""The soak: mirrors of five kinds, under load, while everything around them fails."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from benchmarks import report
from benchmarks.load import create_topics
from benchmarks.options import Options
from benchmarks.soak import records
from benchmarks.soak.deployments import KINDS, Deployment
from benchmarks.soak.faults import drawn, faults
from headrace.embedded import Broker

RATE = 400
TOPICS = [f"soak-{number}" for number in range(max(kind.connectors for kind in KINDS))]
CALM_S = (3.0, 20.0)  # between two faults
CATCH_UP_S = 300


def run(options: Options, console: Console) -> None:
    """Run for `options.minutes`, print what came out, and write results/soak.json; a quick run: two minutes, nothing saved."""
    seconds = 120.0 if options.quick else options.minutes * 60
    seed = options.seed or int(time.time())
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="headrace-soak-")))
        source, target = (stack.enter_context(Broker(name=name, data=scratch / name)) for name in ("source", "target"))
        create_topics(source.bootstrap, TOPICS)
        deployed = [Deployment.of(kind, source.bootstrap, target.bootstrap, TOPICS, scratch) for kind in KINDS]
        for one in deployed:
            for worker in one.workers:
                stack.enter_context(worker)
            one.create()
        soak = Soak(source, target, deployed, console)
        soak.run(seconds, random.Random(seed))
        rows = soak.rows()
    report.show(f"Soak of {seconds / 60:g} minutes", "-", rows, console)
    if not options.quick:
        method = {"minutes": seconds / 60, "rate": RATE, "seed": seed, "faults": dict(sorted(soak.happened.items()))}
        method |= {"connectors": {kind.name: kind.connectors for kind in KINDS}, "traces": soak.traces}
        console.print(f"written: {report.save('soak', rows, method)}")


@dataclass
class Soak:
    """One run: what happened to the mirrors, and what became of the records."""

    source: Broker
    target: Broker
    deployed: list[Deployment]
    console: Console
    happened: Counter[str] = field(default_factory=Counter)
    traces: list[str] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    """Of tasks that were FAILED, by kind."""
    caught_up_s: dict[str, float] = field(default_factory=dict)
    """By kind, until the last of its connectors has."""

    def run(self, seconds: float, chance: random.Random) -> None:
        """Send and let things fail for so long; then wait until everything is copied."""
        sender = records.Sender(self.source.bootstrap, TOPICS, RATE)
        sender.start()
        begun = time.monotonic()
        self._watch(15)
        for fault in islice(drawn(faults(self.source, self.target, self.deployed, chance), chance), 10_000):
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
        for connector, views in _get(one, "/connectors?expand=status").items():
            status = views["status"]
            if failed := [part for part in [status["connector"], *status["tasks"]] if part["state"] == "FAILED"]:
                trace = str(failed[0].get("trace", "")).strip()
                self.failures[one.kind.name] += len(failed)
                self.traces.append(f"{connector}: {trace.splitlines()[0] if trace else ''}")
                self.console.print(f"{connector} FAILED: {trace}", markup=False)
                restart = f"{one.engine.url}/connectors/{connector}/restart?includeTasks=true&onlyFailed=true"
                with suppress(httpx.TransportError):  # the next look asks again
                    httpx.post(restart, timeout=60)

    def _catch_up(self) -> None:
        """Wait until the last record of each partition is copied, and stored as such."""
        ends = {topic: {p: len(values) - 1 for p, values in self._sent(topic).items()} for topic in TOPICS}
        begun, waiting = time.monotonic(), list(self.deployed)
        while waiting and time.monotonic() - begun < CATCH_UP_S:
            for one in list(waiting):
                if not self._behind(one, ends):
                    waiting.remove(one)
                    self.caught_up_s[one.kind.name] = time.monotonic() - begun
                else:
                    self._help(one)
            time.sleep(1)
        for one in waiting:
            for connector, offsets in self._behind(one, ends).items():
                status = _get(one, f"/connectors/{connector}/status")
                self.console.print(f"{connector} has not caught up: {offsets}; {status}", markup=False)

    @staticmethod
    def _behind(one: Deployment, ends: dict[str, dict[int, int]]) -> dict[str, dict[str, int]]:
        """The stored offsets of the connectors that have not copied all of their topic."""
        behind = {}
        for connector, topic in one.connectors.items():
            stored = _offsets(one, connector)
            if stored != {f"{topic}:{partition}": end for partition, end in ends[topic].items()}:
                behind[connector] = stored
        return behind

    def _sent(self, topic: str) -> dict[int, list[bytes]]:
        return records.read(self.source.bootstrap, topic)

    def rows(self) -> list[report.Row]:
        """Count."""
        sent = {topic: self._sent(topic) for topic in TOPICS}
        count = sum(len(values) for partitions in sent.values() for values in partitions.values())
        rows = [report.Row("records", "records", [count], []), report.Row("faults", "faults", [self.happened.total()], [])]
        for one in self.deployed:
            kind, outcome = one.kind.name, records.Outcome()
            for connector, topic in one.connectors.items():
                outcome += records.compare(sent[topic], records.read(self.target.bootstrap, f"{connector}.{topic}"))
            values = {"lost": outcome.lost, "twice": outcome.twice, "out-of-order": outcome.misplaced}
            rows += [report.Row(f"{kind}-{name}", "records", [value], []) for name, value in values.items()]
            rows.append(report.Row(f"{kind}-tasks-failed", "times", [self.failures[kind]], []))
            if kind in self.caught_up_s:
                rows.append(report.Row(f"{kind}-caught-up", "s", [self.caught_up_s[kind]], []))
        return rows


def _offsets(one: Deployment, connector: str) -> dict[str, int]:
    offsets = _get(one, f"/connectors/{connector}/offsets").get("offsets", [])
    return {entry["partition"]["topic:partition"]: entry["offset"]["offset"] for entry in offsets}


def _get(one: Deployment, path: str) -> dict[str, Any]:
    """An answer of the worker, empty while it gives none."""
    try:
        answer = httpx.get(one.engine.url + path, timeout=10)
    except httpx.TransportError:
        return {}
    return answer.json() if answer.is_success else {}
