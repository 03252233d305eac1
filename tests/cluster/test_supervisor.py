"""A supervisor without Kafka and Spark: the connector runs here, its tasks elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.cluster.desired_state import DesiredState
from headrace.cluster.standalone.stores import memory_stores
from headrace.cluster.status_reporter import StatusReporter
from headrace.cluster.supervisor import Supervisor
from headrace.config import Config
from headrace.config.providers import Resolver
from headrace.runtime.worker import RunningConnector
from tests.support import wait_until

CONFIG = {"name": "c", "connector.class": "FileStreamSource", "tasks.max": "1"}
OWN = {"file": "f"}  # what this connector gives its task: nothing of what all connectors have


def start_connector(config: Any, _context: Any) -> RunningConnector:
    instance: Any = SimpleNamespace(task_configs=lambda _most: [dict(OWN)], stop=lambda: None)
    return RunningConnector(instance, "1", "T", Resolver().resolve(config))


@pytest.fixture
def made(tmp_path: Path) -> Callable[[DesiredState], int]:
    """How often task configurations are handed over once the connector runs as wanted."""

    def run(want: DesiredState) -> int:
        handed: list[object] = []
        stores = memory_stores(Config({"offset.storage.file.filename": str(tmp_path / "offsets")}))
        worker: Any = SimpleNamespace(config=SimpleNamespace(task_shutdown_timeout_ms=0, resolver=Resolver()))
        worker.start_connector = start_connector
        reports = StatusReporter(stores.status, "w", tracking=True)
        leader: Any = SimpleNamespace(submit_task_configs=lambda _name, tasks: handed.append(tasks))
        supervisor = Supervisor("c", lambda: want, worker, reports, leader, lambda _name: None)
        supervisor.start()
        supervisor.shut_down()  # once all that came before is done
        wait_until(supervisor.ended.is_set, 30, "the supervisor has ended")
        return len(handed)

    return run


RUNNING = DesiredState(CONFIG, 1, "STARTED", CONFIG, [OWN | {"task.class": "T"}], 1, True, frozenset())


def test_tasks_that_fit_stay(made: Callable[[DesiredState], int]) -> None:
    assert made(RUNNING) == 0


def test_tasks_begin_anew_if_only_what_all_connectors_have_has_changed(made: Callable[[DesiredState], int]) -> None:
    assert made(replace(RUNNING, config=CONFIG | {"transforms": ""})) == 1
