import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.cluster import status, status_records
from headrace.topics.active import ActiveTopics, TopicStatus, decode_key, encode_key, encode_value, no_longer_consumed
from tests.support import captured_logs

ORDERS = encode_key("orders", "jdbc-src")
topics = st.text("abcABC019._-", min_size=1, max_size=20)
connectors = st.text(min_size=1, max_size=20) | st.sampled_from([":", "a:b", ":connector-", "x-connector-y", " f ", "a-0"])


def value(topic="orders", connector="jdbc-src", task=3, at=1_700_000_000_123) -> bytes:
    return json.dumps(encode_value(topic, connector, task, at), separators=(",", ":")).encode()


def fold(active: ActiveTopics, key: str, value: bytes | None) -> ActiveTopics:
    """The active topics after a record of the status topic."""
    record = status_records.decode(key.encode(), value)
    return status.fold(status.StatusState(topics=active), record).topics if record else active


def test_records_have_the_adopted_form():
    assert ORDERS == "status-topic-orders:connector-jdbc-src"
    assert value() == (b'{"topic":{"name":"orders","connector":"jdbc-src","task":3,"discoverTimestamp":1700000000123}}')


@given(topics, connectors)
def test_any_connector_name_survives_the_key(topic, connector):
    assert decode_key(encode_key(topic, connector)) == (topic, connector)


def test_a_topic_may_contain_the_word_connector():
    assert decode_key("status-topic-a-connector-b:connector-c:connector-d") == ("a-connector-b", "c:connector-d")


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("status-topic-foo", "Discarding record with invalid topic status key status-topic-foo"),
        ("status-topic-foo:connector", "Discarding record with invalid topic status key status-topic-foo:connector"),
        ("status-topic-foo:conn-x-bar", "Discarding record with invalid topic status key status-topic-foo:conn-x-bar"),
        (
            "status-topic-:connector-x",
            "Discarding record with invalid topic status key containing empty topic status-topic-:connector-x",
        ),
        (
            "status-topic-foo:connector-",
            "Discarding record with invalid topic status key containing empty connector status-topic-foo:connector-",
        ),
        ("status-task-a-0", "Discarding record with invalid topic status key status-task-a-0"),
        ("sta:tus", "Discarding record with invalid topic status key sta:tus"),
    ],
)
def test_an_invalid_key_is_skipped_with_a_warning(key, says):
    with captured_logs() as logs:
        assert decode_key(key) is None
    assert [(entry["log_level"], entry["event"]) for entry in logs] == [("warning", says)]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"7", "Invalid topic status value 7"),
        (b'{"topic":"foo"}', "Invalid topic status value foo for field topic"),
        (b"{}", "Invalid topic status value None for field topic"),
        (b"{", "Failed to deserialize topic status: "),
        (b'{"topic":{"name":"foo"}}', "Failed to deserialize topic status: KeyError 'connector'"),
        (b"\xff\xfe", "Failed to deserialize topic status: "),
    ],
)
def test_an_invalid_value_is_skipped_with_an_error_and_a_warning(raw, says):
    with captured_logs() as logs:
        assert fold({}, ORDERS, raw) == {}
    assert [entry["log_level"] for entry in logs] == ["error", "warning"]
    assert logs[0]["event"].startswith(says)
    assert logs[1]["event"] == f"Failed to parse topic status with key {ORDERS}"


def test_the_last_record_of_a_key_wins():
    state = fold(fold({}, ORDERS, value(task=0, at=1)), ORDERS, value(task=1, at=2))
    assert state == {"jdbc-src": {"orders": TopicStatus("orders", "jdbc-src", 1, 2)}}


def test_names_come_from_the_key_and_details_from_the_value():
    state = fold({}, ORDERS, value(topic="other", connector="else", task=5, at=6))
    assert state == {"jdbc-src": {"orders": TopicStatus("orders", "jdbc-src", 5, 6)}}


def test_unknown_fields_of_a_value_are_ignored():
    extended = {"topic": {**encode_value("orders", "jdbc-src", 0, 1)["topic"], "extra": 1}, "more": True}
    assert "orders" in fold({}, ORDERS, json.dumps(extended).encode())["jdbc-src"]


def test_a_tombstone_removes_one_topic_and_the_connector_with_its_last():
    state = fold(fold({}, ORDERS, value()), encode_key("b", "jdbc-src"), value("b"))
    state = fold(state, ORDERS, None)
    assert set(state["jdbc-src"]) == {"b"}
    assert fold(state, encode_key("b", "jdbc-src"), None) == {}
    assert fold(state, encode_key("b", "unknown"), None) == state


def test_folding_leaves_earlier_snapshots_alone():
    before = fold({}, ORDERS, value())
    fold(before, ORDERS, None)
    fold(before, encode_key("b", "jdbc-src"), value("b"))
    assert set(before["jdbc-src"]) == {"orders"}


@given(st.lists(st.tuples(topics, connectors, st.booleans())))
def test_what_is_active_is_what_was_written_last(events):
    state: ActiveTopics = {}
    want: dict[tuple[str, str], bool] = {}
    for topic, connector, used in events:
        state = fold(state, encode_key(topic, connector), value(topic, connector) if used else None)
        want[topic, connector] = used
    assert {(t, c) for c, found in state.items() for t in found} == {names for names, used in want.items() if used}


class TestNoLongerConsumed:
    @pytest.mark.parametrize(
        ("config", "ended"),
        [
            ({"topics": "a1, b1"}, {"a2"}),
            ({"topics.regex": "a."}, {"b1"}),
            ({"topics.regex": "a"}, {"a1", "a2", "b1"}),
            ({"topics.regex": " a. "}, {"b1"}),
            ({"topics.regex": "(?i)A\\d|b.*"}, set()),
            ({"topics": "", "topics.regex": "b.*"}, {"a1", "a2"}),
            ({"topics": None, "topics.regex": "b.*"}, {"a1", "a2"}),
            ({"topics": "new"}, {"a1", "a2", "b1"}),
            ({}, set()),
        ],
    )
    def test_topics_outside_the_new_configuration_are_ended(self, config, ended):
        assert no_longer_consumed({"a1", "a2", "b1"}, config) == ended
