"""Statuses of what was removed while its worker was away: they go with the next rebalance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.cluster.assignment import NOTHING, Assignment
from headrace.cluster.herder import Herder
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.standalone.stores import memory_stores
from headrace.cluster.status_records import Status
from headrace.cluster.stores import WorkerStores
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import Worker
from tests.support import wait_until

JSON = "org.apache.kafka.connect.json.JsonConverter"
HERE, AWAY = "here:1", "away:1"


class Group(StandaloneGroup):
    """A group of several workers, as one of them sees it."""

    leader = False

    def start(self, on_assignment: Callable[[Assignment], None], on_leadership: Callable[[], None]) -> None:
        self.rebalance = on_assignment

    def leads(self) -> bool:
        return self.leader


def started(directory: Path) -> tuple[WorkerStores, Group, Herder]:
    config = StandaloneConfig(
        {"key.converter": JSON, "value.converter": JSON, "offset.storage.file.filename": str(directory / "offsets")}
    )
    stores, group = memory_stores(config.offset_file), Group()
    worker = Worker(config, stores.offsets, stores.status, lambda: pytest.fail("Spark"), lambda: lambda: None)
    herder = Herder(worker, stores, HERE, "cluster", group)
    herder.start()
    return stores, group, herder


def running(worker_id: str, generation: int) -> Status:
    return {"state": "RUNNING", "trace": None, "worker_id": worker_id, "generation": generation, "version": None}


@pytest.mark.parametrize(
    ("leader", "assignment", "stay"),
    [
        pytest.param(True, Assignment(frozenset([99]), 100, 7), {("c", 0)}, id="the leader removes all"),
        pytest.param(False, Assignment(frozenset([0]), 100, 7), {("c", 0), ("c", 2), ("lost", 0)}, id="others their own"),
        pytest.param(False, NOTHING, {("c", 0), ("c", 1), ("c", 2), ("gone", 0), ("lost", 0)}, id="no member removes none"),
    ],
)
def test_a_rebalance_removes_statuses_of_removed_parts(
    leader: bool, assignment: Assignment, stay: set[tuple[str, int]], tmp_path: Path
) -> None:
    stores, group, herder = started(tmp_path)
    stores.config.put_connector("c", {"connector.class": "none"})  # in other slots than those above
    stores.config.put_task_configs(("c", [{}]))
    for name, task, worker_id in (("c", 0, AWAY), ("c", 1, HERE), ("c", 2, AWAY), ("gone", 0, HERE), ("lost", 0, AWAY)):
        stores.status.put_task_status(name, task, running(worker_id, 5))
        if name != "lost":  # of which only the task was left
            stores.status.put_connector_status(name, running(worker_id, 5))
    group.leader = leader
    group.rebalance(assignment)
    left = stores.status.snapshot()
    assert {(name, task) for name, tasks in left.tasks.items() for task in tasks} == stay
    assert left.connectors.keys() == {name for name, _ in stay if name != "lost"}
    herder.shut_down()


def test_a_worker_that_its_group_has_lost_leaves_the_statuses_of_its_successors(tmp_path: Path) -> None:
    stores, group, herder = started(tmp_path)
    stores.config.put_connector("c", {"connector.class": "none"})
    stores.config.put_task_configs(("c", [{}]))
    stores.status.put_task_status("before", 0, running(AWAY, 60))  # of the group before this one
    group.rebalance(Assignment(frozenset([0]), 1, 5))
    wait_until(lambda: stores.status.connector("c") and stores.status.tasks("c"), 600, "the parts FAILED on this worker")
    group.rebalance(Assignment(frozenset([0]), 1, 6))
    successor = running(AWAY, stores.status.latest_generation() + 1)
    stores.status.put_connector_status("c", successor)
    stores.status.put_task_status("c", 0, successor)
    group.rebalance(NOTHING)
    assert stores.status.connector("c") == stores.status.tasks("c")[0] == successor
    herder.shut_down()
