"""One worker runs a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from headrace.embedded import Broker
from headrace.errors import SetupError
from headrace.kafka import membership
from headrace.kafka.admin import Admin
from headrace.kafka.membership import Membership
from tests.support import wait_until

SESSION_MS = 6000  # the shortest that a broker allows


@pytest.fixture
def member(destination_broker: Broker, topic_name: Callable[[str], str]) -> Iterator[Callable[[str], Membership]]:
    group, made = topic_name("group"), []

    def create(worker_id: str) -> Membership:
        made.append(Membership({"bootstrap.servers": destination_broker.bootstrap}, group, worker_id, SESSION_MS))
        return made[-1]

    yield create
    for one in made:
        one.leave()


@pytest.fixture
def topic(destination_broker: Broker, topic_name: Callable[[str], str]) -> str:
    name = topic_name("offsets")
    Admin({"bootstrap.servers": destination_broker.bootstrap}).create(name, 1, 1)
    return name


def joined(one: Membership, topic: str, seen_by: Membership) -> None:
    one.join(topic)
    wait_until(lambda: seen_by._others(), 30, "the other sees the member")


def test_a_second_worker_refuses_to_start(
    member: Callable[[str], Membership], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "_GRACE_S", -SESSION_MS / 1000)  # the first is alive: waiting would change nothing
    first, second = member("a:1"), member("b:2")
    joined(first, topic, seen_by=second)
    with pytest.raises(SetupError, match=r"Another worker of group '.*' is running \(headrace-a:1 on "):
        second.join(topic)


def test_a_worker_is_not_held_up_by_its_former_self(member: Callable[[str], Membership], topic: str) -> None:
    first, again, other = member("a:1"), member("a:1"), member("b:2")
    joined(first, topic, seen_by=other)
    assert not again._others()


def test_a_worker_that_left_is_replaced_at_once(member: Callable[[str], Membership], topic: str) -> None:
    first, second = member("a:1"), member("b:2")
    joined(first, topic, seen_by=second)
    first.leave()
    wait_until(lambda: not second._others(), 5, "the first is gone")
