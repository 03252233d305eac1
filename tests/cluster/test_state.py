from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.cluster.records import (
    ConfigRecord,
    ConnectorConfigRecord,
    LoggerLevel,
    RestartRequest,
    SessionKey,
    TargetState,
    TargetStateChange,
    TaskConfig,
    TaskCount,
    TasksCommit,
)
from headrace.cluster.state import ClusterState, fold

CONFIG = ConnectorConfigRecord("c", {"tasks.max": "2"})


def task(number: int, **properties: str) -> TaskConfig:
    return TaskConfig("c", number, properties)


def state_after(*records: ConfigRecord) -> ClusterState:
    state = ClusterState()
    for offset, record in enumerate(records):
        state = fold(state, record, offset)
    return state


def test_the_offset_is_that_of_the_next_record():
    assert state_after().offset == 0
    assert fold(ClusterState(), CONFIG, 41).offset == 42


def test_task_configurations_count_from_their_commit_on():
    before = state_after(CONFIG, task(0, v="1"), task(1, v="1"))
    assert before.task_configs("c") == []
    after = fold(before, TasksCommit("c", 2), 3)
    assert after.task_configs("c") == [{"v": "1"}, {"v": "1"}]
    assert after.tasks("c") == [0, 1]
    assert after.applied["c"] == CONFIG.properties


def test_a_commit_replaces_the_whole_set():
    state = state_after(CONFIG, task(0), task(1), TasksCommit("c", 2), task(0, v="2"), TasksCommit("c", 1))
    assert state.task_configs("c") == [{"v": "2"}]
    assert state.known_tasks["c"] == {0, 1}


def test_a_commit_of_no_tasks_leaves_none():
    state = state_after(CONFIG, task(0), TasksCommit("c", 1), TasksCommit("c", 0))
    assert state.task_configs("c") == []
    assert state.known_tasks["c"] == {0}
    assert state.inconsistent == frozenset()


def test_an_incomplete_commit_makes_the_connector_inconsistent_until_a_complete_one():
    # compaction removed task 0 of the first set: a newer one for it follows
    state = state_after(CONFIG, task(1), TasksCommit("c", 2))
    assert state.inconsistent == {"c"}
    assert state.task_configs("c") == []
    state = fold(fold(state, task(0, v="2"), 3), TasksCommit("c", 1), 4)
    assert state.inconsistent == frozenset()
    assert state.task_configs("c") == [{"v": "2"}]


def test_a_failed_commit_uses_up_what_was_waiting():
    state = state_after(CONFIG, task(1), TasksCommit("c", 2), task(0), TasksCommit("c", 2))
    assert state.inconsistent == {"c"}


def test_tasks_of_a_connector_that_is_gone_are_ignored():
    state = state_after(task(0), TasksCommit("c", 1))
    assert state == ClusterState(offset=2)
    state = state_after(
        CONFIG, task(0), TasksCommit("c", 1), ConnectorConfigRecord("c", None), task(0), TasksCommit("c", 1), CONFIG
    )
    assert state.task_configs("c") == []
    assert state.inconsistent == frozenset()


def test_a_deleted_connector_leaves_only_its_fencing_count():
    everything = (
        CONFIG,
        TargetStateChange("c", TargetState.PAUSED),
        task(0),
        TasksCommit("c", 1),
        RestartRequest("c", True, True),
    )
    state = state_after(*everything, TaskCount("c", 1), ConnectorConfigRecord("c", None), TargetStateChange("c", None))
    assert state == ClusterState(offset=8, fencing_counts={"c": 1})


def test_a_connector_is_meant_to_run_unless_told_otherwise():
    assert state_after(CONFIG).target_state("c") is TargetState.STARTED
    # a target state may come before its connector (KIP-980)
    assert state_after(TargetStateChange("c", TargetState.STOPPED), CONFIG).target_state("c") is TargetState.STOPPED
    paused = state_after(CONFIG, TargetStateChange("c", TargetState.PAUSED))
    assert fold(paused, TargetStateChange("c", None), 2).target_state("c") is TargetState.STARTED


def test_tasks_after_the_fencing_count_need_another_round():
    state = state_after(CONFIG, task(0), TasksCommit("c", 1))
    assert state.pending_fencing == {"c"}
    state = fold(state, TaskCount("c", 1), 3)
    assert (state.pending_fencing, state.fencing_counts) == (frozenset(), {"c": 1})


def test_the_latest_session_key_restart_and_level_count():
    keys = SessionKey("a", "HmacSHA256", 1), SessionKey("b", "HmacSHA256", 2)
    restarts = RestartRequest("c", False, True), RestartRequest("c", True, False)
    levels = LoggerLevel("x", "INFO"), LoggerLevel("x", "DEBUG")
    state = state_after(*keys, *restarts, *levels)
    assert (state.session_key, state.restart_requests, state.loggers) == (keys[1], {"c": restarts[1]}, {"x": "DEBUG"})


def test_a_snapshot_stays_as_it_is():
    before = state_after(CONFIG, task(0), TasksCommit("c", 1))
    kept = (dict(before.connectors), before.task_configs("c"))
    fold(before, ConnectorConfigRecord("c", None), 3)
    fold(before, ConnectorConfigRecord("d", {}), 3)
    assert (dict(before.connectors), before.task_configs("c")) == kept


NAMES = st.sampled_from(["a", "b"])
RECORDS = st.one_of(
    st.builds(ConnectorConfigRecord, NAMES, st.one_of(st.none(), st.just({"x": "1"}))),
    st.builds(TaskConfig, NAMES, st.integers(0, 3), st.just({"y": "1"})),
    st.builds(TasksCommit, NAMES, st.integers(0, 4)),
    st.builds(TargetStateChange, NAMES, st.one_of(st.none(), st.sampled_from(TargetState))),
)


@given(st.lists(RECORDS))
def test_whatever_comes_the_tasks_are_complete(records):
    state = state_after(*records)
    for name in ("a", "b"):
        tasks = state.tasks(name)
        assert tasks == list(range(len(tasks)))
        assert len(state.task_configs(name)) == len(tasks)
        assert not tasks or (name in state.connectors and len(tasks) == state.task_counts[name])
