"""Serdes for single Python values, without Spark: for processors and interactive queries.

The bytes are those of `headrace.streams.engine.formats`. Values are as Spark has them in Python: structs are `Row`, times without
a zone are local, and JSON without a schema is a `VariantVal`.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from ctypes import c_float
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation, localcontext
from types import NoneType
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.serdes import Serde
from headrace.values import json_text

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, DecimalType

Encode = Callable[[Any], "bytes | None"]
Decode = Callable[["bytes | None"], Any]
Write = Callable[[Any], str]
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
        write = _writer(kind)
        return lambda value: None if value is None else write(value).encode("utf-8", "replace")
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
        parse = _parser(kind)
        return lambda source: None if source is None else parse(source.decode(errors="replace"))
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


def _writer(kind: DataType | None) -> Write:
    """A function from a value to its JSON text as Spark writes it here, with NULL fields: keys are compared as bytes.

    It is made once for a type, as a processor writes a value for each record. kind: the type; without one all fields of a value
    are written, as they are.
    """
    from pyspark.sql import types

    by_class = _simple(kind)

    def write(value: Any) -> str:
        simple = by_class.get(type(value))
        if simple is not None:
            return simple(value)
        if isinstance(value, types.VariantVal):
            with localcontext(prec=_MAX_DIGITS):  # the decimals of a VARIANT are products
                return untyped(value.toPython())
        if fields is not None:
            by_name = _fields(value, names)
            return "{" + ",".join([label + write_field(by_name.get(name)) for name, label, write_field in fields]) + "}"
        if isinstance(value, types.Row):
            value = value.asDict()
        if isinstance(value, dict):
            return "{" + ",".join([f"{_name(of_key(key))}:{of_value(item)}" for key, item in value.items()]) + "}"
        if isinstance(value, list | tuple):
            return "[" + ",".join([of_item(item) for item in value]) + "]"
        return _scalar(value, kind)

    untyped = write if kind is None else _writer(None)
    of_key = of_value = of_item = untyped
    fields, names = None, []
    if isinstance(kind, types.StructType):
        names = kind.names
        fields = [(field.name, f"{json_text.to_text(field.name)}:", _writer(field.dataType)) for field in kind.fields]
    elif isinstance(kind, types.MapType):
        of_key, of_value = _writer(kind.keyType), _writer(kind.valueType)
    elif isinstance(kind, types.ArrayType):
        of_item = _writer(kind.elementType)
    return write


def _simple(kind: DataType | None) -> dict[type, Write]:
    """Functions for the values whose class alone says how they are written as a type: most are, and need no further look."""
    from pyspark.sql import types

    if isinstance(kind, types.StructType | types.DecimalType | types.FloatType):
        return {NoneType: json_text.to_text}
    doubles: dict[type, Write] = {NoneType: json_text.to_text, float: json_text.java_double}
    if isinstance(kind, types.DoubleType):
        return doubles
    return doubles | {str: json_text.to_text, bool: json_text.to_text, int: str}


def _scalar(value: Any, kind: DataType | None) -> str:
    from pyspark.sql import types

    if isinstance(kind, types.DecimalType):
        return str(_fitted(value, kind))
    if isinstance(value, Decimal) and value.is_finite():
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text  # as Spark writes that of a VARIANT
    if isinstance(kind, types.FloatType):
        value = _shortest(c_float(float(value)).value)
    elif isinstance(kind, types.DoubleType):
        value = float(value)
    elif isinstance(value, bytes | bytearray):
        value = base64.b64encode(value).decode()
    elif isinstance(value, datetime) and isinstance(kind, types.TimestampNTZType):
        value = value.isoformat(timespec="milliseconds")
    elif isinstance(value, datetime):
        value = value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    elif isinstance(value, date):
        value = value.isoformat()
    return json_text.to_text(value)


def _shortest(number: float) -> float:
    """The double with the fewest digits that is the same number of 32 bits, which Java writes. number: one of 32 bits."""
    texts = (f"{number:.{digits}g}" for digits in range(2, 10))
    return next((float(text) for text in texts if c_float(float(text)).value == number), number)


def _fields(value: Any, names: list[str]) -> dict[str, Any]:
    """The fields of a struct by name. value: a dict, a Row, or a tuple or list in the order of the names.

    Raises StreamsError for anything else: a text would be spread over the fields.
    """
    if isinstance(value, dict):
        return value
    if hasattr(value, "__fields__"):
        return value.asDict()
    if not isinstance(value, list | tuple) or len(value) != len(names):
        raise StreamsError(f"{value!r} is no value of a struct with the fields {', '.join(names)}.")
    return dict(zip(names, value, strict=True))


def _name(text: str) -> str:
    """The JSON text of a map's key as that of a field's name."""
    return text if text.startswith('"') else json_text.to_text(text)


def _fitted(value: Any, kind: DecimalType) -> Decimal:
    """A decimal with the scale of its type, rounded as Spark does it. Raises StreamsError for one of too many digits, and for
    what is no number.
    """
    with suppress(InvalidOperation):
        number = value if isinstance(value, Decimal) else Decimal(str(value))
        if not number.is_nan():
            return number.quantize(Decimal((0, (1,), -kind.scale)), ROUND_HALF_EVEN, Context(prec=kind.precision))
    raise StreamsError(f"{value} does not fit into {kind.simpleString()}.")


def _parser(kind: DataType) -> Callable[[str], Any]:
    """A function from JSON text to the value of a type."""
    from pyspark.sql import types

    if isinstance(kind, types.VariantType):
        return types.VariantVal.parseJson
    read = _reader(kind)
    return lambda text: read(json.loads(text, parse_float=Decimal))


def _reader(kind: DataType) -> Callable[[Any], Any]:
    """A function from JSON, whose fractions are Decimals, to the value of a type; None stays None. It is made once for a type."""
    read = _reader_of_value(kind)
    return lambda value: None if value is None else read(value)


def _reader_of_value(kind: DataType) -> Callable[[Any], Any]:
    from pyspark.sql import types

    if isinstance(kind, types.StructType):
        fields = [(field.name, _reader(field.dataType)) for field in kind.fields]
        return lambda value: types.Row(**{name: read(value.get(name)) for name, read in fields})
    if isinstance(kind, types.ArrayType):
        read_item = _reader(kind.elementType)
        return lambda value: [read_item(item) for item in value]
    if isinstance(kind, types.MapType):
        read_key, read_value = _key_reader(kind.keyType), _reader(kind.valueType)
        return lambda value: {read_key(name): read_value(item) for name, item in value.items()}
    if isinstance(kind, types.VariantType):
        write = _writer(None)
        return lambda value: types.VariantVal.parseJson(write(value))
    if isinstance(kind, types.DecimalType):
        return lambda value: _fitted(Decimal(value), kind)
    simple: dict[type, Callable[[Any], Any]] = {
        types.DoubleType: float, types.FloatType: lambda number: c_float(float(number)).value,
        types.BinaryType: base64.b64decode, types.DateType: date.fromisoformat,
        types.TimestampType: _local_time, types.TimestampNTZType: datetime.fromisoformat,
    }  # fmt: skip
    return simple.get(type(kind), lambda item: item)


def _key_reader(kind: DataType) -> Callable[[str], Any]:
    """A function from the name of a field to the key of a map."""
    from pyspark.sql import types

    read = _reader(kind)
    if isinstance(kind, types.StringType | types.CharType | types.VarcharType | types.BinaryType | types.DatetimeType):
        return read
    return lambda name: read(json.loads(name, parse_float=Decimal))


def _local_time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone().replace(tzinfo=None)
