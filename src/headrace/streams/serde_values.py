"""Serdes for single Python values, without Spark: for processors and interactive queries.

The bytes are those of `headrace.streams.engine.formats`. Structs of JSON with a schema are Spark's `Row`.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.serdes import Serde
from headrace.values import json_text

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Encode = Callable[[Any], "bytes | None"]
Decode = Callable[["bytes | None"], Any]
_NUMBERS = {"long": ">q", "integer": ">i", "short": ">h", "double": ">d", "float": ">f", "boolean": ">?"}


def encoder(serde: Serde) -> Encode:
    """A function from a value to bytes; None stays None. Raises StreamsError for an unsupported serde."""
    if serde.name in _NUMBERS:
        pack = struct.Struct(_NUMBERS[serde.name]).pack
        return lambda value: None if value is None else pack(value)
    if serde.name == "string":
        return lambda value: None if value is None else str(value).encode()
    if serde.name == "byte_array":
        return lambda value: None if value is None else bytes(value)
    if serde.name == "json":
        return lambda value: None if value is None else json_text.encode(_plain(value))
    raise _unknown(serde)


def decoder(serde: Serde, kind: DataType) -> Decode:
    """A function from bytes to a value; None stays None. kind: the type of values. Raises StreamsError if unsupported."""
    if serde.name in _NUMBERS:
        unpack = struct.Struct(_NUMBERS[serde.name]).unpack
        return lambda source: None if source is None else unpack(source)[0]
    if serde.name == "string":
        return lambda source: None if source is None else source.decode(errors="replace")
    if serde.name == "byte_array":
        return lambda source: source
    if serde.name == "json":
        return _from_json(None if serde.schema is None else kind)
    raise _unknown(serde)


def encodes_in_python(serde: Serde) -> bool:
    """Whether `encoder` gives the same bytes as Spark: not for JSON with a schema, which has all fields of it."""
    return type(serde) is Serde and serde.name in (*_NUMBERS, "string", "byte_array", "json") and serde.schema is None


def decodes_in_python(serde: Serde) -> bool:
    """Whether `decoder` returns the same values as Spark: not for VARIANT, nor for JSON with times, decimals or bytes."""
    if type(serde) is not Serde or serde.name not in (*_NUMBERS, "string", "byte_array", "json"):
        return False
    return serde.name != "json" or not (serde.schema is None or _NEEDS_SPARK.search(serde.schema.lower()))


_NEEDS_SPARK = re.compile(r"\b(timestamp|timestamp_ntz|timestamp_ltz|date|time|decimal|dec|numeric|binary|variant|interval)\b")


def _unknown(serde: Serde) -> StreamsError:
    return StreamsError(f"Values of the {serde.name} serde cannot be read or written one by one; JSON and Kafka's own can.")


def _plain(value: Any) -> Any:
    """The JSON value as Spark writes it here, with NULL fields: keys are compared as bytes."""
    if hasattr(value, "asDict"):
        return {name: _plain(item) for name, item in value.asDict().items()}
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds") + ("Z" if value.tzinfo is None else "")
    if isinstance(value, date):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


def _from_json(kind: DataType | None) -> Decode:
    if kind is None:
        return lambda source: None if source is None else json.loads(source)
    return lambda source: None if source is None else _typed(json.loads(source), kind)


def _typed(value: Any, kind: DataType) -> Any:
    """The value of a type from its JSON."""
    from pyspark.sql import types

    if value is None:
        return None
    if isinstance(kind, types.StructType):
        return types.Row(**{field.name: _typed(value.get(field.name), field.dataType) for field in kind.fields})
    if isinstance(kind, types.ArrayType):
        return [_typed(item, kind.elementType) for item in value]
    if isinstance(kind, types.MapType):
        return {name: _typed(item, kind.valueType) for name, item in value.items()}
    simple: dict[type, Callable[[Any], Any]] = {
        types.DoubleType: float, types.FloatType: float, types.DecimalType: lambda number: Decimal(str(number)),
        types.BinaryType: base64.b64decode, types.DateType: date.fromisoformat,
        types.TimestampType: lambda text: datetime.fromisoformat(text).replace(tzinfo=None),
    }  # fmt: skip
    return simple.get(type(kind), lambda item: item)(value)
