"""What the stores have acknowledged is in Kafka, whatever happens to its broker meanwhile."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime

import pytest

from headrace.cluster.config_store import ConfigStore
from headrace.cluster.status_store import StatusStore
from headrace.cluster.stores import WorkerStores, kafka_stores
from headrace.embedded import Broker
from headrace.errors import ConnectError
from headrace.kafka.log import CompactedLog, LogRecord
from headrace.kafka.membership import GroupListener, GroupSettings, Membership
from headrace.runtime.distributed_config import DistributedConfig
from tests.process import worker_properties
from tests.support import seeds, wait_until

_KINDS = ("offset", "config", "status")
_WRITES = 8  # of each kind between two restarts
_VALUE = re.compile(rb"(offset-\d|config|status)-\d+")


class Worker:
    """A member of a group, and its stores."""

    def __init__(self, props: Mapping[str, str], name: str) -> None:
        self.stores: WorkerStores = kafka_stores(DistributedConfig(props), name)
        self.stores.start()
        self.placed = threading.Event()
        listener = GroupListener(lambda _place: self.placed.set(), lambda _place: None, lambda _error: None)
        settings = GroupSettings(props["group.id"], props["offset.storage.topic"], name, 6000, 500, 60000)
        self.membership = Membership(props, settings, listener)
        self.membership.join(1)
        assert self.placed.wait(180)

    def close(self) -> None:
        self.membership.leave()
        self.stores.stop()


class Load:
    """Writes of all kinds without end, each with a value of its own; `acknowledged` are those that have returned."""

    def __init__(self, leader: Worker, follower: Worker) -> None:
        self.acknowledged: dict[str, list[str]] = {kind: [] for kind in _KINDS}
        self.over = threading.Event()
        self._claimed = False
        self._threads = ThreadPoolExecutor(8)
        kinds: dict[str, Callable[[str], None]] = {
            **{f"offset-{number}": self._offsets(worker) for number, worker in enumerate([leader, follower] * 2)},
            "config": lambda value: self._config(leader.stores.config, value),
            "status": lambda value: self._status(leader.stores.status, value),
        }
        self._writers = [self._threads.submit(self._keep_writing, *kind) for kind in kinds.items()]

    def goes_on(self) -> None:
        """Return after some more writes of each kind."""
        wanted = {kind: len(values) + _WRITES for kind, values in self.acknowledged.items()}
        wait_until(
            lambda: all(len(self.acknowledged[kind]) >= number for kind, number in wanted.items()),
            120,
            lambda: f"{wanted} writes, of which there are {[len(values) for values in self.acknowledged.values()]}",
        )

    def end(self) -> None:
        self.over.set()
        for writer in self._writers:
            writer.result(120)

    def _keep_writing(self, kind: str, write: Callable[[str], None]) -> None:
        for number in itertools.count():
            if self.over.is_set():
                return
            try:
                write(value := f"{kind}-{number}")
                self.acknowledged[kind.partition("-")[0]].append(value)
            except ConnectError:  # it is no member for a moment, or the broker was away for too long
                self.over.wait(0.1)

    def _offsets(self, worker: Worker) -> Callable[[str], None]:
        return lambda value: worker.stores.offsets.put("c", [({"p": value}, {"o": 1})], worker.membership.session())

    def _status(self, store: StatusStore, value: str) -> None:
        store.put_topic(value, "t", 0, 0)
        store.flush()
        store.refresh()
        if not store.topics(value):
            raise ConnectError("It was not written in time.")

    def _config(self, store: ConfigStore, value: str) -> None:
        try:
            if not self._claimed:
                store.claim_write_privileges()
            self._claimed = True
            store.put_task_count(value, 1)
        except ConnectError:
            self._claimed = False
            raise


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A broker that is not shared: its end would take their group from the workers of other tests, which may be used next."""
    with Broker(name="acknowledged") as broker:
        yield broker


@pytest.fixture
def props(broker: Broker, topic_name: Callable[[str], str]) -> dict[str, str]:
    few = {"offset.storage.partitions": "3", "status.storage.partitions": "2"}
    return worker_properties(topic_name("ack"), "http://localhost:0") | few | {"bootstrap.servers": broker.bootstrap}


@pytest.fixture
def load(props: dict[str, str]) -> Iterator[Load]:
    with ExitStack() as ended:
        workers = [Worker(props, name) for name in ("leader", "follower")]
        for worker in workers:
            ended.callback(worker.close)
        made = Load(*workers)
        ended.callback(made.end)
        yield made


@pytest.fixture
def busy() -> Iterator[None]:
    """Other programs want the processors as well."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(seeds(1, 3)[-1])]
    yield
    for one in others:
        one.kill()
        one.wait()


def read(props: Mapping[str, str], kind: str) -> set[str]:
    """The values that another reader finds in an internal topic."""
    seen: list[LogRecord] = []
    log = CompactedLog(props[f"{kind}.storage.topic"], props, {**props, "isolation.level": "read_committed"}, seen.append)
    log.start(120)
    log.stop()
    return {found.group().decode() for record in seen if (found := _VALUE.search(record.key or b""))}


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_restarts_of_the_broker(
    load: Load, busy: None, props: dict[str, str], broker: Broker
) -> None:
    restarts, checked = seeds(2, 200)[-1], dict.fromkeys(_KINDS, 0)
    for restart in range(1, restarts + 1):
        load.goes_on()
        if restart % 2:
            broker.restart()
        else:
            broker.kill()
            broker.start()
        if restart % 20 and restart < restarts:
            continue
        for kind in _KINDS:
            acknowledged = load.acknowledged[kind][checked[kind] :]
            checked[kind] += len(acknowledged)
            missing = set(acknowledged) - read(props, kind)
            assert not missing, f"after {restart} restarts, of {checked[kind]} {kind}s these are missing: {sorted(missing)}"
        print(f"{datetime.now():%T} {restart} restarts: acknowledged and there are {checked}", flush=True)
