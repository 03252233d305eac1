"""What goes wrong in a soak: workers killed, brokers killed, restarted or silent, connectors paused and stopped."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import httpx

from benchmarks.engine import Mirror
from benchmarks.process import BenchmarkError
from headrace.embedded import Broker

_REST_S = _START_S = 120


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong with `begin`, lasts up to `longest_s` seconds, and is over with `end`."""

    name: str
    begin: Callable[[], object]
    end: Callable[[], object]
    longest_s: float


@dataclass(frozen=True)
class Deployment:
    """A worker and its connector."""

    engine: Mirror
    connector: str

    def put(self, what: str) -> None:
        """PUT `pause`, `resume` or `stop`, until the worker takes it."""
        deadline = time.monotonic() + _REST_S
        while True:
            try:
                self.engine.call("PUT", f"/connectors/{self.connector}/{what}")
                return
            except (BenchmarkError, httpx.TransportError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)


def faults(source: Broker, target: Broker, deployments: Sequence[Deployment]) -> list[Fault]:
    """All that may happen. The brokers have data directories of their own, so that they can be stopped."""
    brokers = {"source": source, "target": target}
    made = [Fault("both brokers killed", lambda: (source.kill(), target.kill()), lambda: (_start(source), _start(target)), 5)]
    for name, broker in brokers.items():
        made += [
            Fault(f"{name} killed", broker.kill, lambda broker=broker: _start(broker), 20),
            Fault(f"{name} restarted", broker.stop, lambda broker=broker: _start(broker), 0),
            Fault(f"{name} silent", _signal(broker, signal.SIGSTOP), _signal(broker, signal.SIGCONT), 75),
        ]
    for one in deployments:
        made += [
            Fault(f"worker killed: {one.connector}", one.engine.kill, one.engine.start, 3),
            Fault(f"paused: {one.connector}", lambda one=one: one.put("pause"), lambda one=one: one.put("resume"), 10),
            Fault(f"stopped: {one.connector}", lambda one=one: one.put("stop"), lambda one=one: one.put("resume"), 10),
        ]
    return made


def drawn(possible: Sequence[Fault], chance: random.Random) -> Iterator[Fault]:
    """Faults for ever, in an order by chance, each as often as the others."""
    while True:
        yield from chance.sample(possible, len(possible))


def _start(broker: Broker) -> None:
    broker.start(timeout_s=_START_S)


def _signal(broker: Broker, number: signal.Signals) -> Callable[[], None]:
    def send() -> None:
        if broker.pid is None:
            raise BenchmarkError(f"{broker.name} does not run.")
        os.kill(broker.pid, number)

    return send
