from __future__ import annotations

import threading

import pytest

from headrace.cluster.offset_records import check, decode_key, decode_value, encode_key, encode_value, identity
from headrace.errors import DataError


def test_keys_and_values_are_compact_and_keep_their_order():
    assert encode_key("s", {"b": 1, "a": "ü"}) == '["s",{"b":1,"a":"ü"}]'.encode()
    assert encode_key("s", None) == b'["s",null]'
    assert encode_value({"position": 9}) == b'{"position":9}'
    assert encode_value(None) is None


def test_partitions_are_equal_whatever_the_order_of_their_keys():
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})
    assert identity({"a": 1}) != identity({"a": "1"})
    assert identity({"a": 1}) != identity({"a": True})
    assert identity(None) != identity({})


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (b"x", "Ignoring offset partition key with unknown serialization. Expected json."),
        (None, "Ignoring offset partition key with unknown serialization. Expected json."),
        (b"{}", "Ignoring offset partition key with an unexpected format. Expected type: java.util.List, actual type: "
         "java.util.HashMap"),
        (b'["s"]', "Ignoring offset partition key with an unexpected number of elements. Expected: 2, actual: 1"),
        (b"[1,{}]", "Ignoring offset partition key with an unexpected format for the first element in the partition key list. "
         "Expected type: java.lang.String, actual type: java.lang.Long"),
        (b'["s",1]', "Ignoring offset partition key with an unexpected format for the second element in the partition key list. "
         "Expected type: java.util.Map, actual type: java.lang.Long"),
    ],
)  # fmt: skip
def test_a_key_that_makes_no_sense_is_skipped_with_connects_line(key, line, caplog):
    assert decode_key(key) is None
    assert [record.getMessage() for record in caplog.records if record.thread == threading.get_ident()] == [line]


def test_a_value_that_is_no_object_is_skipped():
    assert decode_value(b"{") is None
    assert decode_value(b"[]") is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "Offsets must be specified as a Map"),
        ({1: 2}, "Offsets may only use String keys"),
        ({"a": {}}, "Offsets may only contain primitive types as values, but field a contains MAP"),
        ({"a": [1]}, "Offsets may only contain primitive types as values, but field a contains ARRAY"),
    ],
)
def test_only_primitive_values_may_be_stored(data, message):
    with pytest.raises(DataError) as raised:
        check(data)
    assert str(raised.value) == message
    check({"a": 1, "b": "x", "c": None, "d": 1.5, "e": True})
    check(None)
