"""A supervisor without Kafka and Spark: the connector runs here, its tasks elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.cluster.desired_state import DesiredState, Restart
from headrace.cluster.event_log import EventLog
from headrace.cluster.standalone.stores import memory_stores
from headrace.cluster.status_reporter import StatusReporter
from headrace.cluster.supervisor import Supervisor
from headrace.config.providers import Resolver
from headrace.connect_config.settings import connector_settings
from headrace.converters.avro import AvroConverter
from headrace.errors import ConnectError, RetriableError
from headrace.plugins import Kind
from headrace.runtime.running_connector import RunningConnector
from headrace.runtime.schema_usage import USAGE
from tests.support import wait_until

CONFIG = {"name": "c", "connector.class": "FileStreamSource", "tasks.max": "1"}
OWN = {"file": "f"}  # what this connector gives its task: nothing of what all connectors have


def start_connector(config: Any, _context: Any) -> RunningConnector:
    instance: Any = SimpleNamespace(task_configs=lambda _most: [dict(OWN)], stop=lambda: None)
    return RunningConnector(instance, "1", "T", Resolver().resolve(config), connector_settings(config, Kind.SOURCE))


@pytest.fixture
def made(tmp_path: Path) -> Callable[[DesiredState], int]:
    """How often task configurations are handed over once the connector runs as wanted."""

    def run(want: DesiredState) -> int:
        handed: list[object] = []
        stores = memory_stores(str(tmp_path / "offsets"))
        worker: Any = SimpleNamespace(config=SimpleNamespace(task_shutdown_timeout_ms=0, resolver=Resolver()))
        worker.start_connector = start_connector
        reports = StatusReporter(stores.status, "w", tracking=True)
        leader: Any = SimpleNamespace(submit_task_configs=lambda _name, tasks: handed.append(tasks))
        supervisor = Supervisor("c", lambda: want, worker, reports, leader, lambda _name: None)
        supervisor.start()
        wait_until(supervisor.release_parts().is_set, 120, "the supervisor has converged")
        supervisor.shut_down()  # which ends a start that is under way: none is
        wait_until(supervisor.ended.is_set, 120, "the supervisor has ended")
        return len(handed)

    return run


RUNNING = DesiredState(CONFIG, 1, "STARTED", CONFIG, [OWN | {"task.class": "T"}], 1, True, frozenset())


def test_tasks_that_fit_stay(made: Callable[[DesiredState], int]) -> None:
    assert made(RUNNING) == 0


def test_tasks_restart_if_only_what_all_connectors_have_has_changed(made: Callable[[DesiredState], int]) -> None:
    assert made(replace(RUNNING, config=CONFIG | {"transforms": ""})) == 1


class Supervised:
    """A supervisor, and what it has asked of the worker and the leader."""

    def __init__(self, folder: Path) -> None:
        self.want: DesiredState | None = RUNNING
        self.submitted: list[list[dict[str, str]]] = []
        self.leader_away = 0
        self.refusal: Exception | None = None
        self.generated: list[Exception | int] = []
        """What the next calls of taskConfigs throw, or how many tasks they give; one if nothing is left."""
        self.started, self.stopped = 0, 0
        self.may_stop = threading.Event()
        self.may_stop.set()
        self.context: Any = None
        self.statuses = memory_stores(str(folder / "offsets")).status
        worker: Any = SimpleNamespace(config=SimpleNamespace(task_shutdown_timeout_ms=0, resolver=Resolver()))
        worker.start_connector = self._start
        leader: Any = SimpleNamespace(submit_task_configs=self._submit)
        self.history = EventLog()
        reports = StatusReporter(self.statuses, "w", tracking=True, history=self.history)
        self.supervisor = Supervisor("c", lambda: self.want, worker, reports, leader, lambda _name: None)

    def _start(self, config: Any, context: Any) -> RunningConnector:
        if self.refusal is not None:
            raise self.refusal
        self.started, self.context = self.started + 1, context
        instance: Any = SimpleNamespace(task_configs=self._task_configs, stop=self._stop)
        return RunningConnector(instance, "1", "T", Resolver().resolve(config), connector_settings(config, Kind.SOURCE))

    def _task_configs(self, _most: int) -> list[dict[str, str]]:
        tasks = self.generated.pop(0) if self.generated else 1
        if isinstance(tasks, Exception):
            raise tasks
        return [dict(OWN)] * tasks

    def _stop(self) -> None:
        self.may_stop.wait(120)
        self.stopped += 1
        if self.refusal is not None:
            raise self.refusal

    def _submit(self, _name: str, configs: list[dict[str, str]]) -> None:
        if self.leader_away:
            self.leader_away -= 1
            raise RetriableError("The leader of the group is not known at the moment.")
        self.submitted.append(configs)

    def state(self) -> str | None:
        status = self.statuses.connector("c")
        return status and status["state"]

    def reaches(self, state: str | None) -> None:
        wait_until(lambda: self.state() == state, 120, f"the connector is {state}")


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    made = Supervised(tmp_path)
    yield made
    made.supervisor.shut_down()
    wait_until(made.supervisor.ended.is_set, 120, "the supervisor has ended")


def test_a_connector_that_cannot_start_is_failed_and_starts_when_it_is_restarted(supervised: Supervised) -> None:
    supervised.refusal = ConnectError("the source is not there")
    supervised.supervisor.start()
    supervised.reaches("FAILED")
    status = supervised.statuses.connector("c")
    assert status and "the source is not there" in str(status.get("trace"))
    supervised.refusal = None
    request = Restart(connector=True)
    supervised.supervisor.restart(request)
    assert request.done.wait(120)
    supervised.reaches("RUNNING")


def test_a_connector_that_fails_while_it_runs_is_stopped_and_says_why(supervised: Supervised) -> None:
    supervised.supervisor.start()
    supervised.reaches("RUNNING")
    supervised.context.raise_error(ConnectError("the source is gone"))
    supervised.reaches("FAILED")
    assert supervised.stopped == 1


def test_a_failed_connector_can_be_stopped_and_resumed(supervised: Supervised) -> None:
    supervised.refusal = ConnectError("the source is not there")
    supervised.supervisor.start()
    supervised.reaches("FAILED")
    supervised.refusal, supervised.want = None, replace(RUNNING, target="STOPPED")
    supervised.supervisor.wake()
    supervised.reaches("STOPPED")
    supervised.want = RUNNING
    supervised.supervisor.wake()
    supervised.reaches("RUNNING")


@pytest.mark.parametrize(("target", "state"), [("PAUSED", "FAILED"), ("STOPPED", "STOPPED")])
def test_a_connector_that_throws_when_it_stops_is_failed_if_it_was_to_pause(
    supervised: Supervised, target: str, state: str
) -> None:
    supervised.supervisor.start()
    supervised.reaches("RUNNING")
    supervised.refusal, supervised.want = ConnectError("the source holds on"), replace(RUNNING, target=target)
    supervised.supervisor.wake()
    supervised.reaches(state)
    status = supervised.statuses.connector("c")
    assert status and ("the source holds on" in str(status["trace"])) == (state == "FAILED")


def test_who_waits_for_a_connector_that_is_deleted_is_answered(supervised: Supervised) -> None:
    supervised.supervisor.start()
    supervised.reaches("RUNNING")
    supervised.may_stop.clear()
    supervised.supervisor.remove(True)
    restart, converged = Restart(connector=True), supervised.supervisor.release_parts()
    supervised.supervisor.restart(restart)
    supervised.may_stop.set()
    assert converged.wait(120) and restart.done.wait(120)
    assert (supervised.started, supervised.state()) == (1, None)


def test_task_configurations_wait_for_a_leader(supervised: Supervised) -> None:
    supervised.leader_away, supervised.want = 2, replace(RUNNING, tasks=[])
    supervised.supervisor.start()
    wait_until(lambda: len(supervised.submitted) == 1, 120, "the task configurations have been submitted")
    assert supervised.submitted == [[{**OWN, "task.class": "T"}]]


def test_a_connector_that_cannot_generate_task_configurations_now_goes_on_and_is_asked_again(supervised: Supervised) -> None:
    supervised.generated, supervised.want = [ConnectError("the source is away")] * 2, replace(RUNNING, tasks=[])
    supervised.supervisor.start()
    wait_until(lambda: len(supervised.submitted) == 1, 120, "the task configurations have been submitted")
    assert (supervised.state(), supervised.started, supervised.stopped) == ("RUNNING", 1, 0)


def test_a_connector_that_generates_too_many_tasks_is_failed(supervised: Supervised) -> None:
    supervised.generated = [2]
    supervised.supervisor.start()
    supervised.reaches("FAILED")
    status = supervised.statuses.connector("c")
    assert status and str(status["trace"]).startswith("org.apache.kafka.connect.runtime.TooManyTasksException: The connector c")


def test_a_connector_without_tasks_commits_that_it_has_none(supervised: Supervised) -> None:
    supervised.leader_away = 1
    supervised.generated = [0, 0, 0]
    supervised.want = replace(RUNNING, tasks=[], applied=None)
    supervised.supervisor.start()
    wait_until(lambda: supervised.submitted == [[]], 120, "the commit, once there is a leader")


def test_a_stopped_connector_has_no_instance_and_no_task_configurations(supervised: Supervised) -> None:
    supervised.supervisor.start()
    supervised.reaches("RUNNING")
    supervised.want = replace(RUNNING, target="STOPPED")
    supervised.supervisor.wake()
    supervised.reaches("STOPPED")
    wait_until(lambda: [] in supervised.submitted, 120, "the task configurations are removed")
    assert supervised.stopped == 1
    assert "Asked over REST" in supervised.history.last(1)[0]["cause"]


def test_a_stopped_connector_that_comes_to_this_worker_was_not_asked_for_now(supervised: Supervised) -> None:
    supervised.want = replace(RUNNING, target="STOPPED")
    supervised.supervisor.start()
    supervised.reaches("STOPPED")
    assert "earlier request" in supervised.history.last(1)[0]["cause"]


def test_of_a_deleted_connector_nothing_is_left(supervised: Supervised) -> None:
    supervised.supervisor.start()
    supervised.reaches("RUNNING")
    converters = [AvroConverter({"schema.registry.url": "http://localhost"}, is_key=False) for _ in range(3)]
    supervised.want = None
    for name, converter in zip(("c", "other"), converters, strict=False):
        USAGE.watch(name, 0, [converter])
        converter.uses.add("read", "value", 1, "AVRO", ("orders-value", 1))
    supervised.supervisor.remove(connector_here=True)
    supervised.reaches(None)
    assert supervised.stopped == 1
    assert (USAGE.of("c"), len(USAGE.of("other"))) == ([], 1)
    USAGE.watch("c", 0, converters[2:])
    assert not converters[2].uses.first_uses


class Reports(StatusReporter):
    """Remembers the states of the connector."""

    states: tuple[str, ...] = ()

    def connector(self, name: str, state: str, version: str | None, error: Any = None, *, asked: bool = False) -> None:
        self.states = (*self.states, state)
        super().connector(name, state, version, error, asked=asked)


def test_a_start_that_never_returns_ends_when_the_connector_is_paused(tmp_path: Path) -> None:
    want, started = [RUNNING], threading.Event()
    stores = memory_stores(str(tmp_path / "offsets"))
    worker: Any = SimpleNamespace(config=SimpleNamespace(task_shutdown_timeout_ms=0, resolver=Resolver()))

    def hang(_config: Any, context: Any) -> RunningConnector:
        started.set()
        context.stopping.wait()
        raise ConnectError("it was stopped before")

    worker.start_connector = hang
    reports: Any = Reports(stores.status, "w", tracking=True)
    supervisor = Supervisor("c", lambda: want[0], worker, reports, SimpleNamespace(), lambda _name: None)  # type: ignore[arg-type]
    supervisor.start()
    started.wait(120)
    want[0] = replace(RUNNING, target="PAUSED")
    supervisor.wake()
    wait_until(lambda: "PAUSED" in reports.states, 120, lambda: str(reports.states))
    assert "FAILED" not in reports.states
    supervisor.shut_down()
    wait_until(supervisor.ended.is_set, 120, "the supervisor has ended")
