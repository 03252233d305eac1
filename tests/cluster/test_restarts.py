from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.cluster.restarts import Failure, plan_restart

AWAY = Failure(1_000_000, "the cluster is away")


def failures(count: int, gap_ms: int = 1000) -> list[Failure]:
    return [Failure(1_000_000 + n * gap_ms, f"failure {n}") for n in range(count)]


def test_a_cause_that_may_pass_is_tried_again_after_a_second():
    plan = plan_restart({}, [AWAY], retriable=True)
    assert plan is not None
    assert plan.next_ms == AWAY.at_ms + 1000
    assert plan.status() == {
        "attempts": 0, "budget": 10, "next": "1970-01-01T00:16:41.000Z",
        "history": [{"at": "1970-01-01T00:16:40.000Z", "cause": "the cluster is away"}],
    }  # fmt: skip


def test_a_cause_that_does_not_pass_ends_the_task_as_in_kafka_connect():
    assert plan_restart({}, [AWAY], retriable=False) is None


def test_none_never_restarts_and_all_always():
    assert plan_restart({"task.restart.policy": "none"}, [AWAY], retriable=True) is None
    plan = plan_restart({"task.restart.policy": "all"}, [AWAY], retriable=False)
    assert plan is not None and plan.next_ms is not None


def test_an_option_that_cannot_be_read_leaves_the_others_as_they_are():
    config = {"task.restart.policy": "none", "task.restart.max.attempts": "${env:N}"}
    assert plan_restart(config, [AWAY], retriable=True) is None


def test_pauses_double_up_to_the_longest():
    config = {"task.restart.backoff.ms": "100", "task.restart.backoff.max.ms": "500"}
    pauses = []
    for count in range(1, 6):
        plan = plan_restart(config, failures(count), retriable=True)
        assert plan is not None and plan.next_ms is not None
        pauses.append(plan.next_ms - failures(count)[-1].at_ms)
    assert pauses == [100, 200, 400, 500, 500]


def test_the_budget_ends_it_and_the_status_says_what_happened():
    plan = plan_restart({"task.restart.max.attempts": "2"}, failures(3), retriable=True)
    assert plan is not None and plan.next_ms is None
    assert (plan.status()["attempts"], "next" in plan.status(), len(plan.status()["history"])) == (2, False, 3)


@given(st.integers(1, 50), st.integers(1, 10_000), st.integers(0, 20), st.integers(1, 100_000))
def test_within_the_window_there_are_never_more_restarts_than_the_budget(count, gap_ms, budget, window_ms):
    config = {"task.restart.max.attempts": str(budget), "task.restart.window.ms": str(window_ms)}
    restarts = []
    for so_far in range(1, count + 1):
        plan = plan_restart(config, failures(so_far, gap_ms), retriable=True)
        if plan is None or plan.next_ms is None:
            break
        restarts.append(failures(so_far, gap_ms)[-1].at_ms)
    assert all(sum(end - window_ms < one <= end for one in restarts) <= max(budget, 0) for end in restarts)
