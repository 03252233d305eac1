from __future__ import annotations

from headrace.cluster.status import StatusState, fold, may_overwrite
from headrace.cluster.status_records import ActiveTopic, ConnectorStatusRecord, Status, StatusRecord, TaskStatusRecord
from headrace.topics.active import TopicStatus


def status(state: str = "RUNNING", generation: int = 1, worker: str = "w1") -> Status:
    return Status(state=state, trace=None, worker_id=worker, generation=generation, version="1")


def state_after(*records: StatusRecord) -> StatusState:
    state = StatusState()
    for record in records:
        state = fold(state, record)
    return state


def active(topic: str, task: int = 0) -> ActiveTopic:
    return ActiveTopic("c", topic, TopicStatus(topic, "c", task, 1))


def test_the_latest_state_counts():
    state = state_after(
        ConnectorStatusRecord("c", status("PAUSED")),
        ConnectorStatusRecord("c", status()),
        TaskStatusRecord("c", 0, status("FAILED")),
    )
    assert state.connectors["c"]["state"] == "RUNNING"
    assert state.tasks["c"][0]["state"] == "FAILED"


def test_a_connector_that_is_gone_takes_its_tasks_along():
    state = state_after(
        ConnectorStatusRecord("c", status()), TaskStatusRecord("c", 0, status()), ConnectorStatusRecord("c", None)
    )
    assert (state.connectors, state.tasks) == ({}, {})


def test_a_task_goes_alone():
    state = state_after(TaskStatusRecord("c", 0, status()), TaskStatusRecord("c", 1, status()), TaskStatusRecord("c", 0, None))
    assert set(state.tasks["c"]) == {1}
    assert fold(state, TaskStatusRecord("c", 1, None)).tasks == {}


def test_unassigned_of_a_task_that_runs_elsewhere_is_ignored():
    running = state_after(TaskStatusRecord("c", 0, status("RUNNING", generation=5, worker="w2")))
    for generation, expected in ((4, "RUNNING"), (5, "RUNNING"), (6, "UNASSIGNED")):
        late = TaskStatusRecord("c", 0, status("UNASSIGNED", generation))
        assert fold(running, late).tasks["c"][0]["state"] == expected
    failed = state_after(
        TaskStatusRecord("c", 0, status("FAILED", generation=5)), TaskStatusRecord("c", 0, status("UNASSIGNED", 5))
    )
    assert failed.tasks["c"][0]["state"] == "UNASSIGNED"


def test_active_topics_come_and_go():
    state = state_after(active("t"), active("u"), active("t", task=3), ActiveTopic("c", "u", None))
    assert {topic: found.task for topic, found in state.topics["c"].items()} == {"t": 3}


def test_the_names_of_an_active_topic_are_those_of_its_key():
    state = state_after(ActiveTopic("c", "t", TopicStatus("other", "wrong", 0, 1)))
    assert state.topics["c"]["t"] == TopicStatus("t", "c", 0, 1)


def test_the_latest_generation_is_the_highest_seen():
    assert state_after().latest_generation() == -1
    assert (
        state_after(
            ConnectorStatusRecord("c", status(generation=3)), TaskStatusRecord("d", 0, status(generation=7))
        ).latest_generation()
        == 7
    )


def test_a_safe_write_respects_a_later_generation_of_another_worker():
    new = status("FAILED", generation=5, worker="w1")
    assert may_overwrite(new, None)
    assert may_overwrite(new, status(generation=9, worker="w1"))
    assert may_overwrite(new, status(generation=5, worker="w2"))
    assert not may_overwrite(new, status(generation=6, worker="w2"))
