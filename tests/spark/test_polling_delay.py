"""How often queries that have nothing to do look for news."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headrace.spark import polling_delay as pacing
from headrace.spark.polling_delay import EACH_MS, LONGEST_MS, QUIET_S, PollingDelay

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USUAL_MS = 50


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests look themselves."""
    monkeypatch.setattr(PollingDelay, "_watch", lambda self: None)


@pytest.fixture
def set_to(clock: Clock) -> Any:
    """Starts so many queries; gives the pace and, by number of the query, what each was told."""

    def start(queries: int) -> tuple[PollingDelay, dict[int, int]]:
        pace, told = PollingDelay(clock), {}
        for number in range(queries):
            pace.begin(number, USUAL_MS, lambda ms, number=number: told.__setitem__(number, ms))
        return pace, told

    return start


def test_queries_that_are_quiet_ask_together_a_hundred_times_a_second(clock: Clock, set_to: Any) -> None:
    pace, told = set_to(30)
    clock.now += QUIET_S
    pace.slow_quiet_queries()
    assert told == dict.fromkeys(range(30), 30 * EACH_MS)


def test_none_waits_longer_than_a_second(clock: Clock, set_to: Any) -> None:
    pace, told = set_to(500)
    clock.now += QUIET_S
    pace.slow_quiet_queries()
    assert set(told.values()) == {LONGEST_MS}


def test_few_keep_their_own_pace(clock: Clock, set_to: Any) -> None:
    pace, told = set_to(4)
    clock.now += QUIET_S
    pace.slow_quiet_queries()
    assert not told


def test_a_query_with_batches_is_not_slowed_down_and_one_that_wakes_is_quick_again(clock: Clock, set_to: Any) -> None:
    pace, told = set_to(20)
    clock.now += QUIET_S
    pace.batch(0)
    pace.slow_quiet_queries()
    assert told == dict.fromkeys(range(1, 20), 19 * EACH_MS)
    pace.batch(1)
    assert told[1] == USUAL_MS
    pace.end(2)
    clock.now += 1
    pace.slow_quiet_queries()
    assert told[3] == 17 * EACH_MS, "those that have ended, or are awake, do not count"


def test_sparks_own_query_takes_it(spark: SparkSession, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    own = PollingDelay(clock)
    monkeypatch.setattr(pacing, "PACE", own)
    frame = spark.readStream.format("rate").load()
    query = frame.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
    pacing.pace(query, "query")
    for number in range(29):
        own.begin(number, USUAL_MS, lambda ms: None)
    clock.now += QUIET_S
    own.slow_quiet_queries()
    jvm: Any = query
    assert jvm._jsq.streamingQuery().pollingDelayMs() == 30 * EACH_MS
    query.stop()
