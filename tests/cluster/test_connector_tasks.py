"""The tasks of one connector, without Kafka and Spark: what is started and ended, and what the statuses say of it."""

from __future__ import annotations

import queue
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.cluster.connector_tasks import ConnectorTasks
from headrace.cluster.desired_state import DesiredState
from headrace.cluster.event_log import EventLog
from headrace.cluster.standalone.stores import memory_stores
from headrace.cluster.status_reporter import StatusReporter
from headrace.config.providers.configured import configured_resolver
from headrace.errors import ConnectError, RetriableError
from headrace.runtime.metrics import Metrics
from headrace.runtime.states import RESTARTING
from headrace.runtime.task import TaskEvents

CONFIG = {"name": "c", "connector.class": "FileStreamSource", "tasks.max": "3"}
THREE = DesiredState(CONFIG, 1, "STARTED", CONFIG, [{"t": "0"}, {"t": "1"}, {"t": "2"}], 1, True, frozenset({0, 1, 2}))


class HeldTasks:
    """A worker whose tasks only remember what was asked of them, and the tasks of one connector on it."""

    def __init__(self, folder: Path) -> None:
        self.started: list[int] = []
        self.ended: list[int] = []
        self.events: dict[int, TaskEvents] = {}
        self.refused: dict[int, Exception] = {}
        self.fenced: list[str] = []
        self.steps: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.woken = 0
        self.statuses = memory_stores(str(folder / "offsets")).status
        self.history = EventLog()
        self.metrics = Metrics()
        self.reporter = StatusReporter(self.statuses, "w", tracking=True, metrics=self.metrics, history=self.history)
        resolver = configured_resolver({"config.providers": "file", "config.providers.file.class": "FileConfigProvider"})
        worker: Any = SimpleNamespace(
            config=SimpleNamespace(task_shutdown_timeout_ms=0, resolver=resolver), start_task=self._start
        )
        self.desired: DesiredState | None = THREE
        leader: Any = SimpleNamespace(fence_before_tasks=self.fenced.append, read_configs=lambda: None)
        self.tasks = ConnectorTasks("c", lambda: self.desired, worker, self.reporter, leader, self.steps.put, self._wake)

    def _start(self, who: Any, _config: Any, _props: Any, events: TaskEvents) -> Any:
        if error := self.refused.pop(who.task, None):
            raise error
        self.started.append(who.task)
        self.events[who.task] = events
        events.running()
        return SimpleNamespace(stop=lambda _grace_s: self.ended.append(who.task))

    def _wake(self) -> None:
        self.woken += 1

    def step(self) -> None:
        """What a task or a timer has asked the supervisor's thread to do next."""
        self.steps.get(timeout=120)()

    def pending(self) -> list[float | str]:
        """Of each task that has failed, whether its metrics say that it is to be restarted."""
        return [measure.value for measure in self.metrics.measures() if measure.name == "restart-pending"]

    def states(self) -> dict[int, str]:
        return {number: status["state"] for number, status in self.statuses.tasks("c").items()}


@pytest.fixture
def held(tmp_path: Path) -> HeldTasks:
    return HeldTasks(tmp_path)


def test_the_tasks_that_are_here_start_and_end(held: HeldTasks) -> None:
    held.tasks.converge(replace(THREE, tasks_here=frozenset({0, 2})), "RUNNING")
    assert (held.started, held.states()) == ([0, 2], {0: "RUNNING", 2: "RUNNING"})
    held.reporter.generation += 1  # as at a rebalance
    held.tasks.converge(replace(THREE, tasks_here=frozenset({1, 2})), "RUNNING")
    assert (held.started, held.ended) == ([0, 2, 1], [0])
    assert held.states() == {0: "UNASSIGNED", 1: "RUNNING", 2: "RUNNING"}


def test_what_stays_as_it_is_is_left_alone(held: HeldTasks) -> None:
    for _ in range(3):
        held.tasks.converge(THREE, "RUNNING")
    assert (held.started, held.ended) == ([0, 1, 2], [])


def test_paused_tasks_end_and_are_paused_and_start_when_resumed(held: HeldTasks) -> None:
    held.tasks.converge(THREE, "RUNNING")
    held.tasks.converge(THREE, "PAUSED")
    assert (sorted(held.ended), set(held.states().values())) == ([0, 1, 2], {"PAUSED"})
    held.tasks.converge(THREE, "RUNNING")
    assert (held.started, set(held.states().values())) == ([0, 1, 2, 0, 1, 2], {"RUNNING"})


def test_of_paused_tasks_the_history_tells_who_is_asked_now_from_who_takes_over(held: HeldTasks) -> None:
    first = replace(THREE, tasks_here=frozenset({0}))
    held.tasks.converge(first, "RUNNING")
    held.tasks.converge(first, "PAUSED")
    held.tasks.converge(replace(THREE, tasks_here=frozenset({0, 1})), "PAUSED")  # as at a rebalance
    causes = {event["task"]: event["cause"] for event in held.history.last(9) if event["state"] == "PAUSED"}
    assert ["Asked over REST" in causes[task] for task in (0, 1)] == [True, False]


def test_configurations_that_are_written_again_replace_all_tasks_and_forget_those_that_are_gone(held: HeldTasks) -> None:
    held.tasks.converge(THREE, "RUNNING")
    held.tasks.converge(replace(THREE, tasks=THREE.tasks[:1], tasks_version=2, tasks_here=frozenset({0})), "RUNNING")
    assert (sorted(held.ended), held.started) == ([0, 1, 2], [0, 1, 2, 0])
    assert held.states() == {0: "RUNNING"}


def test_a_task_that_fails_says_why_and_the_others_stay(held: HeldTasks) -> None:
    held.tasks.converge(THREE, "RUNNING")
    held.events[1].failed(ConnectError("the disk is full"))
    held.step()
    assert held.states() == {0: "RUNNING", 1: "FAILED", 2: "RUNNING"}
    assert "the disk is full" in str(held.statuses.tasks("c")[1].get("trace"))
    held.tasks.converge(THREE, "RUNNING")
    assert held.started == [0, 1, 2], "a failed task waits for somebody to restart it"


def test_a_task_that_cannot_be_planned_is_failed_and_starts_when_it_is_restarted(held: HeldTasks) -> None:
    held.refused[0] = ConnectError("no such topic")
    held.tasks.converge(THREE, "RUNNING")
    assert held.states()[0] == "FAILED"
    held.tasks.restart([0, 7], RESTARTING)
    assert held.states()[0] == "RESTARTING"
    held.tasks.converge(THREE, "RUNNING")
    assert held.states() == {0: "RUNNING", 1: "RUNNING", 2: "RUNNING"}


def test_a_failure_of_a_task_that_was_replaced_is_not_the_new_ones(held: HeldTasks) -> None:
    held.tasks.converge(THREE, "RUNNING")
    former = held.events[0]
    held.tasks.restart([0], RESTARTING)
    held.tasks.converge(THREE, "RUNNING")
    former.failed(ConnectError("too late"))
    held.step()
    assert held.states()[0] == "RUNNING"


def test_a_restart_policy_may_come_from_a_provider(held: HeldTasks, tmp_path: Path) -> None:
    (tmp_path / "restarts.properties").write_text("policy=none")
    options = {
        "task.restart.policy": f"${{file:{tmp_path}/restarts.properties:policy}}",
        "task.restart.max.attempts": "${file:/none.properties:attempts}",
    }
    held.tasks.converge(replace(THREE, config=CONFIG | options), "RUNNING")
    held.events[2].failed(RetriableError("the broker is away"))
    held.step()
    assert (held.statuses.tasks("c")[2].get("restart"), held.pending()) == (None, [0])


def test_by_its_policy_a_task_starts_again_by_itself(held: HeldTasks) -> None:
    want = replace(THREE, config=CONFIG | {"task.restart.policy": "retriable", "task.restart.backoff.ms": "1"})
    held.tasks.converge(want, "RUNNING")
    held.events[2].failed(RetriableError("the broker is away"))
    held.step()
    status = held.statuses.tasks("c")[2]
    assert (status["state"], status.get("restart", {}).get("attempts"), held.pending()) == ("FAILED", 0, [1])
    held.step()  # that of the timer
    assert held.woken == 1
    held.tasks.converge(want, "RUNNING")
    assert (held.states()[2], held.pending()) == ("RUNNING", [])


def test_a_task_fences_its_connectors_former_tasks_by_the_leader(held: HeldTasks) -> None:
    held.tasks.converge(THREE, "RUNNING")
    held.events[0].fence_zombies()
    assert held.fenced == ["c"]


@pytest.mark.parametrize("later", [replace(THREE, tasks_version=2), replace(THREE, tasks_here=frozenset({0, 2})), None])
def test_a_task_knows_at_once_that_it_was_replaced_or_moved(held: HeldTasks, later: DesiredState | None) -> None:
    held.tasks.converge(THREE, "RUNNING")
    assert held.events[1].is_current()
    held.desired = later
    assert not held.events[1].is_current(), "its supervisor has not seen that yet"
