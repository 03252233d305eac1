"""Detects records that are too large for their topic in the job that writes them, and names them.

The producer cannot do so: it splits a batch that the broker refuses into batches of `batch.size`, endlessly if a small record
fits beside the large one (KAFKA-8350, in the client that Spark 4.2 uses), and it does not know the origin of a record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace.errors import ConnectError
from headrace.kafka.failures import kafka_failure
from headrace.spark.kafka import ORIGIN, TIMESTAMP_HEADER, origin_columns
from headrace.spark.reports import reports, text_of
from headrace.sql_functions import F
from headrace.values.sql import call, lit, quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_OVERHEAD = 61 + 7  # the header of a batch, and the least that a record takes beside its key and value
_KIND, _NEXT = "record-too-large", "\x1f"
_SIZE = re.compile(r"[0-9]+ bytes of key and value")
_REFUSAL = "The request included a message larger than the max message size the server will accept."


class LargeRecord(NamedTuple):
    """A record that is too large."""

    size: str
    """In words."""
    topic: str
    """Its destination."""
    origin: str
    """`name=value, …`."""


def guarded(frame: DataFrame, limits: Mapping[str, int]) -> DataFrame:
    """The frame; its write fails at the first record whose key and value alone are too large for its topic.

    frame: columns of `headrace.spark.kafka.producer_columns`; limits: `max.message.bytes` by topic.
    """
    if not limits:
        return frame
    # Only expressions that Spark compiles: an aggregation of the headers would slow down every record.
    size = "concat(coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0), ' bytes of key and value')"
    origins = [f"concat({lit(_origin(c) + '=')}, coalesce(string({quoted(c)}), 'null'))" for c in origin_columns(frame)]
    report = F.expr(text_of(_KIND, call("concat_ws", lit(_NEXT), size, "topic", *origins)))
    fits = _bytes("key") + _bytes("value") + _OVERHEAD <= _limit(limits)
    return frame.withColumn("value", F.when(fits, frame["value"]).otherwise(F.raise_error(report).cast("binary")))


def _limit(limits: Mapping[str, int]) -> Column:
    """The limit of the record's topic; without comparisons of names if all topics have the same limit."""
    column = F.lit(2**31 - 1)
    if len(set(limits.values())) == 1:
        return F.lit(next(iter(limits.values())))
    for size in set(limits.values()):
        column = F.when(F.col("topic").isin([t for t, n in limits.items() if n == size]), F.lit(size)).otherwise(column)
    return column


def record_named_in(error: BaseException) -> LargeRecord | None:
    """The record that a guarded write has failed at, None if it failed for another reason."""
    for report in reports(_KIND, error):
        size, *details = report.split(_NEXT)
        if _SIZE.fullmatch(size) and details:
            return LargeRecord(size, details[0], ", ".join(details[1:]))
    return None


def largest(frame: DataFrame) -> LargeRecord:
    """The largest record of a batch, probably the one that a broker has refused. Reads the batch."""
    own_headers = F.filter("headers", lambda h: h["key"] != TIMESTAMP_HEADER)
    headers = F.aggregate(own_headers, F.lit(0), lambda total, h: total + _bytes(h["key"]) + _bytes(h["value"]))
    size = _bytes("key") + _bytes("value") + headers
    row: Any = frame.select(size.alias("size"), "topic", *origin_columns(frame)).orderBy(F.desc("size")).first()
    origin = ", ".join(f"{_origin(column)}={row[column]}" for column in origin_columns(frame))
    return LargeRecord(f"{row['size']} bytes of key, value and headers", row["topic"], origin)


def too_large(record: LargeRecord, words: str = _REFUSAL) -> ConnectError:
    """The error of a task that cannot write this record; words: the broker's message, for the cause."""
    error = ConnectError(
        f"The record at {record.origin} has {record.size}, too large for topic '{record.topic}'. "
        "Raise max.message.bytes of the topic (or message.max.bytes of its brokers) and, above 32 MiB, "
        "producer.override.max.request.size and producer.override.buffer.memory of the connector."
    )
    error.__cause__ = kafka_failure("MESSAGE_TOO_LARGE", words)
    return error


def _bytes(column: Column | str) -> Column:
    return F.coalesce(F.octet_length(column), F.lit(0))


def _origin(column: str) -> str:
    return column.removeprefix(ORIGIN)
