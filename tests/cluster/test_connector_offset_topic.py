"""A connector's own offset topic comes first, the worker's is a copy to fall back on (KIP-618)."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from headrace.cluster.connector_offset_topic import ConnectorOffsetTopic, OffsetStores, OwnTopic
from headrace.cluster.offset_store import KafkaOffsetStore
from headrace.cluster.standalone.stores import FileLog, MemoryLog
from headrace.connectors.base import Props
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.log import WrittenAt

A, B = {"file": "a"}, {"file": "b"}


class Full(FileLog):
    """A log whose disk is full."""

    def send(self, key: bytes, value: bytes | None) -> Future[WrittenAt]:
        raise ConnectError("full")

    def append(self, entries, timeout_s):
        raise ConnectError("full")


@pytest.fixture
def shared(tmp_path: Path) -> KafkaOffsetStore:
    return KafkaOffsetStore(lambda on_record: FileLog(tmp_path / "shared", on_record), topic="shared")


@pytest.fixture
def own(tmp_path: Path) -> KafkaOffsetStore:
    return KafkaOffsetStore(lambda on_record: FileLog(tmp_path / "own", on_record), topic="own")


def test_what_the_own_topic_does_not_have_is_read_from_the_workers(own, shared):
    shared.put("c", [(A, {"position": 1}), (B, {"position": 2})])
    own.put("c", [(A, {"position": 9})])
    both = ConnectorOffsetTopic(own, shared)
    assert both.get("c", [A, B, {"file": "none"}]) == [(A, {"position": 9}), (B, {"position": 2}), ({"file": "none"}, None)]
    assert sorted(both.all("c"), key=str) == [(A, {"position": 9}), (B, {"position": 2})]


def test_offsets_are_put_into_both_and_removed_from_both(own, shared):
    both = ConnectorOffsetTopic(own, shared)
    both.put("c", [(A, {"position": 1}), (B, {"position": 2})])
    both.put("c", [(A, None)])
    assert own.all("c") == shared.all("c") == both.all("c") == [(B, {"position": 2})]


def test_a_copy_that_fails_is_not_an_error_but_one_that_cannot_be_removed_is(own, tmp_path):
    both = ConnectorOffsetTopic(own, KafkaOffsetStore(lambda on_record: Full(tmp_path / "full", on_record)))
    both.put("c", [(A, {"position": 1})])
    assert own.all("c") == [(A, {"position": 1})]
    with pytest.raises(ConnectError):
        both.put("c", [(A, None)])
    assert own.all("c") == [(A, {"position": 1})], "or the copy would come back to life"


def test_offsets_of_a_transaction_are_records_of_the_own_topic(own, shared):
    assert ConnectorOffsetTopic(own, shared).records("c", [(A, {"position": 1}), (B, None)]) == [
        [("own", b'["c",{"file":"a"}]', b'{"position":1}')],
        [("own", b'["c",{"file":"b"}]', None)],
    ]


def test_an_own_topic_is_opened_once_and_only_for_those_that_have_one(own, shared):
    made: list[KafkaOffsetStore] = []

    def make() -> KafkaOffsetStore:
        made.append(own)
        return own

    stores = OffsetStores(shared, lambda config: (("own",), make) if config.get("offsets.storage.topic") else None)
    assert stores.of({}) is shared
    assert made == []
    for _ in range(2):
        assert isinstance(stores.of({"offsets.storage.topic": "own"}), ConnectorOffsetTopic)
    assert made == [own]


class Opened(KafkaOffsetStore):
    """An own store without a topic. starting: called when it is started."""

    def __init__(self, starting: Callable[[], None] = lambda: None) -> None:
        super().__init__(MemoryLog)
        self.starting, self.stopped = starting, threading.Event()

    def start(self, timeout_s: float = 1.0) -> None:
        self.starting()

    def stop(self) -> None:
        self.stopped.set()


def own_stores(shared: KafkaOffsetStore, made: list[Opened]) -> OffsetStores:
    """The stores of connectors; each own one is the first of `made`, and may be closed once nobody has it."""

    def topic_of(config: Props) -> OwnTopic | None:
        topic = config.get("offsets.storage.topic")
        return None if topic is None else ((topic,), lambda: made.pop(0))

    return OffsetStores(shared, topic_of, unused_s=0)


def test_a_store_that_does_not_start_is_closed_and_the_next_request_makes_another(shared):
    def fail() -> None:
        raise ConnectError("not authorized")

    failing, good = Opened(fail), Opened()
    stores = own_stores(shared, [failing, good])
    with pytest.raises(ConnectError, match="not authorized"):
        stores.of({"offsets.storage.topic": "a"})
    assert failing.stopped.is_set()
    assert stores.of({"offsets.storage.topic": "a"})._own is good  # type: ignore[union-attr]


def test_a_store_that_takes_long_to_start_holds_up_no_other_connector_nor_the_end_of_the_worker(shared):
    def others() -> None:
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(stores.of, {"offsets.storage.topic": "b"}).result(180)
            thread.submit(stores.stop).result(180)

    slow, quick = Opened(others), Opened()
    stores = own_stores(shared, [slow, quick])
    with pytest.raises(RetriableError, match="The worker is being stopped"):
        stores.of({"offsets.storage.topic": "a"})
    assert slow.stopped.is_set()
    assert quick.stopped.is_set()


def test_a_store_is_closed_once_nobody_has_it(shared):
    first, second = Opened(), Opened()
    stores = own_stores(shared, [first, second])
    task = stores.of({"offsets.storage.topic": "a"})
    stores.of({})
    assert stores.of({"offsets.storage.topic": "a"}) is task
    assert not first.stopped.is_set()
    del task
    gc.collect()
    assert stores.of({"offsets.storage.topic": "b"})._own is second  # type: ignore[union-attr]
    assert first.stopped.wait(180)
