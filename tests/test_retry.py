from __future__ import annotations

import itertools
import threading
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import HeadraceError
from headrace.retry import Backoff, await_result, common_moment, poll_until, retry_until, retry_until_stopped


def always(_error: Exception) -> bool:
    return True


def test_pauses_double_up_to_the_longest_and_begin_again_after_a_success() -> None:
    backoff = Backoff(0.5, 3.0)
    assert [backoff.failed() for _ in range(5)] == [0.5, 1.0, 2.0, 3.0, 3.0]
    backoff.succeeded()
    assert backoff.failed() == 0.5


def test_a_part_of_a_pause_may_be_random() -> None:
    pauses = {Backoff(1.0, 1.0, jitter=0.25).failed() for _ in range(50)}
    assert len(pauses) > 1
    assert all(0.75 <= pause_s <= 1.0 for pause_s in pauses)


def test_a_failure_counted_for_years_is_no_overflow() -> None:
    assert Backoff(failures=10**6).failed() == 30.0


def test_a_step_is_called_until_it_returns() -> None:
    calls = itertools.count()
    pauses: list[float] = []

    def step(left_s: float) -> str:
        assert 0.25 <= left_s <= 60
        if next(calls) < 2:
            raise OSError
        return "done"

    assert retry_until(step, 60, 0.25, always, pauses.append) == "done"
    assert pauses == [0.25, 0.25]


def test_what_may_not_be_retried_is_raised_at_once() -> None:
    def step(_left_s: float) -> None:
        raise OSError

    with pytest.raises(OSError):
        retry_until(step, 60, 0.25, lambda error: not isinstance(error, OSError), lambda _s: pytest.fail("waited"))


def test_the_last_error_is_raised_when_the_time_is_over_or_the_wait_is_ended() -> None:
    attempts: list[float] = []

    def step(left_s: float) -> None:
        attempts.append(left_s)
        raise OSError(len(attempts))

    with pytest.raises(OSError, match="1"):
        retry_until(step, 0, 0.25, always, lambda _s: None)
    assert attempts == [0.25]
    with pytest.raises(OSError, match="2"):
        retry_until(step, 60, 0.25, always, lambda _s: True)


def test_without_an_end_a_step_is_called_until_it_returns_or_all_is_stopped() -> None:
    stopping, calls = threading.Event(), itertools.count()

    def step() -> None:
        if next(calls) < 2:
            raise HeadraceError

    retry_until_stopped(step, stopping, 0, "retried")
    assert next(calls) == 3
    with pytest.raises(OSError, match="no"):
        retry_until_stopped(lambda: raising(OSError("no")), stopping, 0, "retried")
    stopping.set()
    retry_until_stopped(lambda: pytest.fail("stopped"), stopping, 0, "retried")


def test_a_step_that_fails_because_of_the_stop_raises_nothing() -> None:
    stopping = threading.Event()

    def step() -> None:
        stopping.set()
        raise OSError

    retry_until_stopped(step, stopping, 0, "retried")


def raising(error: Exception) -> None:
    raise error


def test_an_answer_is_asked_for_until_it_is_true_or_the_time_is_over() -> None:
    answers = iter([None, 0, "yes"])
    pauses: list[float] = []
    assert poll_until(lambda _left_s: next(answers), 60, 0.25, pauses.append) == "yes"
    assert pauses == [0.25, 0.25]
    assert poll_until(lambda left_s: left_s > 1, 0, 0.25, lambda _s: pytest.fail("waited")) is False
    assert poll_until(lambda _left_s: "", 60, 0.25, lambda _s: True) == ""


@given(since=st.floats(0, 1e7), pause_s=st.floats(0.5, 60), steps=st.integers(1, 16))
def test_a_common_moment_is_later_and_within_the_pause_and_the_same_for_all_of_its_step(since, pause_s, steps) -> None:
    moment = common_moment(since, pause_s, pause_s / steps)
    assert since < moment <= since + pause_s * (1 + 1e-6)
    assert moment >= since + pause_s - pause_s / steps - 1e-6


def test_those_who_wait_for_a_common_moment_meet() -> None:
    assert {common_moment(since, 6, 6 / 8) for since in (100.0, 100.2, 100.4)} == {105.75}
    assert common_moment(105.75, 6, 6 / 8) == 111.75


def test_something_is_done_while_a_result_is_awaited() -> None:
    future: Future[str] = Future()
    assert await_result(future, 60, 0.01, lambda: future.set_result("done")) == "done"


def test_a_result_that_does_not_come_in_time_is_a_time_out() -> None:
    calls = itertools.count()
    with pytest.raises(TimeoutError):
        await_result(Future[str](), 1, 0.01, lambda: next(calls))  # no pause is begun whose end would be too late
    assert next(calls) > 0
