from __future__ import annotations

from itertools import count

from headrace.lineage.runs import RUNNING_INTERVAL_S, JobState, Runs, follow


def events_of(*steps: tuple[float, str | None]) -> list[tuple[str, str]]:
    """Kind and run of the events of a connector that has these states at these times; None: it is not here."""
    ids, found = count(), list[tuple[str, str]]()
    runs: Runs = {}
    for now_s, state in steps:
        here = [JobState("c", state, "x.Y: It broke." if state == "FAILED" else None)] if state else []
        events, runs = follow(runs, here, now_s, lambda: f"run{next(ids)}")
        found += [(event.kind, event.run) for event in events]
    return found


def test_a_run_starts_continues_and_is_completed():
    states = (
        (0, "UNASSIGNED"),
        (1, "RUNNING"),
        (2, "RUNNING"),
        (1 + RUNNING_INTERVAL_S, "RUNNING"),
        (70, "PAUSED"),
        (71, "PAUSED"),
    )
    assert events_of(*states) == [
        ("START", "run0"), ("RUNNING", "run0"), ("COMPLETE", "run0"),
    ]  # fmt: skip


def test_a_run_fails_once_and_the_next_is_another():
    assert events_of((0, "RUNNING"), (1, "FAILED"), (2, "FAILED"), (3, "RUNNING")) == [
        ("START", "run0"), ("FAIL", "run0"), ("START", "run1"),
    ]  # fmt: skip


def test_a_job_that_is_first_seen_failed_is_told_once_as_a_run_that_failed():
    assert events_of((0, "FAILED"), (1, "FAILED"), (2, "RUNNING"), (3, "PAUSED"), (4, "FAILED")) == [
        ("START", "run0"), ("FAIL", "run0"), ("START", "run1"), ("COMPLETE", "run1"), ("START", "run2"), ("FAIL", "run2"),
    ]  # fmt: skip
    events, _ = follow({}, [JobState("c", "FAILED", "x.Y: It broke.")], 0, lambda: "run")
    assert [event.trace for event in events] == [None, "x.Y: It broke."]


def test_a_failed_connector_that_is_deleted_ends_no_run_a_second_time():
    assert events_of((0, "RUNNING"), (1, "FAILED"), (2, None), (3, "FAILED"), (4, "PAUSED")) == [
        ("START", "run0"), ("FAIL", "run0"), ("START", "run1"), ("FAIL", "run1"),
    ]  # fmt: skip


def test_a_connector_that_is_gone_from_here_has_completed_its_run():
    assert events_of((0, "RUNNING"), (1, None), (2, None)) == [("START", "run0"), ("COMPLETE", "run0")]


def test_a_failed_task_fails_its_connector():
    parts = {"state": "RUNNING"}, {"state": "FAILED", "trace": "x.Y: It broke."}
    state = JobState.of_connector({"name": "c", "connector": parts[0], "tasks": [parts[0], parts[1]]})
    assert (state.state, state.trace) == ("FAILED", "x.Y: It broke.")


def test_an_application_is_at_work_here_if_its_active_instance_reports_here():
    def state(state: str, active: bool, now: str = "RUNNING") -> JobState | None:
        instances = [{"state": now, "active": active}]
        return JobState.of_application({"application": "a", "state": state, "problem": "Why.", "instances": instances})

    assert state("RUNNING", True) == JobState("a", "RUNNING")
    assert state("RUNNING", False) is None and state("SILENT", True, "SILENT") is None
    assert state("ERROR", False, "ERROR") == JobState("a", "FAILED", "Why.")
