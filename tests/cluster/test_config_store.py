from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from headrace.cluster.config_store import FAILED_WRITE, ConfigStore
from headrace.cluster.records import SessionKey, TargetState
from headrace.cluster.state import ClusterState
from headrace.errors import ConfigError, ConnectError
from headrace.kafka.log import CompactedLog
from headrace.kafka.transactional_writer import TransactionalWriter


@pytest.fixture
def store(make_log) -> Iterator[ConfigStore]:
    store = ConfigStore(make_log)
    store.start()
    yield store
    store.stop()


def test_what_is_written_can_be_read_at_once(store):
    store.put_connector("c", {"name": "c", "tasks.max": "2"}, target_state="PAUSED")
    store.put_task_configs(("c", [{"t": "0"}, {"t": "1"}]))
    store.put_session_key(SessionKey("s", "HmacSHA256", 1))
    store.put_task_count("c", 2)
    state = store.snapshot()
    assert state.connectors == {"c": {"name": "c", "tasks.max": "2"}}
    assert state.target_state("c") is TargetState.PAUSED
    assert state.task_configs("c") == [{"t": "0"}, {"t": "1"}]
    assert state.session_key == SessionKey("s", "HmacSHA256", 1)
    assert (state.fencing_counts, state.pending_fencing) == ({"c": 2}, frozenset())


def test_a_stopped_connector_has_no_tasks(store):
    store.put_connector("c", {})
    store.put_task_configs(("c", [{}, {}]))
    store.put_task_configs(("c", []))
    store.put_target_state("STOPPED", "c")
    assert store.snapshot().task_configs("c") == []
    assert store.snapshot().target_state("c") == "STOPPED"


def test_a_removed_connector_is_gone(store):
    store.put_connector("c", {}, target_state="STOPPED")
    store.remove_connector("c")
    assert store.snapshot().connectors == {}
    assert store.snapshot().targets == {}


def test_listeners_hear_of_every_record_in_order(store):
    heard: list[tuple[str, str]] = []
    store.listen(lambda what, name: heard.append((what, name)))
    store.put_connector("c", {}, target_state="STARTED")
    store.put_task_configs(("c", [{}]))
    store.put_target_state("PAUSED", "c")
    store.put_restart_request("c", True, False)
    store.put_logger_level("org.x", "DEBUG")
    store.put_session_key(SessionKey("s", "HmacSHA256", 1))
    store.put_task_count("c", 1)
    store.remove_connector("c")
    assert heard == [
        ("target-state", "c"), ("connector", "c"), ("tasks", "c"), ("target-state", "c"), ("restart", "c"), ("logger", "org.x"),
        ("session-key", "session-key"), ("fencing", "c"), ("connector", "c"), ("target-state", "c"),
    ]  # fmt: skip


def test_a_listener_sees_the_state_with_its_record(store):
    seen: list[ClusterState] = []
    store.listen(lambda what, name: seen.append(store.snapshot()))
    store.put_connector("c", {"a": "1"})
    store.put_connector("c", {"a": "2"})
    assert [state.connectors["c"] for state in seen] == [{"a": "1"}, {"a": "2"}]


def test_sets_of_task_configurations_written_side_by_side_do_not_mix(store):
    store.put_connector("c", {})
    threads = [threading.Thread(target=store.put_task_configs, args=(("c", [{"n": str(n)}] * n),)) for n in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
    configs = store.snapshot().task_configs("c")
    assert configs == [{"n": str(len(configs))}] * len(configs)
    assert configs


def test_another_worker_reads_the_same(logs):
    topic = logs(1)
    first = topic.open(ConfigStore(topic.factory))
    first.put_connector("c", {"name": "c"}, target_state="PAUSED")
    first.put_task_configs(("c", [{"t": "0"}]))
    first.put_restart_request("c", True, True)
    second = ConfigStore(topic.factory)
    heard: list[tuple[str, str]] = []
    second.listen(lambda what, name: heard.append((what, name)))
    topic.open(second)
    assert second.snapshot() == first.snapshot()
    assert heard == []  # what was there before, restart requests above all, is history
    first.put_target_state("STARTED", "c")
    second.refresh()
    assert heard == [("target-state", "c")]


def test_a_config_topic_with_two_partitions_is_refused(logs):
    topic = logs(2)
    store = ConfigStore(topic.factory, topic=topic.topic)
    with pytest.raises(ConfigError, match=f"Topic '{topic.topic}' supplied via .* single partition .* but found 2 partitions"):
        topic.open(store)


def test_with_a_fenced_writer_the_leader_writes_in_transactions(logs):
    topic = logs(1)
    stores = [
        topic.open(ConfigStore(topic.factory, TransactionalWriter(topic.topic, topic.props, topic.topic), topic.topic))
        for _ in range(2)
    ]
    with pytest.raises(ConnectError, match=FAILED_WRITE):
        stores[0].put_connector("c", {})
    stores[0].claim_write_privileges()
    stores[0].put_connector("c", {"by": "first"})
    stores[1].claim_write_privileges()
    with pytest.raises(ConnectError, match=FAILED_WRITE):
        stores[0].put_connector("c", {"by": "zombie"})
    stores[0].put_target_state("PAUSED", "c")  # any worker may
    stores[1].put_task_configs(("c", [{}]))
    stores[0].refresh()
    for store in stores:
        assert store.snapshot().connectors == {"c": {"by": "first"}}
        assert store.snapshot().target_state("c") is TargetState.PAUSED


@pytest.mark.parametrize("leader, words", [(False, "^Error writing connector configuration to Kafka$"), (True, FAILED_WRITE)])
def test_a_read_committed_store_reads_its_own_transactions_back(logs, leader, words):
    topic = logs(1)
    committed = {**topic.props, "isolation.level": "read_committed"}
    store = ConfigStore(
        lambda on_record: CompactedLog(topic.topic, topic.props, committed, on_record),
        TransactionalWriter(topic.topic, topic.props, topic.topic),
        transactional_leader=leader,
    )
    topic.open(store)
    store.claim_write_privileges()
    for number in range(5):
        store.put_connector("c", {"n": str(number)})
        assert store.snapshot().connectors["c"] == {"n": str(number)}

    # A configuration that no broker takes is refused as a whole, and stops nobody else's.
    with pytest.raises(ConnectError, match=words):
        store.put_connector("large", {"x": "y" * 1_100_000}, target_state="STOPPED")
    assert store.may_write()
    store.put_connector("large enough", {"x": "y" * 1_040_000})
    assert sorted(store.snapshot().connectors) == ["c", "large enough"]
    assert not store.snapshot().targets
