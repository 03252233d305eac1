"""What marks tell of a query that goes on: where the copy of each record is, if that is known."""

from __future__ import annotations

import pytest

from headrace.spark.marks import Ages, Durable, Read, Written, parse

AGES = Ages(records=2, last=5, least=4, most=5, sum=9)


def test_what_java_tells_is_read() -> None:
    told = "written\tcopy.t\t1\t7\t1\t100\t2\t5\t4\t5\t9\nread\tt\t1\t50\t6\t300\t2\t5\t4\t5\t9\nend\n"
    found = parse(told)
    assert found == Durable({("t", 1): Read(50, 6, 300, AGES)}, {("copy.t", 1): Written(7, 1, 100, AGES)})
    assert found is not None
    assert (found.records, found.ends) == (7, {("t", 1): 50})


def test_nothing_yet_is_something_else_than_not_known() -> None:
    assert parse("end\n") == Durable({}, {})
    assert parse("") is None


@pytest.mark.parametrize(
    ("written", "count", "offset"),
    [
        (Written(7, 1, 100, AGES), 7, 107),
        (Written(7, 1, 100, AGES), 3, 103),
        (Written(7, 1, 100, AGES), 0, None),  # nothing is written yet
        (Written(7, 1, 100, AGES), 8, None),  # not that many are acknowledged
        (Written(7, 5, 200, AGES), 5, 201),  # somebody else has written before the fifth
        (Written(7, 5, 200, AGES), 4, None),
        (Written(7, 7, -1, AGES), 7, None),  # the broker has not said where
    ],
)
def test_the_offset_after_a_record_is_told_where_nobody_else_has_written_since(
    written: Written, count: int, offset: int | None
) -> None:
    assert written.after(count) == offset
