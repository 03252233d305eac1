"""Every store is tried on both kinds of logs: a topic of a real broker, and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.background import side_by_side
from headrace.cluster.standalone.stores import FileLog, MemoryLog
from headrace.kafka.admin import Admin
from headrace.kafka.log import CompactedLog, LogFactory, RecordLog


class Logs:
    """Logs on one topic: each call of `factory` stands for another worker on the same one."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.props = {"bootstrap.servers": bootstrap}
        self.topic = topic
        self.opened: list[Any] = []

    @property
    def factory(self) -> LogFactory:
        return lambda on_record: CompactedLog(self.topic, self.props, self.props, on_record)

    def open(self, store: Any) -> Any:
        """Start a store; it is stopped after the test."""
        self.opened.append(store)
        store.start()
        return store


@pytest.fixture
def logs(source_broker, topic_name) -> Iterator[Callable[[int], Logs]]:
    made: list[Logs] = []

    def make(partitions: int) -> Logs:
        found = Logs(source_broker.bootstrap, topic_name("store"))
        Admin(found.props).create(found.topic, partitions, 1, {"cleanup.policy": "compact"})
        made.append(found)
        return found

    yield make
    side_by_side(*(store.stop for found in made for store in found.opened), thread="stop-store")  # each ends a poll first


@pytest.fixture(params=[pytest.param("kafka", marks=pytest.mark.slow), "memory"])
def make_log(request, tmp_path: Path) -> LogFactory:
    """A log of either kind."""
    if request.param == "kafka":
        return request.getfixturevalue("logs")(5 if "config" not in request.module.__name__ else 1).factory

    def in_memory(on_record) -> RecordLog:
        return FileLog(tmp_path / "offsets", on_record) if "offset" in request.module.__name__ else MemoryLog(on_record)

    return in_memory
