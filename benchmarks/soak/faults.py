"""What goes wrong in a soak: workers killed and frozen, brokers killed, restarted or silent, executors and Spark tasks killed,
connectors paused and stopped.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.process import BenchmarkError
from benchmarks.soak.deployments import Deployment, Member, send_to_all
from headrace.embedded import Broker

_START_S = 120


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong with `begin`, lasts up to `longest_s` seconds, and is over with `end`."""

    name: str
    begin: Callable[[], object]
    end: Callable[[], object]
    longest_s: float


def faults(source: Broker, target: Broker, deployments: Sequence[Deployment], chance: random.Random) -> list[Fault]:
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
        made += _of_worker(one, chance)
    return made


def _of_worker(one: Deployment, chance: random.Random) -> list[Fault]:
    kind, made = one.kind.name, list[Fault]()
    for worker in one.workers:
        frozen, woken = (partial(send_to_all, worker, number) for number in (signal.SIGSTOP, signal.SIGCONT))
        made.append(Fault(f"worker killed: {kind}", worker.kill, worker.start, 3))
        made.append(Fault(f"worker frozen: {kind}", frozen, woken, 40))  # its session is over after 10 s
        if isinstance(worker, Member):
            made.append(Fault(f"Spark tasks killed: {kind}", worker.kill_spark_tasks, lambda: None, 10))
    for what, name in (("pause", "paused"), ("stop", "stopped")):
        connector = chance.choice(list(one.connectors))
        made.append(
            Fault(
                f"{name}: {kind}",
                lambda connector=connector, what=what: one.put(connector, what),
                lambda connector=connector: one.put(connector, "resume"),
                10,
            )
        )
    if one.kind.executors:
        made.append(Fault(f"executor killed: {kind}", lambda: one.kill_executor(chance), lambda: None, 10))
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
