"""What many tasks ask of one cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

import pytest

from headrace.background import in_background
from headrace.errors import HeadraceError, RetriableError
from headrace.kafka import coalesced_requests
from headrace.kafka.admin import Admin, shared
from headrace.kafka.coalesced_requests import CoalescedRequest, WaitBudget, follow_silence, latest_offsets, topics
from headrace.kafka.groups import Partition
from tests.clusters import Cluster, record
from tests.support import wait_until

WAIT_S = 120
Key = TypeVar("Key")
Ends = Callable[..., dict[Partition, int] | None]


def ends_of(cluster: Cluster) -> Ends:
    """What gives the ends of partitions. It is asked again while the cluster takes more than the half second that is waited."""
    ends = latest_offsets(Admin({"bootstrap.servers": cluster.bootstrap}))
    return lambda *partitions: wait_until(lambda: _known(ends, [*partitions]), WAIT_S, f"the ends of {partitions}")


def test_each_who_asks_gets_the_ends_of_its_own_partitions(source: Cluster, topic_name: Callable[[str], str]) -> None:
    first, second = topic_name("first"), topic_name("second")
    source.create(first, 2)
    source.create(second)
    source.produce(first, [record(partition=1)] * 3)
    ends = ends_of(source)
    assert ends((first, 0), (first, 1)) == {(first, 0): 0, (first, 1): 3}
    assert ends((second, 0)) == {(second, 0): 0}
    source.produce(first, [record(partition=0)])
    wait_until(lambda: ends((first, 0)) == {(first, 0): 1}, WAIT_S, "the end is asked for again")


def test_a_topic_that_is_gone_keeps_nobody_from_the_ends_of_others(source: Cluster, topic_name: Callable[[str], str]) -> None:
    kept, gone = topic_name("kept"), topic_name("gone")
    source.create(kept)
    source.create(gone)
    ends = ends_of(source)
    assert ends((gone, 0)) == {(gone, 0): 0}
    source.admin.delete([gone])
    source.produce(kept, [record()])
    assert ends((kept, 0)) == {(kept, 0): 1}


def test_a_cluster_that_is_away_is_named() -> None:
    admin = Admin({"bootstrap.servers": "127.0.0.1:1"})
    assert latest_offsets(admin) is latest_offsets(admin)
    assert topics(admin) is topics(admin)
    with pytest.raises(HeadraceError):
        latest_offsets(admin).of([("t", 0)])


def test_of_many_who_ask_a_cluster_that_says_nothing_one_after_the_other_only_the_first_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = threading.Event()

    def ask(keys: list[str], _timeout_s: float) -> dict[str, int]:
        answers.wait(600)
        return dict.fromkeys(keys, 1)

    silent = CoalescedRequest[str, int](ask)
    with pytest.raises(HeadraceError, match="has not answered"):
        silent.of(["a"])
    monkeypatch.setattr(coalesced_requests, "_PATIENCE_S", 3600.0)  # who waits now does so until this test gives up
    with pytest.raises(HeadraceError, match="has not answered"):
        in_background(lambda: silent.of(["a"]), "second").result(WAIT_S)
    wait_until(lambda: silent.silent_since_ms is not None, WAIT_S, "it is known to be silent")
    assert abs(time.time() * 1000 - (silent.silent_since_ms or 0)) < WAIT_S * 1000
    answers.set()
    wait_until(lambda: _known(silent, ["a"]) == {"a": 1}, WAIT_S, "the answer")
    assert silent.silent_since_ms is None


def test_clusters_that_say_nothing_are_waited_for_half_a_second_in_five_all_together() -> None:
    budget, never, begun = WaitBudget(), threading.Event(), time.monotonic()
    assert budget.left_s(begun) == 0.5
    assert not budget.wait(never, begun + 600)
    assert budget.left_s(begun) < 0.01, "nothing is left, and whoever asks now does not wait"
    assert not budget.wait(never, begun + 600)
    assert budget.left_s(begun + 600) == 0.5


def test_since_when_a_cluster_is_silent_is_since_the_first_request_without_an_answer() -> None:
    request = CoalescedRequest[str, int](_refuse)
    assert request.silent_since_ms is None
    wait_until(lambda: _known(request, ["a"]) is None and request.silent_since_ms, WAIT_S, "the error")
    first, asked = request.silent_since_ms, _ASKED[0]
    wait_until(lambda: _known(request, ["b"]) is None and _ASKED[0] > asked, WAIT_S, "it is asked again")
    assert request.silent_since_ms == first


@pytest.mark.parametrize(("producer", "admin"), [("127.0.0.1:1", "127.0.0.1:1"), ("127.0.0.1:2", "127.0.0.1:3")])
def test_a_cluster_that_is_written_to_is_asked_as_its_producer_connects(producer: str, admin: str) -> None:
    silent_since = follow_silence({"bootstrap.servers": producer, "acks": "all"}, {"bootstrap.servers": admin})
    wait_until(silent_since, WAIT_S, "it is known to be silent")
    assert "cluster" in shared({"bootstrap.servers": producer}).coalesced_requests


_ASKED = [0]


def _refuse(_keys: list[str], _timeout_s: float) -> dict[str, int]:
    _ASKED[0] += 1
    raise RetriableError("It is away.")


def _known(request: CoalescedRequest[Key, int], keys: list[Key]) -> dict[Key, int] | None:
    try:
        return request.of(keys)
    except HeadraceError:
        return None
