"""A leader, its right to write, and its URL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from headrace.cluster import leadership as module
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.leadership import Leadership
from headrace.cluster.standalone.stores import MemoryLog
from headrace.errors import ConnectError
from headrace.kafka.failures import timed_out
from headrace.kafka.transactional_ids import fence
from headrace.kafka.transactional_writer import TransactionalWriter
from headrace.runtime.distributed_config import DistributedConfig
from tests.cluster.conftest import Logs
from tests.process import worker_properties
from tests.support import wait_until

WAIT_S, URL = 60, "http://here:1"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader looks more often than every second whether it still is one, and tries again sooner."""
    monkeypatch.setattr(module, "_POLL_INTERVAL_S", 0.05)
    monkeypatch.setattr(module, "_RETRY_S", 0.05)


class Membership:
    """A group that takes texts of its members only."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.is_member, self.refused = True, 0

    def announce(self, text: str, timeout_s: float, void: threading.Event) -> None:
        if not self.is_member:
            self.refused += 1
            raise timed_out("no member")
        self.texts.append(text)

    def announced(self, timeout_s: float) -> str | None:
        return self.texts[-1] if self.texts else None


def could_write(store: ConfigStore, value: str) -> bool:
    try:
        store.put_connector("c", {"by": value})
    except ConnectError:
        return False
    return True


def test_a_leader_whose_write_failed_claims_the_right_to_write_again_if_it_is_a_member(logs: Callable[[int], Logs]) -> None:
    topic = logs(1)
    store = topic.open(ConfigStore(topic.factory, TransactionalWriter(topic.topic, topic.props, topic.topic), topic.topic))
    group, config = Membership(), DistributedConfig(worker_properties("g", URL) | topic.props)
    leadership = Leadership(config, store, group, lambda: None, URL)
    leadership.lead(True)
    try:
        assert leadership.established.wait(WAIT_S)
        fence(topic.props, [topic.topic], WAIT_S)  # as the coordinator does it to a transaction that took too long
        group.is_member = False
        assert not could_write(store, "who was fenced off")
        wait_until(lambda: group.refused, WAIT_S, "the group is asked first")
        assert not store.may_write()
        group.is_member = True
        wait_until(lambda: could_write(store, "the leader"), WAIT_S, "the leader writes again")
        assert store.snapshot().connectors == {"c": {"by": "the leader"}}
        assert leadership.established.is_set()
    finally:
        leadership.lead(False)


class Leader:
    """A leadership over a store in memory. during_refresh: called whenever it reads the config topic to its end."""

    def __init__(self) -> None:
        self.group, self.begun = Membership(), list[str]()
        self.during_refresh: Callable[[], None] = lambda: None
        outer = self

        class Store(ConfigStore):
            def refresh(self, timeout_s: float = WAIT_S) -> None:
                outer.during_refresh()

        store = Store(MemoryLog)
        store.start()
        config = DistributedConfig(worker_properties("g", URL) | {"bootstrap.servers": "127.0.0.1:1"})
        self.leadership = Leadership(config, store, self.group, lambda: self.begun.append(URL), URL)


@pytest.fixture
def leader() -> Iterator[Leader]:
    leader = Leader()
    yield leader
    leader.leadership.lead(False)


def test_a_worker_that_does_not_lead_any_more_when_it_is_ready_does_not_publish_its_url(leader: Leader) -> None:
    refreshes = iter([lambda: leader.leadership.lead(False), lambda: None])
    leader.during_refresh = lambda: next(refreshes)()
    others = set(threading.enumerate())
    leader.leadership.lead(True)
    for thread in set(threading.enumerate()) - others:
        thread.join(WAIT_S)
    assert (leader.group.texts, leader.begun, leader.leadership.established.is_set()) == ([], [], False)
    leader.leadership.lead(True)
    assert leader.leadership.established.wait(WAIT_S)
    assert leader.group.texts == [URL]


def test_a_leader_publishes_its_url_again_if_the_group_has_another_one(leader: Leader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_URL_S", 0.0)
    leader.leadership.lead(True)
    assert leader.leadership.established.wait(WAIT_S)
    leader.group.texts.append("http://there:1")
    wait_until(lambda: leader.leadership.leader_url() == URL, WAIT_S, "the leader's URL is published again")
    assert leader.leadership.established.is_set()
