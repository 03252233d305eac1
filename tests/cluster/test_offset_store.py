from __future__ import annotations

from collections.abc import Iterator

import pytest

from headrace.cluster.offset_store import KafkaOffsetStore
from headrace.errors import DataError
from headrace.kafka.log import CompactedLog, LogRecord

P = {"cluster": "a", "partition": 1, "topic": "t"}


@pytest.fixture
def store(make_log) -> Iterator[KafkaOffsetStore]:
    store = KafkaOffsetStore(make_log)
    store.start()
    yield store
    store.stop()


def test_offsets_are_got_as_they_were_put(store):
    store.put("c", [({"file": "a"}, {"position": 1}), ({"file": "b"}, {"position": 2, "eof": True})])
    store.put("c", [({"file": "a"}, {"position": 5})])
    store.put("other", [({"file": "a"}, {"position": 9})])
    asked = [{"file": "b"}, {"file": "none"}, {"file": "a"}]
    assert store.get("c", asked) == [
        ({"file": "b"}, {"position": 2, "eof": True}),
        ({"file": "none"}, None),
        ({"file": "a"}, {"position": 5}),
    ]
    assert sorted(store.all("c"), key=str) == [({"file": "a"}, {"position": 5}), ({"file": "b"}, {"position": 2, "eof": True})]
    assert store.all("nobody") == []
    assert sorted(store.partitions("c"), key=str) == [{"file": "a"}, {"file": "b"}]
    assert store.partitions("nobody") == []


def test_none_removes_an_offset_whether_it_was_there_or_not(store):
    store.put("c", [({"file": "a"}, {"position": 1}), ({"file": "b"}, {"position": 2})])
    store.put("c", [({"file": "a"}, None), ({"file": "never"}, None)])
    assert store.all("c") == [({"file": "b"}, {"position": 2})]


def test_the_order_of_a_partitions_keys_does_not_matter(store):
    store.put("c", [(P, {"offset": 1})])
    turned = dict(reversed(P.items()))
    assert store.get("c", [turned]) == [(turned, {"offset": 1})]
    store.put("c", [(turned, {"offset": 2})])
    assert store.all("c") == [(P, {"offset": 2})]


def test_what_cannot_be_stored_is_refused_as_a_whole(store):
    with pytest.raises(DataError, match="Offsets may only contain primitive types as values, but field p contains MAP"):
        store.put("c", [({"file": "a"}, {"position": 1}), ({"file": "b"}, {"p": {}})])
    assert store.all("c") == []


def test_keys_are_written_in_the_order_of_their_first_use(logs):
    topic = logs(5)
    store = topic.open(KafkaOffsetStore(topic.factory))
    turned = dict(reversed(P.items()))
    store.put("c", [(P, {"offset": 1})])
    store.put("c", [(turned, {"offset": 2})])
    seen: list[LogRecord] = []
    topic.open(CompactedLog(topic.topic, topic.props, topic.props, seen.append))
    assert [(r.key, r.value) for r in seen] == [
        (b'["c",{"cluster":"a","partition":1,"topic":"t"}]', b'{"offset":1}'),
        (b'["c",{"cluster":"a","partition":1,"topic":"t"}]', b'{"offset":2}'),
    ]


def test_of_two_keys_for_one_partition_the_newest_counts_and_the_other_is_removed(logs):
    topic = logs(5)
    raw = topic.open(CompactedLog(topic.topic, topic.props, topic.props, lambda record: None))
    store = topic.open(KafkaOffsetStore(topic.factory))
    old, new = b'["c",{"a":1,"b":2}]', b'["c",{"b":2,"a":1}]'
    raw.write([(old, b'{"o":1}')], 30)
    raw.write([(new, b'{"o":2}')], 30)
    assert store.all("c") == [({"b": 2, "a": 1}, {"o": 2})]
    store.put("c", [({"a": 1, "b": 2}, {"o": 3})])
    seen: dict[bytes | None, bytes | None] = {}
    topic.open(CompactedLog(topic.topic, topic.props, topic.props, lambda r: seen.__setitem__(r.key, r.value)))
    assert seen == {old: None, new: b'{"o":3}'}
    store.put("c", [({"a": 1, "b": 2}, None)])
    assert store.all("c") == []


def test_another_worker_sees_an_offset_as_soon_as_it_was_put(logs):
    topic = logs(25)
    first, second = topic.open(KafkaOffsetStore(topic.factory)), topic.open(KafkaOffsetStore(topic.factory))
    for number in range(30):
        first.put("c", [({"p": number}, {"o": number})])
        assert second.get("c", [{"p": number}]) == [({"p": number}, {"o": number})]


def test_records_that_make_no_sense_are_skipped(logs):
    topic = logs(1)
    raw = topic.open(CompactedLog(topic.topic, topic.props, topic.props, lambda record: None))
    store = topic.open(KafkaOffsetStore(topic.factory))
    store.put("c", [({"p": 1}, {"o": 1})])
    raw.write([(b"nonsense", b"{}"), (b'["c",{"p":1}]', b"nonsense"), (b'["c",null]', b'{"o":2}')], 30)
    assert store.get("c", [{"p": 1}]) == [({"p": 1}, {"o": 1})]
    assert len(store.all("c")) == 2
