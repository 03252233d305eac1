"""The leader without Kafka: task configurations of many connectors that come at once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.cluster.config_store import ConfigStore
from headrace.cluster.leader import Leader
from headrace.cluster.standalone.stores import memory_stores
from headrace.errors import BadRequestError, NotFoundError
from tests.support import wait_until

NAMES = [f"c{number}" for number in range(6)]


@pytest.fixture
def store(tmp_path: Path) -> ConfigStore:
    store = memory_stores(str(tmp_path / "offsets")).config
    store.start()
    for name in NAMES:
        store.put_connector(name, {"name": name})
    return store


class Written:
    """A leader whose turns others wait for, and what it has written in each."""

    def __init__(self, store: ConfigStore) -> None:
        group: Any = SimpleNamespace(leads=lambda: True)
        worker: Any = SimpleNamespace()
        self.writes: list[list[str]] = []
        self._put = store.put_task_configs
        store.put_task_configs = self._count  # type: ignore[method-assign]
        self.leader = Leader(worker, store, group)

    def _count(self, *connectors: tuple[str, Sequence[Any]]) -> None:
        self.writes.append([name for name, _ in connectors])
        self._put(*connectors)

    def at_once(self, configs: dict[str, list[dict[str, str]]]) -> dict[str, Future[None]]:
        with ThreadPoolExecutor(len(configs)) as pool, self.leader.changing:
            asked = {name: pool.submit(self.leader.put_task_configs, name, tasks) for name, tasks in configs.items()}
            wait_until(lambda: len(self.leader._queued) == len(configs), 120, "all wait")
        return asked


def test_those_that_wait_are_written_together(store: ConfigStore) -> None:
    written = Written(store)
    asked = written.at_once({name: [{"task": name}, {}] for name in NAMES})
    assert [future.result() for future in asked.values()] == [None] * 6
    assert len(written.writes) == 1 and sorted(written.writes[0]) == NAMES
    assert all(store.snapshot().tasks(name) == [0, 1] for name in NAMES)


def test_what_is_refused_of_one_is_not_of_the_others(store: ConfigStore) -> None:
    store.put_target_state("STOPPED", "c1")
    asked = Written(store).at_once({name: [{"task": name}] for name in [*NAMES, "unknown"]})
    with pytest.raises(NotFoundError, match="Connector unknown not found"):
        asked["unknown"].result()
    with pytest.raises(BadRequestError, match="non-empty set of task configs for stopped connector c1"):
        asked["c1"].result()
    assert [name for name in NAMES if store.snapshot().tasks(name)] == [name for name in NAMES if name != "c1"]


def test_much_is_written_alone(store: ConfigStore) -> None:
    written = Written(store)
    for future in written.at_once({name: [{"task": "x" * 60_000}] for name in NAMES}).values():
        future.result()
    assert [len(names) for names in written.writes] == [1] * 6
