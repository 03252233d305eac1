from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.kafka.delivered_position import DeliveredPosition
from headrace.runtime.metrics import Metrics
from headrace.runtime.metrics.events import Committed, Transactional
from headrace.runtime.metrics.progress import STALLED_MS, CommitProgress
from tests.runtime.metrics.test_registry import Clock, of, running

LONG = STALLED_MS + 1


def look(*lags: int | None, commits: int = 1) -> CommitProgress:
    """A running task that was looked at at 0, LONG, 2 * LONG … ms, and stored nothing in between."""
    progress = CommitProgress(0)
    for number, lag in enumerate(lags):
        progress = progress.updated(commits, lag, True, number * LONG)
    return progress


def test_a_lag_that_grows_while_nothing_is_stored_is_a_stall() -> None:
    assert look(5, 9).stalled_ms(LONG) == LONG


def test_an_idle_task_and_one_whose_lag_only_stays_are_not_stalled() -> None:
    assert look(0, 0).stalled_ms(LONG) == 0
    assert look(7, 7).stalled_ms(LONG) == 0


def test_what_retention_takes_away_does_not_hide_that_the_lag_grows_afterwards() -> None:
    assert look(100, 10).stalled_ms(LONG) == 0
    assert look(100, 10, 11).stalled_ms(2 * LONG) == LONG


def test_a_first_record_after_a_long_idle_time_is_no_stall_at_once() -> None:
    idle = look(0, 0, 0, 0)
    arrived = idle.updated(1, 5, True, 3 * LONG + 10)
    assert arrived.stalled_ms(3 * LONG + 20) == 0
    assert arrived.updated(1, 6, True, 4 * LONG).stalled_ms(4 * LONG) == LONG


def test_stored_offsets_end_a_stall() -> None:
    stalled = look(5, 9)
    assert stalled.updated(2, 12, True, LONG + 1).stalled_ms(LONG + 2) == 0


def test_a_task_that_does_not_run_is_not_stalled_and_begins_again_when_it_does() -> None:
    paused = look(5, 9).updated(1, 50, False, LONG)
    assert paused.stalled_ms(3 * LONG) == 0
    resumed = paused.updated(1, 60, True, 3 * LONG)
    assert resumed.updated(1, 61, True, 3 * LONG + 10).stalled_ms(3 * LONG + 10) == 0


def test_a_lag_that_nobody_knows_changes_nothing() -> None:
    assert look(5, 9, None).stalled_ms(2 * LONG) == 2 * LONG
    assert look(5, None, 9).stalled_ms(2 * LONG) == 2 * LONG
    assert look(None, None).stalled_ms(LONG) == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 99), st.booleans(), st.integers(0, 2 * STALLED_MS))))
def test_a_stall_is_never_longer_than_the_time_since_the_last_commit_while_running(looks) -> None:
    progress, now, since, commits, running_before = CommitProgress(0), 0, 0, 0, False
    for added, lag, is_running, passed in looks:
        now, commits = now + passed, commits + added
        if added or not is_running or not running_before:
            since = now
        running_before = is_running
        progress = progress.updated(commits, lag, is_running, now)
        assert 0 <= progress.stalled_ms(now) <= now - since


def test_metrics_and_figures_say_that_a_task_is_stalled_until_offsets_are_stored() -> None:
    clock, lag = Clock(), {"t-0": 3}
    metrics = Metrics(now=clock)
    recorder = running(metrics)
    recorder.follow_positions(lambda: {name: DeliveredPosition(0, behind) for name, behind in lag.items()})

    def stalled() -> tuple[float | str, int]:
        (figures,) = metrics.figures()
        return of(metrics, "headrace-task", connector="c", task="0")["stalled-ms"], figures.stalled_ms

    assert stalled() == (0, 0)
    lag["t-0"], clock.ms = 8, clock.ms + LONG
    assert stalled() == (LONG, LONG)
    recorder.record(Transactional((4,)))
    assert stalled() == (0, 0)
    lag["t-0"], clock.ms = 9, clock.ms + LONG
    assert stalled() == (LONG, LONG)
    recorder.record(Committed(ok=False, took_ms=1))
    assert stalled() == (LONG, LONG)
    recorder.record(Committed(ok=True, took_ms=1))
    assert stalled() == (0, 0)
