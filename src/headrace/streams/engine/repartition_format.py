"""The formats of internal topics: serdes of key and value, and the bytes before or behind the value.

Rows of a regrouped table end with a byte, 1 for in and 0 for out, as Kafka's ChangedSerializer writes it. In the topics of a
foreign-key join, which nobody but the application reads, the bytes are headrace's own. A subscription registration: instruction
(1 byte), partition of the left row (4), hash of the left row (16), its key. A response: whether there is a right row (1 byte),
the hash of the registration (16), the right row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.errors import StreamsError
from headrace.sql_functions import F
from headrace.streams.engine.flows import Flow, Regrouped, SubscriptionRegistrations, SubscriptionResponses
from headrace.streams.serdes import Serde

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

HASH_BYTES = 16
_NO, _YES = b"\x00", b"\x01"


@dataclass(frozen=True)
class InternalFormat:
    """The format of an internal topic: serdes and types of key and value."""

    key_serde: Serde
    key: DataType
    value_serde: Serde
    value: DataType
    flow: type[Flow]
    """The kind of its rows."""


def format_of(internal_formats: Mapping[str, InternalFormat], topic: str) -> InternalFormat:
    """The format of a repartition topic. Raises StreamsError if nothing writes it."""
    if topic not in internal_formats:
        raise StreamsError(f"Nothing writes the repartition topic {topic} before it is read.")
    return internal_formats[topic]


def packed(flow: type[Flow], value: Column) -> Column:
    """The bytes of a record. value: those of `v`; the other columns are those of the flow."""
    if flow is Regrouped:
        return F.concat(value, _flag(F.col("add")))
    if flow is SubscriptionRegistrations:
        primary_partition = F.call_function("headrace_long_bytes", F.col("primary_partition").cast("bigint"), F.lit(4))
        return F.concat(F.col("instruction"), primary_partition, F.col("hash"), value)
    if flow is SubscriptionResponses:
        return F.concat(_flag(value.isNotNull()), F.col("hash"), F.coalesce(value, F.lit(b"")))
    return value


def unpacked(flow: type[Flow] | None) -> tuple[Column, list[Column]]:
    """From the column `value`: the bytes of `v`, and the other columns of the flow."""
    if flow is Regrouped:
        return _bytes(1, F.length("value") - 1), [(_bytes(F.length("value"), 1) == F.lit(_YES)).alias("add")]
    if flow is SubscriptionRegistrations:
        primary_partition = F.call_function("headrace_bytes_long", _bytes(2, 4)).cast("int")
        columns = [
            _bytes(1, 1).alias("instruction"),
            primary_partition.alias("primary_partition"),
            _bytes(6, HASH_BYTES).alias("hash"),
        ]
        return _bytes(6 + HASH_BYTES, F.length("value")), columns
    if flow is SubscriptionResponses:
        there = _bytes(1, 1) == F.lit(_YES)
        return F.when(there, _bytes(2 + HASH_BYTES, F.length("value"))), [_bytes(2, HASH_BYTES).alias("hash")]
    return F.col("value"), []


def _bytes(first: Column | int, count: Column | int) -> Column:
    from pyspark.sql import Column

    start, length = (bound if isinstance(bound, Column) else F.lit(bound) for bound in (first, count))
    return F.substr(F.col("value"), start, length)


def _flag(condition: Column) -> Column:
    return F.when(condition, F.lit(_YES)).otherwise(F.lit(_NO))
