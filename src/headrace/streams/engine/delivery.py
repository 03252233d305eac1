"""Writes all results of a batch at once: records of sinks and repartition topics, and rows of changelogs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from headrace.errors import ConnectError, HeadraceError
from headrace.record import HEADERS_TYPE
from headrace.spark import failure
from headrace.spark.kafka import TIMESTAMP_HEADER, write
from headrace.sql_functions import F
from headrace.streams.engine.changelog import BATCH
from headrace.streams.engine.columns import union
from headrace.streams.engine.source import Ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CONTEXT = "The results of a batch could not be written"
_TOO_LARGE = "org.apache.kafka.common.errors.RecordTooLargeException"
_PLACES = 5  # that a sentence names
COLUMNS = ("topic", "partition", "key", "value", "headers", "t", "numbered")


class BatchWriter:
    """Writes to the application's cluster."""

    def __init__(self, producer: Mapping[str, str]) -> None:
        """producer: Java producer settings."""
        self._producer = dict(producer)

    def write(self, rows: Iterable[DataFrame], number: int) -> None:
        """Write and wait until everything is acknowledged; rows: of `COLUMNS`; number: of the batch, in changelogs.

        Raises ConnectError, RetriableError where another try may help.
        """
        frames = list(rows)
        if not frames:
            return
        try:
            write(with_record_headers(union(frames), number), self._producer)
        except Exception as error:
            raise failure.as_error(error, _CONTEXT) from error


def write_failure(error: BaseException, inputs: Mapping[str, Ranges], skips: bool) -> HeadraceError:
    """The error of a batch whose results could not be written; for a result that is too large with its place and what helps.

    inputs: the ranges of offsets that the batch has read, by input; skips: whether `production.exception.handler` is `continue`,
    which leaves out only what was too large for the limit that the topic had before.
    """
    translated = failure.as_error(error, _CONTEXT)
    if failure.root(error).java_class != _TOO_LARGE or isinstance(error, HeadraceError):
        return translated
    ranges = [(*partition, *r) for of_input in inputs.values() for partition, r in of_input.items() if r[0] < r[1]]
    places = ", ".join(f"{topic}-{partition} offset {start} to {end - 1}" for topic, partition, start, end in ranges[:_PLACES])
    more = f" and {len(ranges) - _PLACES} other partitions" if len(ranges) > _PLACES else ""
    handler = "" if skips else "; production.exception.handler=continue leaves such records out"
    named = ConnectError(
        f"{translated} It follows from a record of {places}{more}. Raise max.message.bytes of the topic, or "
        f"producer.max.request.size of the application{handler}."
    )
    named.__cause__ = translated.__cause__
    return named


def with_record_headers(frame: DataFrame, number: int) -> DataFrame:
    """The columns that a producer takes, from `COLUMNS`: with the time as last header, and the batch's number in changelogs."""
    # As bytes, because a number would be part of the code that Spark compiles, again for every batch.
    batch = F.struct(F.lit(BATCH).alias("key"), F.lit(number.to_bytes(8, "big")).alias("value"))
    stamp = F.struct(F.lit(TIMESTAMP_HEADER).alias("key"), F.col("t").cast("string").cast("binary").alias("value"))
    headers = F.coalesce(F.col("headers"), F.expr(f"cast(array() as {HEADERS_TYPE})"))
    numbered_headers = F.when(F.col("numbered"), F.concat(headers, F.array(batch))).otherwise(headers)
    return frame.select("topic", "partition", "key", "value", F.concat(numbered_headers, F.array(stamp)).alias("headers"))
