"""Encodes keys and values of sources that are not bytes for dead letters, and decodes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from headrace.sql_functions import F
from headrace.values.sql import Sql, call, lit

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

_OPTIONS = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
_OPTIONS_SQL = call("map", *(lit(text) for option in _OPTIONS.items() for text in option))
_NESTED, _RECORD = ("struct", "array", "map"), "record"


def as_bytes(column: Sql, kind: str | DataType) -> Sql:
    """A source's key or value as bytes: text in UTF-8, structs, arrays and maps as JSON, other types as their text."""
    if isinstance(kind, str):
        return f"cast({column} as binary)"
    name = kind.simpleString()
    if name == "binary":
        return column
    text = f"to_json({column}, {_OPTIONS_SQL})" if name.startswith(_NESTED) else f"string({column})"
    return f"cast({text} as binary)"


def from_bytes(data: Column, type_: DataType) -> Column:
    """The column of this type that `as_bytes` has encoded. Spark refuses maps whose keys are not text."""
    name = type_.simpleString()
    if name == "binary":
        return data
    text = data.cast("string")
    return F.from_json(text, type_, _OPTIONS) if name.startswith(_NESTED) else text.cast(type_)  # type: ignore[arg-type]


def type_text(type_: DataType) -> str:
    """A type as text, for the headers of a dead letter."""
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(_RECORD, type_)]).json()


def type_of(text: str) -> DataType:
    """The type from the text of `type_text`. Raises ValueError for any other text."""
    from pyspark.sql.types import StructType

    try:
        return StructType.fromJson(json.loads(text))[_RECORD].dataType
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{text[:100]!r} is not a Spark type") from error
