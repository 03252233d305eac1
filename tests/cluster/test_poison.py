"""Whatever stands in an internal topic, it is read or skipped with a line in the log: no record stops a worker."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headrace.cluster import records, state, status, status_records
from headrace.cluster.offset_store import KafkaOffsetStore
from headrace.cluster.standalone.stores import MemoryLog
from headrace.kafka.log import LogRecord

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=6
)
FIELDS = (
    *("properties", "tasks", "state", "state.v2", "key", "algorithm", "creation-timestamp", "include-tasks", "only-failed"),
    *("task-count", "level", "trace", "worker_id", "generation", "version", "topic", "name", "connector", "task"),
    "discoverTimestamp",
)
WORDS = st.sampled_from(("STARTED", "RUNNING", "a", "HmacSHA256", "INFO"))
ALMOST = st.dictionaries(
    st.sampled_from(FIELDS), DOCUMENTS | WORDS | st.integers(-1, 5) | st.dictionaries(st.sampled_from(FIELDS), DOCUMENTS | WORDS)
)
DEEP = b"[" * 100_000
GIANT = b'{"properties":{"a":"' + b"x" * 3_000_000 + b'"}}'
VALUES = st.none() | st.binary(max_size=40) | st.builds(lambda found: json.dumps(found).encode(), ALMOST | DOCUMENTS)
PREFIXES = (
    *("connector-", "task-", "commit-", "target-state-", "session-key", "restart-connector-", "tasks-fencing-"),
    *("logger-cluster-", "status-connector-", "status-task-", "status-topic-", ""),
)
ENDS = st.sampled_from(
    ("c", "c-0", "c-00", "c-99999999999999999999", "c-" + "9" * 5000, "c-٣", "t:connector-c", ":", "-", "")
) | st.text(max_size=8)
KEYS = (
    st.none()
    | st.binary(max_size=20)
    | st.builds(lambda prefix, end: (prefix + end).encode("utf-8", "replace"), st.sampled_from(PREFIXES), ENDS)
)
POISON = [
    (b"task-c-" + b"9" * 5000, b'{"properties":{}}'),
    (b"connector-c", DEEP),
    (b"connector-c", GIANT),
    (b"connector-c", b'{"properties":{"a":{"b":[1]}}}'),
    (b"commit-c", b'{"tasks":9223372036854775807}'),
    (b"commit-c", b'{"tasks":-1}'),
    (b"status-task-c-" + b"9" * 5000, None),
    (b"status-connector-c", b'{"state":{},"generation":1}'),
    (b"status-connector-c", b'{"state":"RUNNING","generation":1,"worker_id":[]}'),
    (b"status-topic-t:connector-c", b'{"topic":{"name":"t","connector":"c","task":1e999,"discoverTimestamp":1}}'),
    (b"status-topic-t:connector-c", b'{"topic":' * 100_000),
]  # fmt: skip


def poisoned(test: Any) -> Any:
    for key, value in POISON:
        test = example(key, value)(test)
    return test


@settings(deadline=None)
@poisoned
@given(KEYS, VALUES)
def test_a_config_record_is_folded_or_skipped(key: bytes | None, value: bytes | None) -> None:
    before = state.fold(state.ClusterState(), records.ConnectorConfigRecord("c", {"a": "b"}), 0)
    record = records.decode(key, value)
    if record is not None:
        after = state.fold(before, record, 1)
        assert all(isinstance(text, str) or text is None for one in after.connectors.values() for text in one.values())
        assert len(after.task_configs("c")) == len(after.tasks("c"))
        records.encode(record)


@settings(deadline=None)
@poisoned
@given(KEYS, VALUES)
def test_a_status_record_is_folded_or_skipped(key: bytes | None, value: bytes | None) -> None:
    record = status_records.decode(key, value)
    if record is not None:
        found = status.fold(status.StatusState(), record)
        assert found.latest_generation() >= -1 or record.status
        status_records.encode(record)


OFFSET_KEYS = KEYS | VALUES | st.builds(lambda c, p: json.dumps([c, p]).encode(), st.text(max_size=3) | SCALARS, DOCUMENTS)


@settings(deadline=None)
@example(DEEP, b"{}")
@example(b'["c",{"a":' + b"[" * 900 + b"]" * 900 + b"}]", b"{}")
@example(b'["c",{}]', b'{"a":' * 900 + b"1" + b"}" * 900)
@example(b'["c",{}]', GIANT)
@given(OFFSET_KEYS, VALUES)
def test_an_offset_record_is_kept_or_skipped(key: bytes | None, value: bytes | None) -> None:
    store = KafkaOffsetStore(Unforgiving)
    store._log.append([(key, value)], 1)  # type: ignore[list-item]  # a record of a topic may have no key
    for connector in list(store._stored):
        for partition, offset in store.all(connector):
            store.put(connector, [(partition, offset)] if offset_may_be_written(partition, offset) else [])


def offset_may_be_written(*parts: Any) -> bool:
    return all(part is None or not any(isinstance(value, (dict, list)) for value in part.values()) for part in parts)


class Unforgiving(MemoryLog):
    """Passes on what goes wrong while a record is handled."""

    def _handle(self, key: bytes, value: bytes | None) -> None:
        self._on_record(LogRecord(0, 0, key, value, 1))


@pytest.mark.parametrize(("key", "value"), POISON)
def test_what_is_skipped_is_logged(key: bytes, value: bytes | None, caplog: pytest.LogCaptureFixture, capsys: Any) -> None:
    decode = status_records.decode if key.startswith(b"status-") else records.decode
    if decode(key, value) is None:
        assert caplog.records or capsys.readouterr().out
