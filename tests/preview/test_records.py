from __future__ import annotations

import json

import pytest

from headrace.errors import BadRequestError
from headrace.preview.records import RawRecord, count, from_lines, from_objects, notation


def test_every_member_may_be_left_out():
    first, second = from_lines(b"{}\n\n{}\n", "orders")
    assert (first.topic, first.partition, first.offset, first.key, first.value, first.headers) == ("orders", 0, 0, None, None, ())
    assert second.offset == 2  # the number of its line
    assert isinstance(first.timestamp, int) and first.timestamp == second.timestamp


def test_a_record_is_read_as_it_is_written():
    record = RawRecord("t", 3, 7, None, b"\xff", b"", (("h", None), ("h", "é".encode())))
    assert from_objects([record.json()], "other") == [record]
    assert from_lines(json.dumps(record.json()).encode(), "other") == [record]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, None), (b"", ""), (b'{"a":\n1}', '{"a":\n1}'), (b"\x00", {"base64": "AA=="}), (b"\xff", {"base64": "/w=="})],
)
def test_bytes_that_are_no_text_are_shown_in_base64(value, shown):
    assert notation(value) == shown


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "it is not JSON, at its character 2: Expecting property name enclosed in double quotes"),
        (b'{"value":"\xff"}', "it is not UTF-8, at its byte 11"),
        (b"[1]", "expected an object, got [1]"),
        (b'{"val":"x"}', "it has no member `val`; there are topic, partition, offset, timestamp, key, value, headers"),
        (b'{"topic":""}', '`topic` has to be a name, got ""'),
        (b'{"partition":-1}', "`partition` has to be a whole number from 0 to 2147483647, got -1"),
        (b'{"partition":true}', "`partition` has to be a whole number from 0 to 2147483647, got true"),
        (b'{"offset":1e3}', "`offset` has to be a whole number from 0 to 9223372036854775807, got 1000.0"),
        (b'{"value":1}', '`value` has to be a text, {"base64": "…"} or null, got 1'),
        (
            b'{"value":{"a":1}}',
            '`value` has to be a text, {"base64": "…"} or null, got {"a": 1}; write JSON data as a text: "{\\"a\\": 1}"',
        ),
        (b'{"key":{"base64":"?"}}', "`key` is not base64: Only base64 data is allowed"),
        (b'{"headers":{"a":1}}', '`headers` has to be a list of [name, value], got {"a": 1}'),
        (b'{"headers":[["a","b"],["a"]]}', '`headers[1]` has to be [name, value], got ["a"]'),
    ],
)  # fmt: skip
def test_a_bad_line_is_one_sentence_with_its_number(line, why):
    with pytest.raises(BadRequestError) as error:
        from_lines(b'{"value":"good"}\n' + line + b"\n", "t")
    assert str(error.value) == f"line 2 is no record: {why}."


@pytest.mark.parametrize("line", [b'{"value":"\\ud800"}', b"[" * 100_000])
def test_what_python_cannot_read_or_write_is_a_sentence_too(line):
    with pytest.raises(BadRequestError, match=r"^line 1 is no record: "):
        from_lines(line, "t")


def test_a_preview_is_of_at_least_one_record_and_of_a_thousand_at_most():
    with pytest.raises(BadRequestError, match="There are no records to preview"):
        from_lines(b"\n", "t")
    with pytest.raises(BadRequestError, match="There are 1001 records; a preview takes 1000 at most"):
        from_objects([{}] * 1001, "t")


@pytest.mark.parametrize("given", [0, -1, 1001, "5", True, 1.5])
def test_live_is_a_number_of_records(given):
    with pytest.raises(BadRequestError, match="it has to be a number of records from 1 to 1000"):
        count(given)
    assert count(5) == 5
