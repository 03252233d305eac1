"""Connect's schemas, as JsonConverter writes them."""

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

from headrace.errors import ConnectError
from headrace.values.json_text import java_double, with_scalars

TYPES = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "bytes", "array", "map", "struct")
JSON_NAMES = {"float32": "float", "float64": "double"}
"""Of types that have another name in JSON."""
_LOGICAL = "org.apache.kafka.connect.data."
DECIMAL, DATE, TIME, TIMESTAMP = (_LOGICAL + name for name in ("Decimal", "Date", "Time", "Timestamp"))
_FLOAT32_DIGITS = 9
_DIGITS = "\ufdd0"
"""A character that is none (Unicode's noncharacters are for such marks within a program)."""

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
    fields: Mapping[str, Schema] = field(default_factory=dict, compare=False)
    """Of a struct, by name and in order: schemas with another order are not equal."""
    _in_order: tuple[tuple[str, Schema], ...] = field(init=False, repr=False, hash=False)
    items: Schema | None = None
    """Of an array."""
    keys: Schema | None = None
    """Of a map, as `values`."""
    values: Schema | None = None
    levels_up: int = 0
    """Of a reference to an enclosing struct, whose fields it has: how many structs further out that one is. 0: no reference."""

    def __post_init__(self) -> None:
        """Keep the fields as what is compared: mappings are equal in any order."""
        object.__setattr__(self, "_in_order", tuple(self.fields.items()))

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
        node: dict[str, Any] = {"type": JSON_NAMES.get(self.type, self.type)}
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

    @property
    def described(self) -> str:
        """The schema as Kafka's messages name it (`ConnectSchema.toString`)."""
        return f"Schema{{{self.name + ':' if self.name else ''}{self.type.upper()}}}"

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


def json_of(value: Any) -> str:
    """JSON text of a part of a schema, as Jackson writes it: a Decimal is a number with all of its digits, and what JSON has no
    number for (NaN, the infinities) is a text. `json` has neither.
    """
    numbers: list[str] = []  # only what was marked is unmarked: a text may begin with the mark

    def marked(number: Any) -> str:
        assert isinstance(number, Decimal), number
        numbers.append(str(number))
        return f"{_DIGITS}{number}"

    def dumped(part: Any) -> str:
        return json.dumps(part, ensure_ascii=False, separators=(",", ":"), default=marked, allow_nan=False)

    try:
        text = dumped(value)
    except ValueError:
        text = dumped(with_scalars(value, _finite))
    for number in dict.fromkeys(numbers):
        text = text.replace(f'"{_DIGITS}{number}"', number)
    return text


def _finite(scalar: Any) -> Any:
    """The text of a float that is not finite; everything else as it is."""
    return java_double(scalar).strip('"') if isinstance(scalar, float) and not math.isfinite(scalar) else scalar


def add_field(fields: dict[str, Schema], name: str, schema: Schema) -> None:
    """Add a field to a struct that is being built. Raises SchemaBuilderError for an empty name or a duplicate."""
    if not name:
        raise SchemaBuilderError(UNNAMED)
    if name in fields:
        raise SchemaBuilderError(f"Cannot create field because of field name duplication {name}")
    fields[name] = schema


def nearest_float32(number: float) -> float:
    """The 32-bit float that a number becomes, as Java 17 writes it: in the fewest digits, two at least, that tell it from others.

    Of powers of two Java may write more; those digits are kept. Of large whole numbers it leaves out last digits by their size.
    """
    try:
        packed = struct.pack("f", number)
    except OverflowError:
        return number
    nearest = struct.unpack("f", packed)[0]
    bits = int(nearest).bit_length() if math.isfinite(nearest) and nearest.is_integer() else 0
    if 24 < bits <= 63:
        return _without_last_digits(int(nearest), len(str(2 ** max(bits - 26, 0))) - 1)
    if abs(math.frexp(nearest)[0]) == 0.5 and float(f"{nearest:.{_FLOAT32_DIGITS}g}") == number:
        return number
    fewest = (float(f"{nearest:.{digits}g}") for digits in range(2, _FLOAT32_DIGITS + 1))
    return next((short for short in fewest if struct.pack("f", short) == packed), number)


def _without_last_digits(number: int, digits: int) -> float:
    """A whole number rounded to a power of ten, halves away from zero."""
    unit = 10**digits
    return math.copysign((abs(number) + unit // 2) // unit * unit, number)


def decimal_of(schema: Schema) -> Decimal:
    """The default of a Decimal, which is the bytes of its unscaled value or a number."""
    if not isinstance(schema.default, str):
        return Decimal(str(schema.default))
    sign, digits, _ = Decimal(int.from_bytes(base64.b64decode(schema.default), signed=True)).as_tuple()
    return Decimal((sign, digits, -schema.scale))
