"""When it is looked whether the topics that are written to are there."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

from headrace.errors import ConnectError, RetriableError
from headrace.runtime.topic_watch import TopicWatch
from tests.support import wait_until


class Renewed:
    """Counts looks; all but the first say that `a` was made again."""

    def __init__(self) -> None:
        self.looks: list[list[str]] = []

    def __call__(self, topics: Iterable[str]) -> set[str]:
        self.looks.append(list(topics))
        if len(self.looks) == 1:
            raise RetriableError("the brokers are away")
        return {"a"}


def test_a_write_that_takes_its_time_is_watched_until_it_ends() -> None:
    renew = Renewed()
    watch = TopicWatch(renew, check_interval_s=0.01)
    with watch.over({"b", "a"}):
        wait_until(lambda: watch.renewed == {"a"}, 120, "the second look")
    assert renew.looks[0] == ["a", "b"]
    wait_until(lambda: not [t for t in threading.enumerate() if t.name == "target-watch"], 120, "the watch has ended")


def test_a_write_that_is_quick_is_not_looked_after() -> None:
    renew = Renewed()
    with TopicWatch(renew, check_interval_s=60).over({"a"}):
        pass
    assert renew.looks == []


def test_a_write_that_fails_and_is_tried_again_is_looked_after_at_once() -> None:
    renew = Renewed()
    watch = TopicWatch(renew, check_interval_s=60)
    for error in (RetriableError("timed out"), RetriableError("timed out"), ConnectError("no")):
        with pytest.raises(type(error)), watch.over({"a"}):
            raise error
    assert len(renew.looks) == 2
    assert watch.renewed == {"a"}
