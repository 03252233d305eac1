"""Active topics (KIP-558) where resets, or all of it, are switched off; without Kafka and Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pytest

from headrace.cluster.herder import Herder
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.standalone.stores import memory_stores
from headrace.cluster.stores import WorkerStores
from headrace.errors import RestError
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import Worker
from tests.support import wait_until

CONFIG = {"name": "c", "connector.class": "FileStreamSource", "file": "f", "topic": "t"}
RULES = {"topic.creation.default.replication.factor": "1", "topic.creation.default.partitions": "1"}
JSON = "org.apache.kafka.connect.json.JsonConverter"

Make = Callable[[str], tuple[Herder, WorkerStores]]


def no_spark() -> NoReturn:
    raise AssertionError("a stopped connector needs no Spark")


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[Make]:
    """A standalone worker without the given switch, with a stopped connector that has an active topic."""
    with ExitStack() as running:

        def make(switch: str) -> tuple[Herder, WorkerStores]:
            file = str(tmp_path / "offsets")
            props = {"bootstrap.servers": "127.0.0.1:1", "key.converter": JSON, "value.converter": JSON, switch: "false"}
            config = StandaloneConfig({**props, "offset.storage.file.filename": file})
            stores, group = memory_stores(file), StandaloneGroup()
            worker = Worker(config, stores.offsets, stores.status, no_spark, group.session)
            herder = Herder(worker, stores, "w", "cluster", group)
            running.callback(stores.stop)
            stores.start()
            running.callback(herder.shut_down)
            herder.start()
            herder.create("c", CONFIG, "STOPPED")
            wait_until(lambda: stores.status.connector("c"), 180, "the state of the connector")
            stores.status.put_topic("c", "t", 0, 1)
            return herder, stores

        yield make


def delete(herder: Herder, stores: WorkerStores) -> None:
    herder.delete("c")
    wait_until(lambda: not stores.status.connectors(), 180, "the connector is gone")


def test_where_resets_are_disabled_topics_stay_until_the_connector_is_deleted(stopped: Make) -> None:
    herder, stores = stopped("topic.tracking.allow.reset")
    with pytest.raises(RestError, match=r"^Topic tracking reset is disabled.$") as refused:
        herder.reset_active_topics("c")
    assert refused.value.status == 403
    assert herder.active_topics("c") == {"t"}
    delete(herder, stores)
    assert herder.active_topics("c") == set()


def test_where_tracking_is_disabled_nothing_is_answered_and_deletion_removes_nothing(stopped: Make) -> None:
    herder, stores = stopped("topic.tracking.enable")
    herder.create("ruled", {**CONFIG, **RULES, "name": "ruled"}, "STOPPED")
    herder.create("sink", {"name": "sink", "connector.class": "FileStreamSink", "file": "f", "topics": "t", **RULES}, "STOPPED")
    for asked, name in ((herder.active_topics, "c"), (herder.topics_in_use, "ruled"), (herder.reset_active_topics, "c")):
        with pytest.raises(RestError, match=r"^Topic tracking is disabled.$") as refused:
            asked(name)
        assert refused.value.status == 403
    # A source without rules, and a sink, have nothing to differ from.
    assert [herder.topics_in_use(name) for name in ("c", "sink")] == [{"topics": [], "drift": []}] * 2
    herder.delete("ruled")
    herder.delete("sink")
    delete(herder, stores)
    assert stores.status.topics("c") == {"t"}
