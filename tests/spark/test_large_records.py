"""Which record a failed write says was too large."""

from __future__ import annotations

import pytest

from headrace.spark.large_records import LargeRecord, record_named_in

REPORT = "headrace.record-too-large\x02{}\x03"


def test_the_record_is_read_from_what_spark_says() -> None:
    words = REPORT.format("\x1f".join(["60001 bytes of key and value", "copy", "topic=t", "partition=0", "offset=21"]))
    expected = LargeRecord("60001 bytes of key and value", "copy", "topic=t, partition=0, offset=21")
    assert record_named_in(ValueError(f"[USER_RAISED_EXCEPTION] {words} SQLSTATE: P0001")) == expected
    assert record_named_in(ValueError(f"=== Plan === raise_error(concat({PLAN})) === {words}")) == expected


PLAN = "headrace.record-too-large\x02, concat_ws(\x1f, concat(cast(value#1), bytes of key and value), topic#2), \x03"


@pytest.mark.parametrize("text", ["", "another failure", f"Query failed: offsets are gone. raise_error(concat({PLAN}))"])
def test_a_query_that_failed_for_another_reason_is_not_taken_for_it_though_its_plan_has_the_words(text: str) -> None:
    assert record_named_in(ValueError(text)) is None
