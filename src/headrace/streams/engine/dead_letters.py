"""Dead letters of streams (KIP-1034): skipped records as they were read, with the error in headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PREFIX = "__streams.errors."
_EXCEPTION = "org.apache.kafka.common.errors.SerializationException"


def unreadable(records: DataFrame, topic: str) -> DataFrame:
    """Records that cannot be deserialized, for the dead letter topic. records: columns of `source.RAW`, and `reason`."""
    # No exception was thrown, so there are no frames: the first line of a Java stack trace is all of it.
    trace = F.concat(F.lit(f"{_EXCEPTION}: "), F.col("reason"))
    return _letters(records, topic, (F.lit(_EXCEPTION), F.col("reason"), trace))


def failed(records: DataFrame, topic: str, runtime: str) -> DataFrame:
    """A record that cannot be processed, for the dead letter topic. runtime: the id of the one whose `set_dead_letter_cause`
    says why.
    """
    failure_parts = [F.call_function("headrace_failure", F.lit(runtime), F.lit(part)) for part in range(3)]
    return _letters(records, topic, (failure_parts[0], failure_parts[1], failure_parts[2]))


def _letters(records: DataFrame, topic: str, why: tuple[Column, Column, Column]) -> DataFrame:
    """Columns of `sinks.COLUMNS`. why: exception, message and stack trace."""
    record_headers = F.coalesce(F.col("headers"), F.expr(f"cast(array() as {HEADERS_TYPE})"))
    error_headers = {
        "exception": why[0], "message": why[1], "stacktrace": why[2], "topic": F.col("topic"),
        "partition": F.col("partition").cast("string"), "offset": F.col("offset").cast("string"),
    }  # fmt: skip
    headers = F.concat(record_headers, F.array(*[_header(name, value) for name, value in error_headers.items()])).alias("headers")
    to, anywhere = F.lit(topic).alias("topic"), F.lit(None).cast("int").alias("partition")
    return records.select(to, anywhere, "key", "value", headers, "t")


def _header(name: str, value: Column) -> Column:
    return F.struct(F.lit(_PREFIX + name).alias("key"), value.cast("binary").alias("value"))
