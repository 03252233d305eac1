"""The supervisors of one worker, without Kafka and Spark: which connectors are started and stopped here."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.cluster import supervisors
from headrace.cluster.assignment import EVERYTHING, NOTHING
from headrace.cluster.desired_state import Restart
from headrace.cluster.standalone.stores import memory_stores
from headrace.cluster.state import ClusterState
from headrace.cluster.status_reporter import StatusReporter
from headrace.cluster.supervisors import Supervisors
from headrace.config.providers import Resolver
from headrace.connect_config.settings import connector_settings
from headrace.plugins import Kind
from headrace.runtime.running_connector import RunningConnector
from tests.support import wait_until

CONFIG = {"connector.class": "FileStreamSource", "tasks.max": "1", "file": "f"}


class SupervisedWorker:
    """Stores in memory, the supervisors that listen to them, and a worker that records its calls."""

    def __init__(self, folder: Path) -> None:
        self.calls: list[str] = []
        self.stores = memory_stores(str(folder / "offsets"))
        worker: Any = SimpleNamespace(
            config=SimpleNamespace(task_shutdown_timeout_ms=60_000, resolver=Resolver()), start_connector=self._start
        )
        leader: Any = SimpleNamespace(submit_task_configs=lambda _name, _tasks: None)
        reporter = StatusReporter(self.stores.status, "w", tracking=True)
        self.supervisors = Supervisors(worker, self.stores.config, reporter, leader)
        self.stores.config.listen(self.supervisors.changed)
        self.stores.config.start()

    def _start(self, config: Any, _context: Any) -> RunningConnector:
        self.calls.append(f"start {config['name']} {config['topic']}")
        instance: Any = SimpleNamespace(task_configs=lambda _most: [], stop=lambda: self.calls.append(f"stop {config['name']}"))
        return RunningConnector(instance, "1", "T", Resolver().resolve(config), connector_settings(config, Kind.SOURCE))

    def put(self, name: str, topic: str = "t") -> None:
        self.stores.config.put_connector(name, {**CONFIG, "name": name, "topic": topic})

    def until(self, *calls: str) -> None:
        """Wait for these calls, and no others."""
        wait_until(lambda: len(self.calls) >= len(calls), 120, f"the calls {calls}, not {self.calls}")
        assert self.calls == list(calls)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[SupervisedWorker]:
    worker = SupervisedWorker(tmp_path)
    yield worker
    worker.supervisors.shut_down()


def test_a_connector_starts_where_it_is_assigned(worker: SupervisedWorker) -> None:
    worker.put("a")
    assert not worker.calls, "the worker has no parts before its first assignment"
    worker.supervisors.rebalance(EVERYTHING)
    worker.until("start a t")
    worker.put("b")
    worker.until("start a t", "start b t")


def test_a_rebalance_ends_when_what_was_taken_away_has_stopped(worker: SupervisedWorker) -> None:
    worker.supervisors.rebalance(EVERYTHING)
    worker.put("a")
    worker.until("start a t")
    worker.supervisors.rebalance(NOTHING)
    assert worker.calls == ["start a t", "stop a"]


def test_a_rebalance_waits_for_all_that_hangs_together(worker: SupervisedWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    class Hanging(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0.0)
            return super().wait(timeout)

    monkeypatch.setattr(supervisors, "_EXTRA_GRACE_S", 0.5 - 60)  # besides the 60 s of the worker
    hanging: Any = SimpleNamespace(ended=threading.Event(), release_parts=Hanging)
    with monkeypatch.context() as hung:
        hung.setattr(worker.supervisors, "_supervisors", dict.fromkeys("abcd", hanging))
        worker.supervisors.rebalance(NOTHING)
    assert len(waits) == 4 and max(waits[1:]) < 0.25


def test_a_connector_that_is_deleted_and_created_again_runs_with_its_new_configuration(worker: SupervisedWorker) -> None:
    worker.supervisors.rebalance(EVERYTHING)
    worker.put("a")
    worker.until("start a t")
    worker.stores.config.remove_connector("a")
    worker.put("a", "other")
    worker.until("start a t", "stop a", "start a other")


def test_an_equal_configuration_restarts_the_connector(worker: SupervisedWorker) -> None:
    worker.supervisors.rebalance(EVERYTHING)
    worker.put("a")
    worker.until("start a t")
    worker.put("a")
    worker.until("start a t", "stop a", "start a t")


def test_a_configuration_that_is_written_while_a_supervisor_reads_the_former_one_is_applied(
    worker: SupervisedWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, first = worker.stores.config, threading.Lock()
    snapshot = config.snapshot

    def overtaken() -> ClusterState:
        state = snapshot()
        if threading.current_thread().name == "supervisor-a" and first.acquire(blocking=False):
            worker.put("a", "other")
        return state

    monkeypatch.setattr(config, "snapshot", overtaken)
    worker.supervisors.rebalance(EVERYTHING)
    worker.put("a")
    worker.until("start a t", "stop a", "start a other")


def test_a_restart_of_what_runs_elsewhere_is_done_at_once(worker: SupervisedWorker) -> None:
    worker.put("a")
    worker.supervisors.restart("a", request := Restart(connector=True))
    assert request.done.is_set()
    assert worker.calls == []


def test_a_restart_is_done_when_the_connector_has_started_again(worker: SupervisedWorker) -> None:
    worker.supervisors.rebalance(EVERYTHING)
    worker.put("a")
    worker.until("start a t")
    worker.supervisors.restart("a", request := Restart(connector=True))
    assert request.done.wait(180)
    assert worker.calls == ["start a t", "stop a", "start a t"]


def test_a_worker_that_shuts_down_stops_all_and_starts_nothing_more(worker: SupervisedWorker) -> None:
    worker.supervisors.rebalance(EVERYTHING)
    worker.put("a")
    worker.put("b")
    wait_until(lambda: len(worker.calls) == 2, 120, "two connectors")
    worker.supervisors.shut_down()
    assert sorted(worker.calls[2:]) == ["stop a", "stop b"]
    worker.put("c")
    assert len(worker.calls) == 4


def test_the_newest_generation_of_an_assignment_is_in_statuses(worker: SupervisedWorker) -> None:
    worker.supervisors.rebalance(EVERYTHING)
    worker.put("a")
    wait_until(lambda: worker.stores.status.connector("a") is not None, 120, "a status")
    status = worker.stores.status.connector("a")
    assert status is not None
    assert (status["state"], status["generation"]) == ("RUNNING", EVERYTHING.generation)
