"""The defaults in Connect's schemas, as JsonConverter reads them: like payloads."""

from __future__ import annotations

import base64
import re
import struct
from decimal import Decimal
from math import inf, nextafter
from typing import Any

from headrace.errors import DataError
from headrace.values.java_hash import long_hash, slot_order
from headrace.values.java_integers import long_value, wrapped
from headrace.values.json_text import with_scalars
from headrace.values.schema import DECIMAL, TIME, TIMESTAMP, Schema, SchemaBuilderError, nearest_float32

_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_BASE64 = re.compile(r"(?:[\0- ]*[A-Za-z0-9+/]{4})*[\0- ]*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?[\0- ]*")
_NORMAL_FLOAT32, _HALF_OF_LEAST_FLOAT32 = 2.0**-126, 2.0**-150


def default_of(schema: Schema, value: Any) -> Any:
    """A default as Kafka reads it, like a payload: what does not fit becomes zero, empty or null, or is an error."""
    if value is None:
        if schema.optional:
            return None
        raise DataError(f"Invalid null value for required {schema.type.upper()} field")
    converted = _converted(schema, value)
    if schema.type == "struct":  # its schema is not complete when Connect's builder looks at the default
        raise SchemaBuilderError("Invalid default value")
    return converted


def _converted(schema: Schema, value: Any) -> Any:
    is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    if schema.logical:
        return _logical_default(schema, value, is_number)
    if schema.type in _BITS:
        if not is_number:
            return 0
        return wrapped(long_value(value) if isinstance(value, Decimal) else value, _BITS[schema.type])
    if schema.type in ("float32", "float64"):
        number = float(value) if is_number else 0.0
        return nearest_float32(_rounded_once(number, value) if is_number else number) if schema.type == "float32" else number
    if schema.type == "boolean":
        return value is True
    if schema.type in ("string", "bytes") and not isinstance(value, str):
        if schema.optional:
            return None
        raise SchemaBuilderError("Invalid default value")
    if schema.type == "bytes":
        return _bytes(str(value))
    if schema.type == "array":
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return [_part(schema.items, item) for item in inside]
    if schema.type == "map":
        return _map(schema, value)
    return _struct(schema, value) if schema.type == "struct" else value


def _map(schema: Schema, value: Any) -> Any:
    if schema.keys is None or schema.keys.type == "string":
        if not isinstance(value, dict):
            raise DataError(f"Maps with string fields should be encoded as JSON objects, but found {_node(value)}")
        return {name: _part(schema.values, item) for name, item in value.items()}
    if not isinstance(value, list):
        raise DataError(f"Maps with non-string fields should be encoded as JSON array of tuples, but found {_node(value)}")
    pairs = []
    for pair in value:
        if not isinstance(pair, list):
            raise DataError(f"Found invalid map entry instead of array tuple: {_node(pair)}")
        if len(pair) != 2:
            raise DataError(f"Found invalid map entry, expected length 2 but found :{len(pair)}")
        pairs.append([_part(schema.keys, pair[0]), _part(schema.values, pair[1])])
    hashes = [_key_hash(schema.keys, key) for key, _ in pairs]
    known = [number for number in hashes if number is not None]
    return [pairs[i] for i in slot_order(known)] if len(known) == len(pairs) else pairs


def _key_hash(schema: Schema, key: Any) -> int | None:
    """The `hashCode` of a key, which says where JsonConverter writes it; None if it is not known."""
    if key is None or schema.logical or schema.type in ("bytes", "array", "map", "struct"):
        return None
    if schema.type == "boolean":
        return 1231 if key else 1237
    if schema.type == "float32":
        return int.from_bytes(struct.pack(">f", key))
    if schema.type == "float64":
        return long_hash(int.from_bytes(struct.pack(">d", key)))
    return long_hash(key & (2**64 - 1)) if schema.type == "int64" else key & 0xFFFFFFFF


def _struct(schema: Schema, value: Any) -> Any:
    if not isinstance(value, dict):
        raise DataError(f"Structs should be encoded as JSON objects, but found {_node(value)}")
    if schema.is_recursive:  # which no JsonConverter has read
        return _with_floats(value)
    fields = {}
    for name, inner in schema.fields.items():
        try:
            fields[name] = _part(inner, value.get(name))
        except SchemaBuilderError:  # a required text that is none: the struct refuses it before the builder does
            raise DataError(f'Invalid value: null used for required field: "{name}", schema type: {inner.type.upper()}') from None
    return fields


def _with_floats(value: Any) -> Any:
    return with_scalars(value, lambda scalar: float(scalar) if isinstance(scalar, Decimal) else scalar)


def _rounded_once(number: float, exact: int | Decimal) -> float:
    """A double that becomes the float nearest to a number. The nearest one may lie between two floats, and become the other."""
    between = int.from_bytes(struct.pack(">d", number)) & 0x1FFFFFFF == 0x10000000
    between |= abs(number) < _NORMAL_FLOAT32 and abs(number) / _HALF_OF_LEAST_FLOAT32 % 2 == 1
    return nextafter(number, inf if exact > Decimal(number) else -inf) if between and exact != Decimal(number) else number


def _part(schema: Schema | None, value: Any) -> Any:
    """A part of a default. A null, also one for a text that is none, is written as the default of the part."""
    if schema is None:
        return _with_floats(value)
    if value is not None:
        converted = _converted(schema, value)
        return schema.default if converted is None else converted
    if schema.default is None and not schema.optional:
        raise DataError(f"Invalid null value for required {schema.type.upper()} field")
    return schema.default


def _logical_default(schema: Schema, value: Any, is_number: bool) -> Any:
    assert schema.name is not None
    name = schema.name.rpartition(".")[2]
    if schema.logical == DECIMAL:
        if not is_number and not isinstance(value, str):
            raise DataError(
                f"Invalid type for {name}, underlying representation should be numeric or bytes but was {_node(value)}"
            )
        return _unscaled_default(schema, value) if isinstance(value, str) else _decimal_default(schema, value)
    if not is_number or isinstance(value, Decimal) or (schema.logical != TIMESTAMP and value != wrapped(value, 32)):
        kind = "integral" if schema.logical == TIMESTAMP else "integer"
        raise DataError(f"Invalid type for {name}, underlying representation should be {kind} but was {_node(value)}")
    if schema.logical == TIME and not 0 <= value <= 86_400_000:
        raise DataError("Time values must use number of milliseconds greater than 0 and less than 86400000")
    return wrapped(value, 64)


def _unscaled_default(schema: Schema, text: str) -> str:
    """The bytes of an unscaled value, as few as it takes."""
    try:
        unscaled = base64.b64decode(_bytes(text))
    except DataError:
        unscaled = b""
    if schema.scale_problem or not unscaled:
        raise DataError("Invalid bytes for Decimal field")
    return _base64_of(int.from_bytes(unscaled, signed=True))


def _decimal_default(schema: Schema, number: int | Decimal) -> Any:
    """A number as the bytes of its unscaled value, which keep its digits; as the number if its scale is not the schema's."""
    sign, digits, exponent = Decimal(number).as_tuple()
    if schema.scale_problem or exponent != -schema.scale:
        return _with_floats(number)
    return _base64_of((-1 if sign else 1) * int("".join(map(str, digits))))


def _base64_of(unscaled: int) -> str:
    length = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return base64.b64encode(unscaled.to_bytes(length, signed=True)).decode()


def _node(value: Any) -> str:
    """Jackson's name of the type of a JSON value."""
    names = {bool: "BOOLEAN", int: "NUMBER", Decimal: "NUMBER", str: "STRING", list: "ARRAY", dict: "OBJECT"}
    return names[type(value)]


def _bytes(text: str) -> str:
    """The base64 of bytes as it is written. Jackson reads over white space between the groups of four."""
    if not _BASE64.fullmatch(text):
        raise DataError("Invalid bytes field")
    return base64.b64encode(base64.b64decode(re.sub("[\\0- ]", "", text))).decode()
