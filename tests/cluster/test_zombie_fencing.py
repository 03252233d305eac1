"""The leader fences off former tasks before new ones start, and the config topic says how many there are (KIP-618)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from headrace.cluster import signatures
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.herder import Herder
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.standalone.stores import MemoryLog, memory_stores
from headrace.cluster.zombie_fencing import ZombieFencing
from headrace.errors import NotFoundError, RestError, RetriableError
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.worker import Worker
from tests.process import worker_properties


class Producers:
    """Notes whose producers are fenced off; `meanwhile` happens during that."""

    def __init__(self) -> None:
        self.fenced: list[tuple[str, int]] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def fence(self, name: str, config: Mapping[str, Any], tasks: int) -> None:
        self.fenced.append((name, tasks))
        self.meanwhile()


@pytest.fixture
def store() -> ConfigStore:
    store = ConfigStore(MemoryLog)
    store.start()
    store.put_connector("c", {"name": "c"})
    return store


@pytest.fixture
def producers() -> Producers:
    return Producers()


@pytest.fixture
def fencing(store: ConfigStore, producers: Producers) -> ZombieFencing:
    return ZombieFencing(producers, store, StandaloneGroup(), threading.RLock())  # type: ignore[arg-type]


def tasks(store: ConfigStore, count: int, name: str = "c") -> None:
    store.put_task_configs((name, [{"task": str(n)} for n in range(count)]))


@pytest.mark.parametrize(
    ("generations", "fenced"),
    [
        ([3], []),  # nobody was there before
        ([1, 1], []),  # the one fences off the other by itself
        ([1, 2], [1]),
        ([2, 1], [2]),
        ([2, 3, 3], [2, 3]),
        ([2, 0, 2], [2, 0]),  # stopped, its offsets changed, resumed
    ],
)
def test_as_many_tasks_are_fenced_off_as_were_started_before(store, producers, fencing, generations, fenced):
    for count in generations:
        tasks(store, count)
        fencing.ensure_fenced("c")
        assert store.snapshot().fencing_counts["c"] == count
    assert producers.fenced == [("c", count) for count in fenced]


def test_a_generation_is_fenced_off_once_however_many_tasks_ask(store, producers, fencing):
    for count in (2, 2):
        tasks(store, count)
        for _ in range(3):
            fencing.ensure_fenced("c")
    assert producers.fenced == [("c", 2)]


def test_tasks_that_are_not_the_latest_any_more_do_not_start(store, producers, fencing):
    tasks(store, 2)
    fencing.ensure_fenced("c")
    tasks(store, 3)
    producers.meanwhile = lambda: tasks(store, 4)
    with pytest.raises(RestError, match="because a new set of task configs was generated") as refused:
        fencing.fence_as_leader("c")
    assert refused.value.status == 409
    assert store.snapshot().fencing_counts["c"] == 2, "those that come next fence off the same ones"


def test_a_connector_whose_cluster_is_away_holds_up_no_other(store, producers, fencing):
    store.put_connector("d", {"name": "d"})
    for name in ("c", "d"):
        tasks(store, 2, name)
        fencing.ensure_fenced(name)
        tasks(store, 3, name)

    def of_another_worker() -> None:
        producers.meanwhile = lambda: None
        thread = threading.Thread(target=fencing.ensure_fenced, args=["d"], daemon=True)
        thread.start()
        thread.join(180)
        raise RetriableError("the cluster is away")

    producers.meanwhile = of_another_worker
    with pytest.raises(RetriableError, match="the cluster is away"):
        fencing.ensure_fenced("c")
    assert store.snapshot().fencing_counts == {"c": 2, "d": 3}
    fencing.ensure_fenced("c")
    assert store.snapshot().fencing_counts == {"c": 3, "d": 3}
    assert producers.fenced == [("c", 2), ("d", 2), ("c", 2)]


def test_a_connector_that_was_deleted_is_not_found(store, fencing):
    tasks(store, 1)
    store.remove_connector("c")
    with pytest.raises(NotFoundError):
        fencing.fence_as_leader("c")


def test_the_request_to_the_leader_has_no_body_and_is_signed():
    config = DistributedConfig(worker_properties("g", "http://127.0.0.1:8083"))
    key = signatures.new_key(config)
    signatures.verify(b"", signatures.sign(b"", key, config.signature_algorithm), key, config)


class NotingWorker(Worker):
    """Notes which offsets there are when producers are fenced off."""

    offsets_at_fencing: list[Any] | None = None

    def fence(self, name: str, config: Mapping[str, Any], tasks: int) -> None:
        assert tasks == 2
        self.offsets_at_fencing = self.offsets_of({}).all(name)


def test_tasks_are_fenced_off_before_offsets_change(tmp_path: Path) -> None:
    props = {"bootstrap.servers": "127.0.0.1:1", "exactly.once.source.support": "enabled"}
    config, group = DistributedConfig({**worker_properties("w", "http://localhost:0"), **props}), StandaloneGroup()
    stores = memory_stores(str(tmp_path / "offsets"))
    worker = NotingWorker(config, stores.offsets, stores.status, lambda: None, group.session)  # type: ignore[arg-type,return-value]
    herder = Herder(worker, stores, "w:1", "k", group)
    stores.start()
    stores.config.put_connector("c", {"name": "c", "connector.class": "FileStreamSource", "topic": "t", "file": "f"})
    tasks(stores.config, 2)
    herder.leader.fence_before_tasks("c")
    offset = ({"filename": "f"}, {"position": 1})
    stores.offsets.put("c", [offset])
    herder.stop("c")
    herder.reset_offsets("c")
    assert (worker.offsets_at_fencing, stores.offsets.all("c")) == ([offset], [])
    stores.stop()
