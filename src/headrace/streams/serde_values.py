"""Serdes for single Python values, without Spark: for processors and interactive queries.

The bytes are those of `headrace.streams.engine.formats`. Values are as Spark has them in Python: structs are `Row`, times without
a zone are local, and JSON without a schema is a `VariantVal`.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation, localcontext
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.serdes import Serde
from headrace.values import json_text

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, DecimalType

Encode = Callable[[Any], "bytes | None"]
Decode = Callable[["bytes | None"], Any]
_MAX_DIGITS = 38  # of a decimal
_NUMBERS = {"long": ">q", "integer": ">i", "short": ">h", "double": ">d", "float": ">f", "boolean": ">?"}


def encoder(serde: Serde, kind: DataType | None = None) -> Encode:
    """A function from a value to bytes; None stays None. kind: the type of values, which JSON with a schema needs.

    Raises StreamsError for an unsupported serde.
    """
    if serde.name in _NUMBERS:
        pack = struct.Struct(_NUMBERS[serde.name]).pack
        return lambda value: None if value is None else pack(value)
    if serde.name == "string":
        return lambda value: None if value is None else str(value).encode()
    if serde.name == "byte_array":
        return lambda value: None if value is None else bytes(value)
    if serde.name == "json":
        return lambda value: None if value is None else _json(value, kind).encode()
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
        return lambda source: None if source is None else _parsed(source.decode(errors="replace"), kind)
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


def _json(value: Any, kind: DataType | None = None) -> str:
    """The JSON text of a value as Spark writes it here, with NULL fields: keys are compared as bytes.

    kind: its type; without one all fields of the value are written, as they are.
    """
    from pyspark.sql import types

    if value is None:
        return "null"
    if isinstance(value, types.VariantVal):
        with localcontext(prec=_MAX_DIGITS):  # the decimals of a VARIANT are products
            return _json(value.toPython())
    if isinstance(kind, types.StructType):
        fields = _fields(value, kind.names)
        return _object((field.name, _json(fields.get(field.name), field.dataType)) for field in kind.fields)
    if isinstance(value, types.Row):
        value = value.asDict()
    if isinstance(value, dict):
        of_key, of_value = (kind.keyType, kind.valueType) if isinstance(kind, types.MapType) else (None, None)
        return _object((_name(key, of_key), _json(item, of_value)) for key, item in value.items())
    if isinstance(value, list | tuple):
        of_item = kind.elementType if isinstance(kind, types.ArrayType) else None
        return "[" + ",".join(_json(item, of_item) for item in value) + "]"
    return _scalar(value, kind)


def _scalar(value: Any, kind: DataType | None) -> str:
    from pyspark.sql import types

    if isinstance(kind, types.DecimalType):
        return str(_fitted(value if isinstance(value, Decimal) else Decimal(str(value)), kind))
    if isinstance(value, Decimal) and value.is_finite():
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text  # as Spark writes that of a VARIANT
    if isinstance(kind, types.DoubleType | types.FloatType):
        value = float(value)
    elif isinstance(value, bytes | bytearray):
        value = base64.b64encode(value).decode()
    elif isinstance(value, datetime) and isinstance(kind, types.TimestampNTZType):
        value = value.isoformat(timespec="milliseconds")
    elif isinstance(value, datetime):
        value = value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    elif isinstance(value, date):
        value = value.isoformat()
    return json_text.encode(value).decode()


def _object(fields: Iterable[tuple[str, str]]) -> str:
    """The text of an object. fields: each with the text of its value."""
    return "{" + ",".join(f"{_scalar(name, None)}:{text}" for name, text in fields) + "}"


def _fields(value: Any, names: list[str]) -> dict[str, Any]:
    """The fields of a struct by name. value: a dict, a Row, or a tuple in the order of the names."""
    if isinstance(value, dict):
        return value
    return value.asDict() if hasattr(value, "__fields__") else dict(zip(names, value, strict=True))


def _name(key: Any, kind: DataType | None) -> str:
    """The key of a map as the name of a field."""
    text = _json(key, kind)
    return json.loads(text) if text.startswith('"') else text


def _fitted(value: Decimal, kind: DecimalType) -> Decimal:
    """A decimal with the scale of its type, rounded as Spark does it. Raises StreamsError for one of too many digits."""
    with suppress(InvalidOperation):
        if not value.is_nan():
            return value.quantize(Decimal((0, (1,), -kind.scale)), ROUND_HALF_EVEN, Context(prec=kind.precision))
    raise StreamsError(f"{value} does not fit into {kind.simpleString()}.")


def _parsed(text: str, kind: DataType) -> Any:
    """The value of a type from JSON text."""
    from pyspark.sql import types

    if isinstance(kind, types.VariantType):
        return types.VariantVal.parseJson(text)
    return _typed(json.loads(text, parse_float=Decimal), kind)


def _typed(value: Any, kind: DataType) -> Any:
    """The value of a type from its JSON, whose fractions are Decimals."""
    from pyspark.sql import types

    if value is None:
        return None
    if isinstance(kind, types.StructType):
        return types.Row(**{field.name: _typed(value.get(field.name), field.dataType) for field in kind.fields})
    if isinstance(kind, types.ArrayType):
        return [_typed(item, kind.elementType) for item in value]
    if isinstance(kind, types.MapType):
        return {_key(name, kind.keyType): _typed(item, kind.valueType) for name, item in value.items()}
    if isinstance(kind, types.VariantType):
        return types.VariantVal.parseJson(_json(value))
    if isinstance(kind, types.DecimalType):
        return _fitted(Decimal(value), kind)
    simple: dict[type, Callable[[Any], Any]] = {
        types.DoubleType: float, types.FloatType: float, types.BinaryType: base64.b64decode, types.DateType: date.fromisoformat,
        types.TimestampType: _local_time, types.TimestampNTZType: datetime.fromisoformat,
    }  # fmt: skip
    return simple.get(type(kind), lambda item: item)(value)


def _key(name: str, kind: DataType) -> Any:
    """The key of a map from the name of a field."""
    from pyspark.sql import types

    is_text = isinstance(kind, types.StringType | types.CharType | types.VarcharType | types.BinaryType | types.DatetimeType)
    return _typed(name if is_text else json.loads(name, parse_float=Decimal), kind)


def _local_time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone().replace(tzinfo=None)
