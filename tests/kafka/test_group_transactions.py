"""What a member writes is in Kafka as a whole; what a former member writes is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from headrace.errors import RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.group_transactions import GroupTransactions, Write
from headrace.kafka.groups import GroupOffsets
from headrace.kafka.log import CompactedLog, LogRecord
from headrace.kafka.membership import GroupListener, GroupSettings, Membership
from headrace.kafka.transactional_ids import fence
from tests.forgetful import await_forgotten, forgetful_cluster


class Worker:
    """A member of a group with its writes."""

    def __init__(self, bootstrap: str, topic: str, name: str) -> None:
        self.props = {"bootstrap.servers": bootstrap}
        self.placed = threading.Event()
        listener = GroupListener(lambda _place: self.placed.set(), lambda _place: None, lambda _error: None)
        self.membership = Membership(self.props, GroupSettings(topic, topic, name, 60_000, 500, 60_000), listener)
        self.writes = GroupTransactions(self.props, f"{topic}-{name}", topic)
        self.membership.join(1)
        assert self.placed.wait(180)

    def close(self) -> None:
        self.membership.leave()
        self.writes.stop()


@pytest.fixture
def topic(destination_broker, topic_name) -> str:
    name = topic_name("writes")
    Admin({"bootstrap.servers": destination_broker.bootstrap}).create(name, 1, 1, {"max.message.bytes": "100000"})
    return name


@pytest.fixture
def worker(destination_broker, topic) -> Iterator[Callable[[str], Worker]]:
    made: list[Worker] = []

    def make(name: str) -> Worker:
        made.append(Worker(destination_broker.bootstrap, topic, name))
        return made[-1]

    yield make
    for one in made:
        one.close()


def written(worker: Worker, topic: str) -> dict[bytes | None, bytes | None]:
    seen: list[LogRecord] = []
    log = CompactedLog(topic, worker.props, {**worker.props, "isolation.level": "read_committed"}, seen.append)
    log.start()
    log.stop()
    return {record.key: record.value for record in seen}


def test_records_and_offsets_of_other_groups_are_written_together(worker, topic):
    one = worker("a")
    offsets = {f"{topic}-sink": {(topic, 0): 7}, f"{topic}-other": {(topic, 0): 8}}
    one.writes.write(Write([(topic, b"k", b"v"), (topic, b"gone", None)], offsets), one.membership.session(), 60)
    assert written(one, topic) == {b"k": b"v", b"gone": None}
    for group, offset in ((f"{topic}-sink", 7), (f"{topic}-other", 8)):
        assert GroupOffsets(one.props, group).read([(topic, 0)], 60) == {(topic, 0): offset}


def test_who_is_no_member_writes_nothing(worker, topic):
    one = worker("a")
    with pytest.raises(RetriableError, match="not a member of its group"):
        one.writes.write(Write([(topic, b"k", b"v")]), lambda: None, 60)
    assert written(one, topic) == {}


def test_a_zombie_that_does_not_know_it_yet_is_refused_by_the_broker(worker, topic):
    zombie = worker("a")
    stale = zombie.membership.group_metadata()
    worker("a")  # its successor: the zombie's member id counts no more
    with pytest.raises(RetriableError):
        zombie.writes.write(Write([(topic, b"k", b"zombie")], {f"{topic}-sink": {(topic, 0): 1}}), lambda: stale, 2)
    assert written(zombie, topic) == {}
    assert GroupOffsets(zombie.props, f"{topic}-sink").read([(topic, 0)], 60) == {}


def test_a_session_that_was_lost_does_not_come_back_with_the_membership(worker):
    one = worker("a")
    session = one.membership.session()
    assert session() is not None
    one.membership._expired(lambda _place: None)
    one.membership._member = True  # a member again
    assert session() is None
    assert one.membership.session()() is not None


def test_many_tasks_share_transactions(worker, topic):
    one = worker("a")
    group_metadata = one.membership.session()
    with ThreadPoolExecutor(16) as tasks:
        for done in [tasks.submit(one.writes.write, Write([(topic, b"%d" % n, b"v")]), group_metadata, 60) for n in range(64)]:
            done.result(120)
    assert set(written(one, topic)) == {b"%d" % n for n in range(64)}
    end = Admin(one.props).partition_offsets([(topic, 0)], "latest")[topic, 0]
    assert end < 2 * 64  # a transaction of its own for each would be a marker for each


def test_a_record_that_is_refused_does_not_take_others_with_it(worker, topic):
    one = worker("a")
    group_metadata = one.membership.session()
    with ThreadPoolExecutor(8) as tasks:
        good = [tasks.submit(one.writes.write, Write([(topic, b"%d" % n, b"v")]), group_metadata, 60) for n in range(7)]
        bad = tasks.submit(one.writes.write, Write([(topic, b"bad", b"x" * 200_000)]), group_metadata, 60)
        for done in good:
            done.result(120)
        with pytest.raises(KafkaFailure) as raised:
            bad.result(120)
    assert raised.value.code == "MESSAGE_TOO_LARGE"
    assert set(written(one, topic)) == {b"%d" % n for n in range(7)}


def test_a_record_that_a_broker_takes_for_an_earlier_one_is_written_again(worker, topic):
    one = worker("a")
    one.writes.write(Write([(topic, b"1", b"v")]), one.membership.session(), 60)
    one.writes._ends[topic, 0] = 1_000  # as if the offset that comes back were that of a record before
    one.writes.write(Write([(topic, b"2", b"v")]), one.membership.session(), 60)
    records: list[LogRecord] = []
    log = CompactedLog(topic, one.props, {**one.props, "isolation.level": "read_committed"}, records.append)
    log.start()
    log.stop()
    assert [record.key for record in records] == [b"1", b"2", b"2"]


def test_a_member_whose_producer_is_fenced_off_writes_with_a_new_one(worker, topic):
    """As the coordinator does it to a transaction that took too long: behind a network that was cut, say."""
    one = worker("a")
    one.writes.write(Write([(topic, b"1", b"v")]), one.membership.session(), 60)
    fence(one.props, [f"{topic}-a"], 60)
    one.writes.write(Write([(topic, b"2", b"v")]), one.membership.session(), 60)
    assert set(written(one, topic)) == {b"1", b"2"}


@pytest.mark.slow
def test_a_member_whose_transactional_id_has_expired_writes_with_a_new_producer():
    """As after a week without a write: Kafka's own producers fail then, and Kafka Connect's tasks with them."""
    with forgetful_cluster() as cluster, ExitStack() as ending:
        cluster.create("writes")
        one = Worker(cluster.bootstrap, "writes", "a")
        ending.callback(one.close)
        one.writes.write(Write([("writes", b"1", b"v")]), one.membership.session(), 60)
        await_forgotten(cluster)
        one.writes.write(Write([("writes", b"2", b"v")]), one.membership.session(), 60)
        assert set(written(one, "writes")) == {b"1", b"2"}


def test_a_worker_completes_what_it_has_left_before_it_is_a_member(destination_broker, topic):
    props = {"bootstrap.servers": destination_broker.bootstrap}
    writes = GroupTransactions(props, f"{topic}-a", topic)
    writes.complete([(topic, 0)], b"nothing", 60)
    seen: list[LogRecord] = []
    log = CompactedLog(topic, props, {**props, "isolation.level": "read_committed"}, seen.append)
    log.start()
    assert [(record.key, record.value) for record in seen] == [(b"nothing", None)]
    log.stop()
    writes.stop()
