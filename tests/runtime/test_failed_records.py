"""The failed records of a batch: which of them are logged, and how many others are said to have failed."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from headrace.runtime.failed_records import take_out_failures
from headrace.runtime.record_counts import RecordCounts
from headrace.runtime.tolerance import Tolerance

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FAILURE = "named_struct('step', 'input.value', 'class', 'DataException', 'message', 'No', 'cause', string(NULL))"


def test_of_many_failed_records_a_hundred_are_logged_by_themselves_and_the_number_of_the_others(
    spark: SparkSession, events: list[MutableMapping[str, Any]]
) -> None:
    tolerance = Tolerance(all=True, log=True, messages=False, dead_letters=None)
    frame = spark.range(0, 250, 1, 1).selectExpr(
        "id AS __origin_offset", "binary('k') AS key", "binary('v') AS value", f"if(id < 130, {_FAILURE}, NULL) AS failure"
    )
    counts = RecordCounts(spark)
    counts.begin()
    failed = take_out_failures(frame, tolerance)
    counts.writing(failed.frame).write.format("noop").mode("overwrite").save()
    assert (failed.count, failed.unnamed) == (130, 30)
    batch = counts.batch(failed.count, tolerance, letters_written=True, unnamed=failed.unnamed)
    assert (batch.written, batch.skipped, batch.logged) == (120, 130, 100)
    assert len(failed.logged()) == 100
    logged = [event for event in events if event["event"].startswith("record.failed")]
    assert len(logged) == 101
    assert (logged[100]["records"], logged[100]["last_named"]) == (30, "offset=99, at reading the value")
