"""Dead letters of streams (KIP-1034): records that no serde reads, as they were read, with what is wrong with them in headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.streams.engine.columns import HEADERS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PREFIX = "__streams.errors."
_EXCEPTION = "org.apache.kafka.common.errors.SerializationException"


def dead_letters(records: DataFrame, topic: str) -> DataFrame:
    """The records for the dead letter topic, columns of `sinks.COLUMNS`. records: columns of `source.RAW`, and `reason`."""
    from pyspark.sql import functions as F

    own = F.coalesce(F.col("headers"), F.expr(f"cast(array() as {HEADERS})"))
    said = {
        "exception": F.lit(_EXCEPTION), "message": F.col("reason"), "stacktrace": F.col("reason"), "topic": F.col("topic"),
        "partition": F.col("partition").cast("string"), "offset": F.col("offset").cast("string"),
    }  # fmt: skip
    headers = F.concat(own, F.array(*[_header(name, value) for name, value in said.items()])).alias("headers")
    to, anywhere = F.lit(topic).alias("topic"), F.lit(None).cast("int").alias("partition")
    return records.select(to, anywhere, "key", "value", headers, "t")


def _header(name: str, value: Column) -> Column:
    from pyspark.sql import functions as F

    return F.struct(F.lit(_PREFIX + name).alias("key"), value.cast("binary").alias("value"))
