"""When offsets are stored: once they are told to be, never after the task was abandoned."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.errors import RetriableError
from headrace.runtime.delivery import OffsetCommits
from headrace.runtime.metrics.events import Committed

OFFSETS: Any = [({"topic": "t", "partition": 0}, {"offset": 7})]


class Recorder:
    """Keeps the events of a task."""

    def __init__(self) -> None:
        self.events: list[Committed] = []

    def record(self, event: Committed) -> None:
        self.events.append(event)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def test_offsets_are_stored_and_measured(recorder: Recorder) -> None:
    stored: list[Any] = []
    OffsetCommits(stored.append, recorder).store(OFFSETS, "t-0")  # type: ignore[arg-type]
    assert (stored, [event.ok for event in recorder.events]) == ([OFFSETS], [True])


def test_nothing_is_written_for_no_offsets(recorder: Recorder) -> None:
    stored: list[Any] = []
    OffsetCommits(stored.append, recorder).store([], "nothing")  # type: ignore[arg-type]
    assert (stored, [event.ok for event in recorder.events]) == ([], [True])


def test_a_store_that_fails_is_measured_as_failed_and_raised(recorder: Recorder) -> None:
    def refuse(_offsets: Any) -> None:
        raise RetriableError("the broker is away")

    with pytest.raises(RetriableError, match="the broker is away"):
        OffsetCommits(refuse, recorder).store(OFFSETS, "t-0")  # type: ignore[arg-type]
    assert [event.ok for event in recorder.events] == [False]


def test_an_abandoned_task_stores_nothing_more(recorder: Recorder) -> None:
    stored: list[Any] = []
    commits = OffsetCommits(stored.append, recorder)  # type: ignore[arg-type]
    commits.abandon()
    with pytest.raises(RetriableError, match="The task was stopped before the offsets of t-0 were stored"):
        commits.store(OFFSETS, "t-0")
    assert not stored
