from __future__ import annotations

import logging
import threading

import pytest

from headrace.cluster.status_records import ActiveTopic, ConnectorStatusRecord, TaskStatusRecord, decode, encode

RUNNING = '{"state":"RUNNING","trace":null,"worker_id":"w:8083","generation":7,"version":"1.0"}'


def test_states_and_topics_are_written_as_connect_does():
    running = decode(b"status-connector-a-b", RUNNING.encode())
    assert isinstance(running, ConnectorStatusRecord)
    assert encode(running) == (b"status-connector-a-b", RUNNING.encode())
    assert encode(ConnectorStatusRecord("c", None)) == (b"status-connector-c", None)
    assert encode(TaskStatusRecord("a-b", 3, None)) == (b"status-task-a-b-3", None)
    assert encode(ActiveTopic("a:b", "t", None)) == (b"status-topic-t:connector-a:b", None)


def test_the_fields_are_in_connects_order_however_they_are_given():
    given = {"version": None, "generation": 1, "worker_id": "w", "trace": "boom", "state": "FAILED"}
    _, value = encode(ConnectorStatusRecord("c", given))  # type: ignore[arg-type]
    assert value == b'{"state":"FAILED","trace":"boom","worker_id":"w","generation":1,"version":null}'


def test_what_is_headraces_own_is_written_only_where_there_is_something():
    given = {"state": "RUNNING", "trace": None, "worker_id": "w", "generation": 1, "version": None}
    own = {"stream": {"mode": "microbatch", "reason": "why"}}
    _, value = encode(TaskStatusRecord("c", 0, {**given, **own, "restart": None}))  # type: ignore[arg-type]
    assert value == (
        b'{"state":"RUNNING","trace":null,"worker_id":"w","generation":1,"version":null,'
        b'"stream":{"mode":"microbatch","reason":"why"}}'
    )
    assert decode(b"status-task-c-0", value) == TaskStatusRecord("c", 0, {**given, **own})  # type: ignore[arg-type]


def test_members_that_a_later_version_adds_do_not_keep_a_status_from_being_read():
    record = decode(b"status-task-c-0", b'{"state":"RUNNING","trace":null,"worker_id":"w","generation":7,"later":{"x":1}}')
    assert isinstance(record, TaskStatusRecord)
    assert record.status is not None
    assert (record.status["state"], record.status["generation"]) == ("RUNNING", 7)


def test_a_state_of_an_older_worker_has_no_version():
    record = decode(b"status-task-c-0", b'{"state":"RUNNING","trace":null,"worker_id":"w","generation":7}')
    assert isinstance(record, TaskStatusRecord)
    assert record.status is not None
    assert record.status["version"] is None


@pytest.mark.parametrize(
    ("key", "value", "lines"),
    [
        ("nonsense", "{}", ["Discarding record with invalid key nonsense"]),
        ("status-connector-", RUNNING, ["Discarding record with invalid connector status key status-connector-"]),
        ("status-connector-c", "[]", ["Invalid connector status type java.util.ArrayList"]),
        ("status-connector-c", "{}", ["Failed to deserialize connector status: state None, generation None"]),
        ("status-task-c", RUNNING, ["Discarding record with invalid task status key status-task-c"]),
        (
            "status-task-c-0",
            "3",
            ["Invalid task status type java.lang.Long", "Failed to parse task status with key status-task-c-0"],
        ),
    ],
)
def test_what_makes_no_sense_is_skipped_with_connects_lines(key, value, lines, caplog):
    caplog.set_level(logging.WARNING)
    assert decode(key.encode(), value.encode()) is None
    assert [record.getMessage() for record in caplog.records if record.thread == threading.get_ident()] == lines


@pytest.mark.parametrize(
    ("key", "value"),
    [("status-topic-t", "{}"), ("status-topic-:connector-c", "{}"), ("status-topic-t:connector-c", "[]")],
)
def test_a_topic_that_makes_no_sense_is_skipped(key, value):
    assert decode(key.encode(), value.encode()) is None
