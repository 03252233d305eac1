"""Three workers with 12 connectors and 30 tasks under load: `kill -9` of one, then of the leader."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console

from benchmarks.process import BenchmarkError
from benchmarks.rest import Asking
from benchmarks.workers.crowd import Headrace
from benchmarks.workers.streams import Arrivals, Cluster, Sender, Task, watched
from headrace.kafka.groups import GroupOffsets

SPARE = "spare"
"""A connector that does nothing: requests that only the leader can carry out are for it."""


@dataclass(frozen=True)
class Load:
    """How much: records/s to each of the 30 streams; seconds to look at before a kill, and at least after it."""

    rate: int = 4
    steady_s: float = 30
    timeout_s: float = 240


class Member(Headrace):
    """One of several workers of a group, which a short session time-out is not given: Kafka's default counts."""

    def __init__(self, bootstrap: str, group: str, number: int, workdir: Path) -> None:
        super().__init__(bootstrap, f"{group}-{number}", workdir)
        self.group = group

    def worker_properties(self) -> dict[str, str]:
        """Return the same group and internal topics for all."""
        kinds = ("config", "offset", "status")
        shared = {f"{kind}.storage.topic": f"{self.group}-{kind}" for kind in kinds}
        return super().worker_properties() | {"group.id": self.group, **shared}

    @property
    def worker_id(self) -> str:
        """As statuses name it."""
        return self.url.removeprefix("http://")


class Trial:
    """One run: the workers that are alive, what is sent to them, and what has come."""

    def __init__(self, cluster: Cluster, members: list[Member], arrivals: Arrivals, load: Load, console: Console) -> None:
        self.cluster, self.members, self.arrivals, self.load, self.console = cluster, members, arrivals, load, console
        self._group = GroupOffsets({"bootstrap.servers": cluster.bootstrap}, members[0].group)
        self.found: dict[str, tuple[float, str]] = {}

    def leader(self) -> Member:
        """The worker that leads."""
        url = self._group.metadata((f"{self.members[0].group}-offset", 0), 30)
        return next(member for member in self.members if url and member.url == url.rstrip("/"))

    def places(self) -> dict[Task, str]:
        """Where each task is RUNNING, as the first living worker says."""
        everything = self.members[0].call("GET", "/connectors?expand=status")
        return {
            (name, task["id"]): task["worker_id"]
            for name, views in everything.items()
            for task in views["status"]["tasks"]
            if task["state"] == "RUNNING"
        }

    def kill(self, what: str, victim: Member) -> None:
        """Kill a worker, wait until its tasks run elsewhere, and note what that did to them and to the others."""
        before, tasks = self.places(), set(self.cluster.tasks())
        moved = {task for task, worker in before.items() if worker == victim.worker_id}
        self.members.remove(victim)
        survivors = {member.worker_id for member in self.members}
        with ExitStack() as stack:
            reading = [stack.enter_context(Asking(m.url, _reads(self.cluster), 1, 0.25)) for m in self.members]
            writing = [stack.enter_context(Asking(m.url, [("PUT", f"/connectors/{SPARE}/config", _SPARE)], 1, 0.5))
                       for m in self.members]  # fmt: skip
            time.sleep(2)
            at, clock = time.time(), time.monotonic()
            victim.kill()

            def settled() -> bool:
                places = self.places()
                resumed = all(self.arrivals.times[task] and self.arrivals.times[task][-1] > at + 1 for task in tasks)
                return places.keys() >= tasks and set(places.values()) <= survivors and resumed

            _wait(settled, self.load.timeout_s, f"everything runs again after the kill of {what}")
            time.sleep(max(1.0, at + self.load.steady_s - time.time()))
        end, kept = time.time(), tasks - moved
        gaps = {task: self.arrivals.gap_s(task, at, end) for task in tasks}
        earlier = {task: self.arrivals.gap_s(task, at - self.load.steady_s, at) for task in tasks}
        started = [self._started(task, at) - at for task in moved]
        told = kept & self.arrivals.not_running(at)
        self._note(what, "tasks-moved", len(moved), "tasks")
        self._note(what, "tasks-interrupted-that-stayed", len(told), "tasks")
        self._note(what, "moved-running-again-median", median(started) if started else 0.0, "s")
        self._note(what, "moved-running-again-last", max(started, default=0.0), "s")
        self._note(what, "moved-longest-pause-of-records", max((gaps[task] for task in moved), default=0.0), "s")
        self._note(what, "stayed-longest-pause-of-records", max(gaps[task] for task in kept), "s")
        self._note(what, "stayed-longest-pause-before", max(earlier[task] for task in kept), "s")
        self._note(what, "rest-reads-failed", sum(one.answers.failures() for one in reading), "requests")
        self._note(what, "rest-reads-p99", max(one.answers.percentile(0.99) for one in reading), "ms")
        self._note(what, "rest-writes-restored", max(one.answers.restored_s(clock) for one in writing), "s")

    def _started(self, task: Task, since: float) -> float:
        """When a task reported to be RUNNING after that."""
        return next(at for at, state, _ in self.arrivals.states[task] if at >= since and state == "RUNNING")

    def _note(self, what: str, name: str, value: float, unit: str) -> None:
        self.found[f"{what}-{name}"] = (value, unit)
        self.console.print(f"{what} killed: {name.replace('-', ' ')} {value:,.1f} {unit}")


_SPARE = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "file": "none", "topic": "none"}


def _reads(cluster: Cluster) -> list[tuple[str, str, None]]:
    return [("GET", f"/connectors/{name}/status", None) for name in cluster.connectors()]


def measure(bootstrap: str, group: str, workdir: Path, load: Load, console: Console) -> dict[str, tuple[float, str]]:
    """Run the whole trial on a broker; returns row → (value, unit)."""
    folder = workdir / group
    folder.mkdir()
    cluster = Cluster(bootstrap, folder)
    cluster.create_topics()
    with ExitStack() as stack:
        members = [Member(bootstrap, group, number, workdir) for number in range(3)]
        for member in members:
            stack.enter_context(member)
        for name, config in cluster.connectors().items():
            members[0].call("POST", "/connectors", {"name": name, "config": config})
        members[1].call("POST", "/connectors", {"name": SPARE, "config": _SPARE, "initial_state": "STOPPED"})
        arrivals = stack.enter_context(watched(cluster, f"{group}-status"))
        trial, sender = Trial(cluster, members, arrivals, load, console), Sender(cluster, load.rate)
        tasks = set(cluster.tasks())
        _wait(lambda: trial.places().keys() >= tasks, load.timeout_s, "all tasks run")
        sender.start()
        stack.callback(sender.stop)
        _wait(lambda: all(arrivals.times[task] for task in tasks), load.timeout_s, "records of every task arrive")
        time.sleep(load.steady_s)
        trial.kill("worker", next(member for member in list(members) if member is not trial.leader()))
        time.sleep(load.steady_s)
        trial.kill("leader", trial.leader())
        sender.stop()
        try:
            _wait(lambda: not arrivals.missing(sender.sent), load.timeout_s, "every record arrives")
        except BenchmarkError as late:
            console.print(str(late))
        total = sender.sent * len(tasks)
        console.print(f"{total:,} records sent, {arrivals.missing(sender.sent)} lost, {arrivals.surplus()} delivered twice")
        return {
            "records": (total, "records"),
            "records-lost": (arrivals.missing(sender.sent), "records"),
            "records-twice": (arrivals.surplus(), "records"),
            **trial.found,
        }


def _wait(done: Callable[[], bool], timeout_s: float, what: str) -> None:
    deadline = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > deadline:
            raise BenchmarkError(f"Waited {timeout_s:g} s in vain until {what}.")
        time.sleep(0.25)
