"""Workers of one group share its slots, through a real broker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from confluent_kafka import Consumer

from headrace.errors import ConnectError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.group_transactions import GroupTransactions, Write
from headrace.kafka.membership import GroupListener, GroupSettings, Membership, Place, generation
from tests.support import wait_until

SLOTS = frozenset(range(5))
WAIT_S = 120
LONG_MS, SHORT_MS = 300_000, 6000
"""Session time-outs: who gets no processor for seconds stays a member; the short one is for tests that wait for its end."""


class Member:
    """A membership that notes what it is told; `held`: places are taken up once it is set."""

    def __init__(self, bootstrap: str, group: str, name: str, session_ms: int) -> None:
        self.places: list[Place] = []
        self.lost: list[Place] = []
        self.errors: list[ConnectError] = []
        self.held = threading.Event()
        self.held.set()
        settings = GroupSettings(group, group, name, session_ms, 500, 60000)
        listener = GroupListener(self._changed, self.lost.append, self.errors.append)
        self.membership = Membership({"bootstrap.servers": bootstrap}, settings, listener)

    def _changed(self, place: Place) -> None:
        self.held.wait(WAIT_S)
        self.places.append(place)

    @property
    def slots(self) -> frozenset[int]:
        return self.places[-1].slots if self.places else frozenset()


@pytest.fixture
def join(destination_broker, topic_name) -> Iterator[Callable[..., Member]]:
    """Make a member of this test's group; they share the five partitions of a topic."""
    group, made = topic_name("group"), []
    Admin({"bootstrap.servers": destination_broker.bootstrap}).create(group, len(SLOTS), 1)

    def create(name: str, session_ms: int = LONG_MS) -> Member:
        made.append(Member(destination_broker.bootstrap, group, name, session_ms))
        made[-1].membership.join(len(SLOTS))
        return made[-1]

    yield create
    for one in made:
        one.membership.leave()


def shared(*members: Member) -> None:
    """Wait until the members have all slots, each one of them, none twice."""

    def done() -> bool:
        parts = [one.slots for one in members]
        return all(parts) and sum(map(len, parts)) == len(SLOTS) and frozenset().union(*parts) == SLOTS

    wait_until(done, WAIT_S, lambda: f"slots are shared: {[sorted(one.slots) for one in members]}")


def test_a_second_member_gets_its_part_and_the_first_keeps_the_last_slot(join):
    first = join("a")
    shared(first)
    second = join("b")
    shared(first, second)
    assert len(SLOTS) - 1 in first.slots
    assert all(before.slots >= after.slots for before, after in pairwise(first.places))


def test_what_is_given_up_goes_on_only_when_the_giver_is_done(join):
    first = join("a")
    shared(first)
    first.held.clear()
    second = join("b")
    wait_until(lambda: second.places, WAIT_S / 2, "the second is a member")
    assert second.slots == frozenset()
    first.held.set()
    shared(first, second)


def test_work_that_is_given_up_may_write_until_it_has_stopped(join, destination_broker):
    first = join("a")
    shared(first)
    group, props = first.membership.settings.group, {"bootstrap.servers": destination_broker.bootstrap}
    writes = GroupTransactions(props, group, group)
    first.held.clear()
    second = join("b")
    wait_until(lambda: second.places, WAIT_S / 2, "the second is a member")
    writes.write(Write(offsets={f"{group}-sink": {(group, 0): 7}}), first.membership.session(), 30)
    first.held.set()
    writes.stop()
    shared(first, second)


def test_a_member_that_comes_back_finds_its_place(join):
    first, second = join("a"), join("b")
    shared(first, second)
    second.membership.leave()
    before = second.slots
    again = join("b")
    wait_until(lambda: again.slots, WAIT_S, "sooner than the session's end")
    assert again.slots == before
    shared(first, again)


def test_the_part_of_a_member_that_is_gone_is_dealt_out_after_the_session(join):
    first, second = join("a", SHORT_MS), join("b", SHORT_MS)
    shared(first, second)
    second.membership.leave()
    shared(first)


def test_a_second_member_of_one_name_ends_the_first(join):
    first = join("a")
    shared(first)
    join("a")
    wait_until(lambda: first.errors, WAIT_S, "the first is told")
    assert "Another worker of group" in str(first.errors[0])
    assert "has the same name, a" in str(first.errors[0])
    assert first.membership.group_metadata() is None


def test_who_is_fenced_off_twice_in_a_minute_by_what_is_gone_then_stays_a_member(join, destination_broker):
    """As by itself after two outages: the broker knows a member that joins again under two ids for a moment."""
    first = join("a")
    shared(first)
    for _ in range(2):
        lost, places = len(first.lost), len(first.places)
        group = first.membership.settings.group
        passing = Consumer({
            "bootstrap.servers": destination_broker.bootstrap, "group.id": group, "group.instance.id": "a",
            "partition.assignment.strategy": "cooperative-sticky", "session.timeout.ms": LONG_MS,
        })  # fmt: skip
        passing.subscribe([group])
        wait_until(lambda one=passing, lost=lost: one.poll(0.1) is None and len(first.lost) > lost, WAIT_S, "it is fenced off")
        passing.close()
        wait_until(lambda places=places: len(first.places) > places, WAIT_S, lambda: f"it is back, {first.errors}")
    shared(first)
    assert first.errors == []


def test_a_text_and_the_number_of_slots_left_by_one_member_are_read_by_all(join):
    first, second = join("a"), join("b")
    shared(first, second)
    void = threading.Event()
    void.set()
    with pytest.raises(KafkaFailure, match="not to be published any more"):
        first.membership.announce("http://here:0/", 60, void)
    assert second.membership.announced(60) is second.membership.announced_slot_count(60) is None
    first.membership.announce("http://here:1/", 60, threading.Event())
    assert second.membership.announced(60) == "http://here:1/"
    assert second.membership.announced_slot_count(60) == len(SLOTS)


def test_a_proof_is_of_the_generation_that_the_place_has(join):
    first = join("a")
    shared(first)
    assert generation(first.membership.group_metadata()) == first.places[-1].generation >= 1
    assert generation(None) == generation(b"something else") == -1
