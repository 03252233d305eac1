"""The group of workers as one worker sees it, without Kafka: which assignments it adopts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headrace.cluster.assignment import NOTHING, Assignment
from headrace.cluster.group import Group
from headrace.cluster.standalone.stores import memory_stores
from headrace.errors import RetriableError
from headrace.kafka.membership import Place
from headrace.runtime.distributed_config import DistributedConfig
from tests.process import worker_properties


class Member:
    """A worker whose config topic can be read or not, and the slots of the assignments that it has adopted."""

    def __init__(self, folder: Path) -> None:
        props = worker_properties("g", "http://here:1") | {"bootstrap.servers": "127.0.0.1:1"}
        config, self.store = DistributedConfig(props), memory_stores(str(folder / "offsets")).config
        requests: Any = None
        self.group = Group(config, self.store, requests, "here:1", lambda error: pytest.fail(str(error)))
        self.group._count = 100
        self.adopted: list[Assignment] = []
        self.group._on_assignment = self.adopted.append
        self.listener = self.group.membership._listener

    def cannot_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refresh(_timeout_s: float) -> None:
            raise RetriableError("There is no leader of the partition.")

        monkeypatch.setattr(self.store, "refresh", refresh)


@pytest.fixture
def member(tmp_path: Path) -> Member:
    return Member(tmp_path)


def test_slots_are_added_once_the_config_topic_can_be_read_and_the_member_polls_meanwhile(
    member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, more, fewer = Place(frozenset([0, 1]), 5), Place(frozenset([0, 1, 2]), 6), Place(frozenset([1, 2]), 7)
    with monkeypatch.context() as away:
        member.cannot_read(away)
        member.listener.changed(first)
        member.listener.polled(first)
        assert member.adopted == [] and not member.group.ready()
    member.listener.polled(first)
    assert member.adopted == [Assignment(first.slots, 100, 5)] and member.group.ready()
    with monkeypatch.context() as away:
        member.cannot_read(away)
        member.listener.changed(more)
        member.listener.polled(more)
        assert len(member.adopted) == 1, "what it has runs on"
        member.listener.changed(fewer)
        assert member.adopted[1:] == [Assignment(frozenset([1]), 100, 7)], "another worker may have the revoked slot"
    member.listener.polled(fewer)
    member.listener.polled(fewer)
    assert member.adopted[2:] == [Assignment(fewer.slots, 100, 7)]


def test_slots_that_were_lost_while_they_waited_are_not_adopted(member: Member) -> None:
    place = Place(frozenset([0]), 5)
    member.listener.changed(place)
    member.listener.lost(Place(frozenset(), -1))
    member.listener.polled(place)
    assert member.adopted == [NOTHING]
