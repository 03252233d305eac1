"""Connect's schemas, as JsonConverter writes and reads them."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from headrace.errors import ConnectError, DataError
from headrace.values.json_text import java_double

TYPES = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "bytes", "array", "map", "struct")
_JSON_NAMES = {"float32": "float", "float64": "double"}
_FROM_JSON = {_JSON_NAMES.get(t, t): t for t in TYPES}
_LOGICAL = "org.apache.kafka.connect.data."
DECIMAL, DATE, TIME, TIMESTAMP = (_LOGICAL + name for name in ("Decimal", "Date", "Time", "Timestamp"))
_FLOAT32_DIGITS = 9
_DIGITS = "\ufdd0"
"""A character that is none (Unicode's noncharacters are for such marks within a program)."""
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


UNNAMED = "fieldName cannot be null."
"""What Kafka's SchemaBuilder says of a field with an empty name."""


class SchemaBuilderError(ConnectError):
    """A schema has an invalid field or default."""

    java_class = "org.apache.kafka.connect.errors.SchemaBuilderException"


@dataclass(frozen=True)
class Schema:
    """A schema of Connect (`org.apache.kafka.connect.data.Schema`)."""

    type: str
    """One of TYPES."""
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: Mapping[str, str] | None = field(default=None, hash=False)
    default: Any = field(default=None, hash=False)
    """In the JSON form of the payload, None for none."""
    fields: Mapping[str, Schema] = field(default_factory=dict, hash=False)
    """Of a struct, by name and in order."""
    items: Schema | None = None
    """Of an array."""
    keys: Schema | None = None
    values: Schema | None = None
    """`keys`, `values`: of a map."""
    levels_up: int = 0
    """Of a reference to an enclosing struct, whose fields it has: how many structs further out that one is. 0: no reference."""

    @cached_property
    def is_recursive(self) -> bool:
        """Whether a part of it refers to an enclosing struct."""
        return self.levels_up > 0 or any(part.is_recursive for part in self._parts())

    @cached_property
    def members(self) -> Mapping[str, Schema]:
        """The fields of a struct, each written out: a field that refers to the struct has the struct's fields."""
        if not self.is_recursive:
            return self.fields
        return {name: _completed(part, self, 1) for name, part in self.fields.items()}

    def _parts(self) -> tuple[Schema, ...]:
        return (*self.fields.values(), *(part for part in (self.items, self.keys, self.values) if part is not None))

    @property
    def logical(self) -> str | None:
        """The logical type (DECIMAL, DATE, TIME, TIMESTAMP), None for any other schema."""
        return self.name if self.name in (DECIMAL, DATE, TIME, TIMESTAMP) else None

    @property
    def holds_decimals(self) -> bool:
        """Whether it is a Decimal, or contains one."""
        return self.logical == DECIMAL or any(schema.holds_decimals for schema in self._parts())

    @property
    def scale(self) -> int:
        """The scale of a Decimal; 0 if it is missing or no number (`scale_problem`)."""
        return 0 if self.scale_problem else int((self.parameters or {})["scale"])

    @property
    def scale_problem(self) -> str | None:
        """Why a Decimal has no scale, None if it has one: what Kafka's `Decimal` says when it needs it."""
        text = (self.parameters or {}).get("scale")
        if text is None:
            return "Invalid Decimal schema: scale parameter not found."
        is_int = re.fullmatch(r"[+-]?\d+", text) and -(2**31) <= int(text) < 2**31
        return None if is_int else "Invalid scale parameter found in Decimal schema: "

    def json(self, field_name: str | None = None) -> dict[str, Any]:
        """JsonConverter's form of the schema, of a struct's field with its name."""
        node: dict[str, Any] = {"type": _JSON_NAMES.get(self.type, self.type)}
        if self.type == "struct":
            node["fields"] = [s.json(n) for n, s in self.fields.items()]
        if self.levels_up:
            node["levels_up"] = self.levels_up
        if self.type == "array" and self.items:
            node["items"] = self.items.json()
        if self.type == "map" and self.keys and self.values:
            node["keys"], node["values"] = self.keys.json(), self.values.json()
        node["optional"] = self.optional
        optional = {"name": self.name, "version": self.version, "doc": self.doc, "default": self.default, "field": field_name}
        node |= {key: value for key, value in optional.items() if value is not None}
        if self.parameters:
            node["parameters"] = dict(self.parameters)
        return node

    def text(self, field_name: str | None = None) -> str:
        """`json` as text."""
        return json_of(self.json(field_name))

    def with_fields(self, fields: Mapping[str, Schema]) -> Schema:
        """A struct with other fields and the name, version, doc and parameters of this one (Kafka's `copySchemaBasics`)."""
        return Schema("struct", False, self.name, self.version, self.doc, self.parameters, fields=fields)

    def same_but(self, **changes: Any) -> Schema:
        """A copy with other attributes."""
        return replace(self, **changes)


def _completed(part: Schema, whole: Schema, level: int) -> Schema:
    """A part of a struct, with the struct's fields where it refers to the struct. level: how many structs enclose the part."""
    if part.levels_up:
        return part.same_but(fields=whole.fields, levels_up=0) if part.levels_up == level else part
    if not part.is_recursive:
        return part
    deeper = level + (part.type == "struct")
    inner = {name: part_ and _completed(part_, whole, deeper) for name, part_ in
             (("items", part.items), ("keys", part.keys), ("values", part.values))}  # fmt: skip
    return part.same_but(fields={name: _completed(field, whole, deeper) for name, field in part.fields.items()}, **inner)


def parse(text: str) -> Schema | None:
    """The schema that a JSON text describes, None for null (`JsonConverter.asConnectSchema`).

    Raises DataError, or SchemaBuilderError for a default that does not fit.
    """
    return _schema(json.loads(text, parse_float=Decimal))


def json_of(value: Any) -> str:
    """JSON text of a part of a schema, as Jackson writes it: a Decimal is a number with all of its digits, and what JSON has no
    number for (NaN, the infinities) is a text. `json` has neither.
    """
    try:
        text = _dumped(value)
    except ValueError:
        text = _dumped(_with_texts(value))
    return re.sub(f'"{_DIGITS}([^"]*)"', r"\1", text) if _DIGITS in text else text


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_marked, allow_nan=False)


def _with_texts(value: Any) -> Any:
    """The same with texts for floats that are not finite."""
    if isinstance(value, list):
        return [_with_texts(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_texts(item) for name, item in value.items()}
    return java_double(value).strip('"') if isinstance(value, float) and not math.isfinite(value) else value


def _marked(number: Any) -> str:
    assert isinstance(number, Decimal), number
    return f"{_DIGITS}{number}"


def _schema(node: Any) -> Schema | None:
    if node is None:
        return None
    kind = node.get("type") if isinstance(node, dict) else None
    if not isinstance(kind, str):
        raise DataError("Schema must contain 'type' field")
    if kind not in _FROM_JSON:
        raise DataError(f"Unknown schema type: {kind}")
    nested = _nested(kind, node)
    optional, version, doc = node.get("optional"), node.get("version"), node.get("doc")
    schema = Schema(
        type=_FROM_JSON[kind],
        optional=optional is True,
        name=node.get("name") if isinstance(node.get("name"), str) else None,
        version=version if isinstance(version, int) and not isinstance(version, bool) else None,
        doc=doc if isinstance(doc, str) else None,
        parameters=_parameters(node.get("parameters")),
        **nested,
    )
    return schema.same_but(default=_default(schema, node["default"])) if "default" in node else schema


def _nested(kind: str, node: dict[str, Any]) -> dict[str, Any]:
    if kind == "array":
        if node.get("items") is None:
            raise DataError("Array schema did not specify the element type")
        return {"items": _schema(node["items"])}
    if kind == "map":
        if node.get("keys") is None:
            raise DataError("Map schema did not specify the key type")
        if node.get("values") is None:
            raise DataError("Map schema did not specify the value type")
        return {"keys": _schema(node["keys"]), "values": _schema(node["values"])}
    if kind != "struct":
        return {}
    if not isinstance(node.get("fields"), list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    fields: dict[str, Schema] = {}
    for inner in node["fields"]:
        name = inner.get("field") if isinstance(inner, dict) else None
        if not isinstance(name, str):
            raise DataError("Struct schema's field name not specified properly")
        schema = _schema(inner)
        assert schema is not None
        add_field(fields, name, schema)
    level = node.get("levels_up")
    return {"fields": fields, "levels_up": level if isinstance(level, int) else 0}


def add_field(fields: dict[str, Schema], name: str, schema: Schema) -> None:
    """Add a field to a struct that is being built. Raises SchemaBuilderError for an empty name or a duplicate."""
    if not name:
        raise SchemaBuilderError(UNNAMED)
    if name in fields:
        raise SchemaBuilderError(f"Cannot create field because of field name duplication {name}")
    fields[name] = schema


def _parameters(node: Any) -> dict[str, str] | None:
    if not isinstance(node, dict):
        return None
    for name, value in node.items():
        if not isinstance(value, str):
            raise DataError(f"Schema parameter {name} must be a string")
    return dict(node)


def _default(schema: Schema, value: Any) -> Any:
    """A default as Kafka reads it, like a payload: what does not fit becomes zero, empty or null, or is an error."""
    if value is None:
        if schema.optional:
            return None
        raise DataError(f"Invalid null value for required {schema.type.upper()} field")
    if schema.type == "struct":
        raise SchemaBuilderError("Invalid default value")
    is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    if schema.logical:
        return _logical_default(schema, value, is_number)
    if schema.type in _BITS:
        bits = _BITS[schema.type]
        return (_whole(value) + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)) if is_number else 0
    if schema.type in ("float32", "float64"):
        number = float(value) if is_number else 0.0
        return nearest_float32(number) if schema.type == "float32" else number
    if schema.type == "boolean":
        return value is True
    if schema.type in ("string", "bytes") and not isinstance(value, str):
        if schema.optional:
            return None
        raise SchemaBuilderError("Invalid default value")
    if schema.type == "bytes" and not _is_base64(str(value)):
        raise DataError("Invalid bytes field")
    if schema.type == "array":
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return [_part_of_default(schema.items, item) for item in inside]
    if schema.type == "map" and isinstance(value, dict):
        return {name: _part_of_default(schema.values, item) for name, item in value.items()}
    return _with_floats(value)


def _with_floats(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_floats(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_floats(item) for name, item in value.items()}
    return float(value) if isinstance(value, Decimal) else value


def _whole(number: int | Decimal) -> int:
    """The integral part, or another number with the same low 64 bits: 1e999999999 is not written out."""
    return int(number) if isinstance(number, int) or number.adjusted() < 400 else 0


def _part_of_default(schema: Schema | None, value: Any) -> Any:
    if schema is None or schema.type == "struct":
        return _with_floats(value)
    return schema.default if value is None and schema.default is not None else _default(schema, value)


def _logical_default(schema: Schema, value: Any, is_number: bool) -> Any:
    assert schema.name is not None
    name = schema.name.rpartition(".")[2]
    if schema.logical == DECIMAL:
        if not is_number and not isinstance(value, str):
            raise DataError(
                f"Invalid type for {name}, underlying representation should be numeric or bytes but was {_node(value)}"
            )
        if isinstance(value, str) and not _is_base64(value):
            raise DataError("Invalid bytes field")
        if isinstance(value, str) and (schema.scale_problem or not value):
            raise DataError("Invalid bytes for Decimal field")
        return value if isinstance(value, str) else _decimal_default(schema, value)
    if not is_number or isinstance(value, Decimal) or (schema.type == "int32" and not -(2**31) <= value < 2**31):
        kind = "integer" if schema.type == "int32" else "integral"
        raise DataError(f"Invalid type for {name}, underlying representation should be {kind} but was {_node(value)}")
    if schema.logical == TIME and not 0 <= value <= 86_400_000:
        raise DataError("Time values must use number of milliseconds greater than 0 and less than 86400000")
    return value


def _decimal_default(schema: Schema, number: int | Decimal) -> Any:
    """A number as the bytes of its unscaled value, which keep its digits; as the number if its scale is not the schema's."""
    sign, digits, exponent = Decimal(number).as_tuple()
    if schema.scale_problem or exponent != -schema.scale:
        return _with_floats(number)
    unscaled = (-1 if sign else 1) * int("".join(map(str, digits)))
    length = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return base64.b64encode(unscaled.to_bytes(length, signed=True)).decode()


def _node(value: Any) -> str:
    """Jackson's name of the type of a JSON value."""
    names = {bool: "BOOLEAN", int: "NUMBER", Decimal: "NUMBER", str: "STRING", list: "ARRAY", dict: "OBJECT"}
    return names[type(value)]


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True)) or not text
    except ValueError:
        return False


def nearest_float32(number: float) -> float:
    """The 32-bit float that a number becomes, as Java writes it: in the fewest digits, two at least, that tell it from others.

    Of powers of two Java may write more; those digits are kept.
    """
    try:
        packed = struct.pack("f", number)
    except OverflowError:
        return number
    nearest = struct.unpack("f", packed)[0]
    if abs(math.frexp(nearest)[0]) == 0.5 and float(f"{nearest:.{_FLOAT32_DIGITS}g}") == number:
        return number
    fewest = (float(f"{nearest:.{digits}g}") for digits in range(2, _FLOAT32_DIGITS + 1))
    return next((short for short in fewest if struct.pack("f", short) == packed), number)


def decimal_of(schema: Schema) -> Decimal:
    """The default of a Decimal, which is the bytes of its unscaled value or a number."""
    if not isinstance(schema.default, str):
        return Decimal(str(schema.default))
    sign, digits, _ = Decimal(int.from_bytes(base64.b64decode(schema.default), signed=True)).as_tuple()
    return Decimal((sign, digits, -schema.scale))
