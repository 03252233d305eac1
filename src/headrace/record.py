"""Record: the Columns of a stream of Connect records.

A source gives one, a transform turns one into another, delivery writes one. Nothing here touches data: the Columns are
expressions over the DataFrame that the source read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

HEADERS_TYPE = "array<struct<key:string,value:binary>>"


@dataclass(frozen=True)
class RecordColumns:
    """The Columns that make up one record."""

    topic: Column
    """String, where the record goes (a source) or came from (a sink)."""
    key: Column
    """Binary, as `value`; NULL is Kafka's null (a record without key, a tombstone)."""
    value: Column
    headers: Column | None = None
    """Array<struct<key:string,value:binary>> in order, names may repeat, values may be NULL; None: no headers at all."""
    timestamp: Column | None = None
    """Timestamp with ms precision, None: the time of writing."""
    partition: Column | None = None
    """Int, None or NULL: the producer's partitioner decides."""
    offset: Column | None = None
    """Bigint, of a sink's record."""
    key_kind: str | DataType = "bytes"
    """What the key is before conversion: "bytes", "string" (then the Column is a string), "line" (a string that is never NULL),
    "null" (no schema and no value: never converted), or the Spark type of the Column, for data with a schema; as `value_kind`.
    """
    value_kind: str | DataType = "bytes"
    origin: Mapping[str, Column] = field(default_factory=dict)
    """Where the record came from, a Column per part (topic, partition, offset …), for the report of a record that fails."""
    failure: Column | None = None
    """Struct<step,class,message,cause> (strings) of a record that has failed before the chain, else NULL; None: none has."""
    dropped: Column | None = None
    """Boolean, true for records that are left out before the chain; None: none is."""
