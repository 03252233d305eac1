"""What many tasks ask of one cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from headrace.kafka.coalesced_requests import CoalescedRequest, latest_offsets, topics
from tests.clusters import Cluster, record
from tests.support import wait_until


def connected(cluster: Cluster) -> Admin:
    """A client whose requests do not wait for its first connection: half a second is all the patience that there is."""
    admin = Admin({"bootstrap.servers": cluster.bootstrap})
    admin.cluster_id()
    return admin


def test_each_who_asks_gets_the_ends_of_its_own_partitions(source: Cluster, topic_name: Callable[[str], str]) -> None:
    first, second = topic_name("first"), topic_name("second")
    source.create(first, 2)
    source.create(second)
    source.produce(first, [record(partition=1)] * 3)
    ends = latest_offsets(connected(source))
    assert ends.of([(first, 0), (first, 1)]) == {(first, 0): 0, (first, 1): 3}
    assert ends.of([(second, 0)]) == {(second, 0): 0}
    source.produce(first, [record(partition=0)])
    wait_until(lambda: ends.of([(first, 0)]) == {(first, 0): 1}, 10, "the end is asked for again")


def test_a_topic_that_is_gone_keeps_nobody_from_the_ends_of_others(source: Cluster, topic_name: Callable[[str], str]) -> None:
    kept, gone = topic_name("kept"), topic_name("gone")
    source.create(kept)
    source.create(gone)
    ends = latest_offsets(connected(source))
    assert ends.of([(gone, 0)]) == {(gone, 0): 0}
    source.admin.delete([gone])
    source.produce(kept, [record()])
    assert ends.of([(kept, 0)]) == {(kept, 0): 1}


def test_a_cluster_that_is_away_is_named() -> None:
    admin = Admin({"bootstrap.servers": "127.0.0.1:1"})
    assert latest_offsets(admin) is latest_offsets(admin)
    assert topics(admin) is topics(admin)
    with pytest.raises(HeadraceError):
        latest_offsets(admin).of([("t", 0)])


def test_of_many_who_ask_a_cluster_that_says_nothing_one_after_the_other_only_the_first_waits() -> None:
    answers = threading.Event()

    def ask(keys: list[str], _timeout_s: float) -> dict[str, int]:
        answers.wait(60)
        return dict.fromkeys(keys, 1)

    silent, begun = CoalescedRequest[str, int](ask), time.monotonic()
    for _ in range(100):
        with pytest.raises(HeadraceError, match="has not answered"):
            silent.of(["a"])
    assert time.monotonic() - begun < 10  # 100 times half a second would be 50
    answers.set()
    wait_until(lambda: _known(silent) == {"a": 1}, 10, "the answer")


def _known(request: CoalescedRequest[str, int]) -> dict[str, int] | None:
    try:
        return request.of(["a"])
    except HeadraceError:
        return None
