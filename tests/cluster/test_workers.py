"""Two workers under load, of which the leader is frozen and woken, and the next one killed: what was its own moves, all else
continues, and nothing is lost or there twice.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from headrace.cluster.assignment import slot
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster
from tests.process import WorkerProcess, worker_properties
from tests.support import wait_until

SLOTS, LINES_S = 25, 0.1
MOVED_S = 120  # two JVMs start beside whatever else the machine does
STRING = "org.apache.kafka.connect.storage.StringConverter"


def spread(stem: str) -> list[str]:
    """Names of connectors whose tasks are in every fourth slot, so that each of two workers has some of them."""
    wanted = {n: next(f"{stem}-{k}" for k in range(10_000) if slot(f"{stem}-{k}", 0, SLOTS) == n) for n in range(0, SLOTS, 4)}
    return list(wanted.values())


class Writing(threading.Thread):
    """Appends numbered lines to files until it is stopped."""

    def __init__(self, files: list[Path]) -> None:
        super().__init__(daemon=True)
        self.files, self.count, self.stopped = files, 0, threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(LINES_S):
            for file in self.files:
                with file.open("a") as lines:
                    lines.write(f"{self.count}\n")
            self.count += 1


def states(worker: WorkerProcess) -> dict[str, tuple[str, str]]:
    """Of every task that has a status: its state, and where."""
    everything = worker.call("GET", "/connectors?expand=status")
    tasks = {name: views["status"]["tasks"] for name, views in everything.items() if "status" in views}
    return {name: (one[0]["state"], one[0]["worker_id"]) for name, one in tasks.items() if one}


def reported(cluster: Cluster, topic: str, since_ms: float) -> set[str]:
    """The connectors whose tasks have reported any state since then."""
    keys = [(r.key or b"").decode() for r in cluster.read(topic) if r.timestamp >= since_ms]
    return {key.removeprefix("status-task-").rpartition("-")[0] for key in keys if key.startswith("status-task-")}


def test_when_the_leader_is_frozen_or_killed_nothing_is_lost_or_twice_and_what_stays_is_not_interrupted(
    destination: Cluster, destination_broker: Broker, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    group, names = topic_name("workers"), spread("lines")
    own = {"bootstrap.servers": destination_broker.bootstrap, "session.timeout.ms": "12000", "heartbeat.interval.ms": "1000"}
    own |= {"key.converter": STRING, "value.converter": STRING, "rest.advertised.host.name": "127.0.0.1"}
    own |= {"offset.storage.partitions": str(SLOTS), "exactly.once.source.support": "enabled"}
    with ExitStack() as stack:
        workers = []
        for number in range(2):
            directory = tmp_path / str(number)
            directory.mkdir()
            properties = worker_properties(group, f"http://127.0.0.1:{free_port()}") | own
            workers.append(stack.enter_context(WorkerProcess(directory, properties)))
            if not number:
                workers[0].await_ready()  # so that it leads
        leader, other = workers[0], workers[1].await_ready()
        files = {name: tmp_path / f"{name}.txt" for name in names}
        topics = {name: topic_name(name) for name in names}
        for name in names:
            destination.create(topics[name])
            config = {"connector.class": "FileStreamSource", "file": str(files[name]), "topic": topics[name]}
            other.call("POST", "/connectors", {"name": name, "config": config})  # which the leader does
        here = leader.url.removeprefix("http://")

        def all_run(worker: WorkerProcess, where: set[str]) -> bool:
            found = states(worker)
            return found.keys() == set(names) and all(s == "RUNNING" and w in where for s, w in found.values())

        def arrived(name: str) -> list[bytes | None]:
            return [r.value for r in destination.read(topics[name], settled=True)]

        writing = Writing(list(files.values()))
        writing.start()
        there = other.url.removeprefix("http://")
        wait_until(lambda: all_run(other, {here, there}), MOVED_S, f"all run; {other.errors}")
        wait_until(lambda: all(destination.size(topic) for topic in topics.values()), MOVED_S, "lines of each arrive")

        leader.signal(signal.SIGSTOP)
        wait_until(lambda: all_run(other, {there}), MOVED_S, lambda: f"its session ends: {states(other)}; {other.errors}")
        leader.signal(signal.SIGCONT)

        def both_have_some() -> bool:
            return {where for _, where in states(other).values()} == {here, there}

        wait_until(lambda: both_have_some() and all_run(other, {here, there}), MOVED_S,
                   lambda: f"the woken one is a member again: {states(other)}; {other.errors}")  # fmt: skip
        leader, other = wait_until(lambda: led(workers), MOVED_S, "one leads")
        here, there = (worker.url.removeprefix("http://") for worker in (leader, other))
        places = {name: where for name, (_, where) in states(other).items()}
        moved = {name for name, where in places.items() if where == here}
        assert 0 < len(moved) < len(names), "both have some"
        line = b"%d" % (writing.count + 1)  # not written yet: what copies it has reported all of its start
        wait_until(lambda: all(line in arrived(name) for name in names), MOVED_S, lambda: f"lines arrive; {other.errors}")
        await_logs_of_both(other, names, {here, there})
        wait_until(lambda: listed(other) == {here: "answers", there: "answers"}, MOVED_S, "both workers are named")

        killed = time.time() * 1000
        leader.kill()
        wait_until(lambda: listed(other) == {here: "silent", there: "answers"}, MOVED_S, "the killed worker is named")
        wait_until(lambda: all_run(other, {there}), MOVED_S, f"all run on the survivor; {other.errors}")  # it always answers
        wait_until(lambda: leads(other, names[0]), MOVED_S, "the survivor leads")
        writing.stopped.set()
        writing.join()
        wanted = [b"%d" % n for n in range(writing.count)]

        for name in names:
            wait_until(lambda name=name: len(arrived(name)) >= len(wanted), MOVED_S, f"{len(wanted)} lines of {name}")
            assert arrived(name) == wanted, "each once, in order"
        interrupted = reported(destination, f"{group}-status", killed) - {names[0]}
        assert interrupted == moved - {names[0]}, "only what ran on the killed worker"


def led(workers: list[WorkerProcess]) -> list[WorkerProcess]:
    """The workers, of which the first one leads; none while no one or more than one does."""
    leading = [worker for worker in workers if worker.call("GET", "/headrace/worker")["leader"]]
    return sorted(workers, key=lambda worker: worker not in leading) if len(leading) == 1 else []


def listed(worker: WorkerProcess) -> dict[str, str]:
    """The workers of the group, each with whether it answers; `{}` while its members are not known."""
    found = worker.call("GET", "/headrace/workers")
    if found["problem"] is not None:
        return {}
    return {one["worker_id"]: one["state"] for one in found["workers"]}


def leads(worker: WorkerProcess, name: str) -> bool:
    """Whether the worker does what only a leader may."""
    config: dict[str, Any] = worker.call("GET", f"/connectors/{name}/config")
    answer = httpx.put(f"{worker.url}/connectors/{name}/config", json=config, timeout=100)
    assert answer.status_code in (200, 409), answer.text
    return answer.status_code == 200


def await_logs_of_both(worker: WorkerProcess, names: list[str], where: set[str]) -> None:
    """The log view of any worker has what all of them have logged, once each has answered in time."""

    def logs() -> list[dict[str, Any]]:
        return [worker.call("GET", f"/headrace/connectors/{name}/logs") for name in names]

    def complete() -> bool:
        answers = logs()
        seen = {entry["worker_id"] for answer in answers for entry in answer["entries"]}
        return seen == where and not any(answer["not_reached"] for answer in answers)

    wait_until(complete, MOVED_S, lambda: f"logs of all workers; {json.dumps(logs())[:2000]}")
