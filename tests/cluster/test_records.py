from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from headrace.cluster import offset_records, records, status_records
from headrace.cluster.records import (
    ConnectorConfigRecord,
    LoggerLevel,
    RestartRequest,
    SessionKey,
    TargetState,
    TargetStateChange,
    TaskConfig,
    TaskCount,
    TasksCommit,
    decode,
    encode,
)

RECORDED = Path(__file__).parents[1] / "conformance" / "topics" / "records.jsonl"


def recorded(topic: str) -> list[tuple[bytes, bytes | None]]:
    """Distinct keys and values that a real worker left in a topic, with a time in place of `"<timestamp>"`."""
    found: dict[tuple[bytes, bytes | None], None] = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["topic"] == topic and "key" in record:
            value = record["value"]
            found[record["key"].encode(), value and value.replace('"<timestamp>"', "1700000000123").encode()] = None
    return list(found)


@pytest.mark.parametrize(("key", "value"), recorded("connect-configs"))
def test_a_recorded_config_record_is_read_and_written_the_same(key, value):
    record = decode(key, value)
    assert record is not None
    assert encode(record) == (key, value)


@pytest.mark.parametrize(("key", "value"), recorded("connect-status"))
def test_a_recorded_status_record_is_read_and_written_the_same(key, value):
    record = status_records.decode(key, value)
    assert record is not None
    assert status_records.encode(record) == (key, value)


@pytest.mark.parametrize(("key", "value"), recorded("connect-offsets"))
def test_a_recorded_offset_is_read_and_written_the_same(key, value):
    names = offset_records.decode_key(key)
    assert names is not None
    assert offset_records.encode_key(*names) == key
    assert offset_records.encode_value(None if value is None else offset_records.decode_value(value)) == value


def test_every_kind_of_record_was_recorded():
    kinds = {type(decode(key, value)) for key, value in recorded("connect-configs")}
    all_kinds = {
        ConnectorConfigRecord,
        TaskConfig,
        TasksCommit,
        TargetStateChange,
        SessionKey,
        RestartRequest,
        TaskCount,
        LoggerLevel,
    }
    assert kinds in (all_kinds, all_kinds - {TaskCount})


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        (ConnectorConfigRecord("a-b", cast(Any, {"z": "1", "a": None})), "connector-a-b", '{"properties":{"z":"1","a":null}}'),
        (ConnectorConfigRecord("a", None), "connector-a", None),
        (TaskConfig("a-1", 2, {"x": "ü"}), "task-a-1-2", '{"properties":{"x":"ü"}}'),
        (TasksCommit("a", 3), "commit-a", '{"tasks":3}'),
        (TargetStateChange("a", TargetState.STARTED), "target-state-a", '{"state":"STARTED","state.v2":"STARTED"}'),
        (TargetStateChange("a", TargetState.STOPPED), "target-state-a", '{"state":"PAUSED","state.v2":"STOPPED"}'),
        (TargetStateChange("a", None), "target-state-a", None),
        (SessionKey("c2VjcmV0", "HmacSHA256", 1), "session-key",
         '{"key":"c2VjcmV0","algorithm":"HmacSHA256","creation-timestamp":1}'),
        (RestartRequest("a", True, False), "restart-connector-a", '{"include-tasks":true,"only-failed":false}'),
        (TaskCount("a", 2), "tasks-fencing-a", '{"task-count":2}'),
        (LoggerLevel("org.x", "TRACE"), "logger-cluster-org.x", '{"level":"TRACE"}'),
    ],
)  # fmt: skip
def test_each_kind_of_record(record, key, value):
    assert encode(record) == (key.encode(), None if value is None else value.encode())
    assert decode(*encode(record)) == record


def test_a_target_state_of_an_older_worker_is_understood(caplog):
    assert decode(b"target-state-a", b'{"state":"PAUSED"}') == TargetStateChange("a", TargetState.PAUSED)
    assert not [record for record in caplog.records if record.thread == threading.get_ident()]
    assert decode(b"target-state-a", b'{"state":"PAUSED","state.v2":5}') == TargetStateChange("a", TargetState.PAUSED)
    assert "'state.v2' field should be a String but is java.lang.Long" in caplog.text


@pytest.mark.parametrize(
    ("key", "value", "record"),
    [
        ("connector-a", '{"properties":{"k":"v"},"later":{"x":1}}', ConnectorConfigRecord("a", {"k": "v"})),
        ("task-a-0", '{"properties":{"k":"v"},"later":1}', TaskConfig("a", 0, {"k": "v"})),
        ("target-state-a", '{"state":"PAUSED","state.v2":"STOPPED","later":1}', TargetStateChange("a", TargetState.STOPPED)),
        ("commit-a", '{"tasks":2,"later":1}', TasksCommit("a", 2)),
        ("later-a", '{"x":1}', None),
    ],
)
def test_what_a_later_version_adds_is_passed_over_so_that_one_can_go_back(key: str, value: str, record: object) -> None:
    assert decode(key.encode(), value.encode()) == record


def test_flags_that_are_missing_in_a_restart_request_are_off(caplog):
    assert decode(b"restart-connector-a", b'{"include-tasks":"yes"}') == RestartRequest("a", False, False)
    assert "'include-tasks' field should be a Boolean but is java.lang.String, defaulting to false" in caplog.text
    assert "'only-failed' field should be a Boolean but is null, defaulting to false" in caplog.text


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("nonsense", "{}", "Discarding config update record with invalid key: nonsense"),
        ("connector-a", "{", "Failed to convert config data to Kafka Connect format: "),
        ("connector-a", "[]", "Ignoring configuration for connector 'a' because it is in the wrong format: java.util.ArrayList"),
        ("connector-a", "{}", "Invalid data for config for connector 'a': 'properties' field should be a Map but is null"),
        ("task-a", "{}", "Ignoring task configuration because task-a couldn't be parsed as a task config key"),
        ("task-a-0", None, "Ignoring task configuration for task a-0 because it is unexpectedly null"),
        ("task-a-0", "1", "Ignoring task configuration for task a-0 because the value is not a Map but is java.lang.Long"),
        ("task-a-0", "{}", "Invalid data for config of task a-0 'properties' field should be a Map but is null"),
        ("commit-a", '"x"', "Ignoring connector tasks configuration commit for connector 'a' because it is in the wrong format: "
         "java.lang.String"),
        ("target-state-a", "1", "Ignoring target state for connector 'a' because it is in the wrong format: java.lang.Long"),
        ("target-state-a", '{"state":1}', "Invalid data for target state for connector 'a': 'state' field should be a String but "
         "is java.lang.Long"),
        ("target-state-a", '{"state":"GONE"}', "Invalid target state for connector 'a': GONE"),
        ("restart-connector-a", None, "Ignoring restart request because the value is not a Map but is null"),
        ("tasks-fencing-a", None, "Ignoring task count record for connector 'a' because it is in the wrong format: null"),
        ("session-key", None, "Ignoring session key because it is unexpectedly null"),
        ("session-key", "1", "Ignoring session key because the value is not a Map but is java.lang.Long"),
        ("session-key", "{}", "Invalid data for session key 'key' field should be a String but is null"),
        ("session-key", '{"key":"k"}', "Invalid data for session key 'algorithm' field should be a String but it is null"),
        ("session-key", '{"key":"k","algorithm":"a"}',
         "Invalid data for session key 'creation-timestamp' field should be a long but it is null"),
        ("logger-cluster-x", None, "Ignoring logging level for namespace x because it is unexpectedly null"),
        ("logger-cluster-x", "[]", "Ignoring logging level for namespace x because the value is not a Map but is "
         "java.util.ArrayList"),
        ("logger-cluster-x", "{}", "Invalid data for logging level key 'level' field with namespace x; should be a String but it "
         "is null"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_skipped_with_connects_line(key, value, line, caplog):
    assert decode(key.encode(), None if value is None else value.encode()) is None
    (record,) = (record for record in caplog.records if record.thread == threading.get_ident())
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith(line)


def test_a_record_without_a_key_is_skipped():
    assert decode(None, b"{}") is None


def test_a_session_keys_secret_is_not_shown():
    assert "c2VjcmV0" not in repr(SessionKey("c2VjcmV0", "HmacSHA256", 1))


@pytest.mark.parametrize("module", [records, status_records])
def test_reading_is_pure(module):
    assert not {"time", "threading", "confluent_kafka"} & set(vars(module))
