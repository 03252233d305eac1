"""REST bodies from folded state."""

from __future__ import annotations

from headrace.cluster.rest_bodies import RequestedRestart, restart_plan, restarting_body, status_body


def status(state: str, trace: str | None = None) -> dict:
    return {"state": state, "trace": trace, "worker_id": "w:1", "generation": 3, "version": "1"}


def test_a_status_shows_a_trace_only_where_there_is_one() -> None:
    body = status_body("c", status("RUNNING"), {1: status("FAILED", "why"), 0: status("RUNNING")}, "source")
    assert body == {
        "name": "c",
        "connector": {"state": "RUNNING", "worker_id": "w:1", "version": "1"},
        "tasks": [
            {"id": 0, "state": "RUNNING", "worker_id": "w:1", "version": "1"},
            {"id": 1, "state": "FAILED", "worker_id": "w:1", "version": "1", "trace": "why"},
        ],
        "type": "source",
    }


def test_a_status_shows_no_version_of_a_class_that_has_none() -> None:
    body = status_body("c", {**status("RUNNING"), "version": "undefined"}, {0: {**status("RUNNING"), "version": None}}, "source")
    assert body["connector"] == {"state": "RUNNING", "worker_id": "w:1"}
    assert body["tasks"] == [{"id": 0, "state": "RUNNING", "worker_id": "w:1", "version": None}]


def test_how_a_stream_runs_is_told_only_to_those_who_ask_for_more_than_connect_tells() -> None:
    running = {**status("RUNNING"), "stream": {"mode": "microbatch", "reason": "why"}}
    assert "stream" not in status_body("c", running, {0: running}, "source")["tasks"][0]
    more = status_body("c", running, {0: running, 1: status("PAUSED")}, "source", ["stream"])
    assert [task.get("stream") for task in more["tasks"]] == [{"mode": "microbatch", "reason": "why"}, None]


def test_a_restart_of_what_failed_leaves_the_rest_alone() -> None:
    tasks = {0: status("RUNNING"), 1: status("FAILED")}
    assert restart_plan(status("RUNNING"), tasks, include_tasks=True, only_failed=True) == RequestedRestart(False, frozenset([1]))
    assert restart_plan(status("FAILED"), tasks, include_tasks=False, only_failed=True) == RequestedRestart(True, frozenset())
    assert restart_plan(status("RUNNING"), tasks, include_tasks=True, only_failed=False) == RequestedRestart(
        True, frozenset([0, 1])
    )


def test_affected_parts_are_shown_as_restarting() -> None:
    body = status_body("c", status("RUNNING"), {0: status("RUNNING"), 1: status("FAILED", "why")}, "source")
    shown = restarting_body(body, RequestedRestart(False, frozenset([1])))
    assert [t["state"] for t in shown["tasks"]] == ["RUNNING", "RESTARTING"]
    assert shown["connector"]["state"] == "RUNNING"
