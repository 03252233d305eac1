from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from headrace.cluster.standalone.stores import MemoryLog
from headrace.cluster.status_records import Status
from headrace.cluster.status_store import StatusStore
from headrace.kafka.failures import timed_out
from headrace.kafka.log import Entry, OnRecord
from headrace.kafka.writer import WrittenAt


def status(state: str = "RUNNING", generation: int = 1, worker: str = "w1") -> Status:
    return Status(state=state, trace=None, worker_id=worker, generation=generation, version="1")


@pytest.fixture
def store(make_log) -> Iterator[StatusStore]:
    store = StatusStore(make_log)
    store.start()
    yield store
    store.stop()


def written(store: StatusStore) -> StatusStore:
    assert store.flush()
    store.refresh()
    return store


def test_states_are_read_back(store):
    store.put_connector_status("c", status())
    store.put_task_status("c", 1, status("FAILED", generation=4))
    written(store)
    assert store.connector("c") == status()
    assert store.tasks("c") == {1: status("FAILED", generation=4)}
    assert store.connectors() == {"c"}
    assert store.latest_generation() == 4
    assert (store.connector("d"), store.tasks("d")) == (None, {})


def test_deleted_states_are_gone(store):
    store.put_connector_status("c", status())
    for task in (0, 1):
        store.put_task_status("c", task, status())
    store.delete_task_status("c", 1)
    assert set(written(store).tasks("c")) == {0}
    store.delete_connector_status("c")
    store.delete_task_status("c", 0)
    written(store)
    assert (store.connector("c"), store.tasks("c"), store.connectors()) == (None, {}, set())


def test_a_safe_write_does_not_overwrite_a_later_generation_of_another_worker(store):
    store.put_connector_status("c", status(generation=7, worker="w2"))
    store.put_task_status("c", 0, status(generation=7, worker="w2"))
    written(store)
    store.put_connector_status_safe("c", status("UNASSIGNED", generation=6))
    store.put_task_status_safe("c", 0, status("FAILED", generation=6))
    written(store)
    assert (store.connector("c")["state"], store.tasks("c")[0]["state"]) == ("RUNNING", "RUNNING")
    store.put_connector_status_safe("c", status("UNASSIGNED", generation=7))
    store.put_task_status_safe("c", 0, status("FAILED", generation=8))
    written(store)
    assert (store.connector("c")["state"], store.tasks("c")[0]["state"]) == ("UNASSIGNED", "FAILED")


def test_an_active_topic_is_there_when_it_has_been_read_back(store):
    store.put_topic("c", "orders", 3, 1700000000123)
    assert written(store).topics("c") == {"orders"}
    found = store.snapshot().topics["c"]["orders"]
    assert (found.task, found.discover_timestamp_ms) == (3, 1700000000123)
    assert store.topics("d") == set()


def test_active_topics_are_reset_and_may_come_again(store):
    for topic in ("a", "b"):
        store.put_topic("c", topic, 0, 1)
    store.put_topic("d", "a", 0, 1)
    written(store).delete_topics("c")
    written(store)
    assert (store.topics("c"), store.topics("d")) == (set(), {"a"})
    store.put_topic("c", "a", 0, 2)
    assert written(store).topics("c") == {"a"}


class Slow(MemoryLog):
    """Keeps what was sent, until the test says how it went."""

    def __init__(self, on_record: OnRecord) -> None:
        super().__init__(on_record)
        self.refuses = False
        self.sent: list[tuple[Future[WrittenAt], Entry]] = []

    def send(self, key: bytes, value: bytes | None) -> Future[WrittenAt]:
        if self.refuses:
            raise timed_out("The queue is full.")
        self.sent.append((Future(), (key, value)))
        return self.sent[-1][0]

    def arrive(self, number: int) -> None:
        """This record is acknowledged, and read back."""
        future, entry = self.sent[number]
        future.set_result(WrittenAt(0, number))
        self.append([entry], 0)


@pytest.fixture
def slow() -> tuple[StatusStore, Slow]:
    made: list[Slow] = []

    def make(on_record: OnRecord) -> Slow:
        made.append(Slow(on_record))
        return made[-1]

    return StatusStore(make), made[-1]


def test_a_topic_is_put_without_waiting_once_while_it_is_in_flight_and_again_after_a_failure(slow):
    store, log = slow
    for topic in ("a", "a", "b"):
        store.put_topic("c", topic, 0, 1)
    assert len(log.sent) == 2
    log.sent[0][0].set_exception(timed_out("The status topic has too few replicas."))
    store.put_topic("c", "a", 0, 1)
    assert len(log.sent) == 3
    log.arrive(2)
    log.refuses = True
    store.put_topic("c", "a", 0, 1)
    log.refuses = False
    store.put_topic("c", "a", 0, 1)
    assert len(log.sent) == 4


def test_an_active_topic_that_is_in_flight_is_deleted_with_the_others(slow):
    store, log = slow
    for topic in ("a", "b"):
        store.put_topic("c", topic, 0, 1)
    log.arrive(0)
    store.delete_topics("c")
    for number in (1, 2, 3):
        log.arrive(number)
    assert store.topics("c") == set()


def test_active_topics_outlive_the_state_of_the_connector(store):
    store.put_connector_status("c", status())
    store.put_topic("c", "a", 0, 1)
    store.delete_connector_status("c")
    assert written(store).topics("c") == {"a"}


def test_another_worker_reads_the_same(logs):
    topic = logs(5)
    first = topic.open(StatusStore(topic.factory))
    for number in range(20):
        first.put_connector_status(f"c{number}", status())
        first.put_task_status(f"c{number}", 0, status())
    first.put_topic("c0", "t", 0, 1)
    first.flush()
    second = topic.open(StatusStore(topic.factory))
    first.refresh()
    assert second.snapshot() == first.snapshot()
    assert len(second.connectors()) == 20
