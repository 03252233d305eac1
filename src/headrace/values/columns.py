"""A record as Spark columns with plain names: the input of SQL expressions and Python plugins of users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from headrace.values.kinds import INTEGERS
from headrace.values.kinds import of_schema as kind_of
from headrace.values.record import open_struct
from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema
from headrace.values.sql import NEVER, Sql, call, case, lit, quoted
from headrace.values.value import Case, TypedValue, Value
from headrace.values.writing import JsonWriter

if TYPE_CHECKING:
    from pyspark.sql import Column

    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord


@dataclass(frozen=True)
class Columns:
    """A record as Spark columns."""

    topic: Column
    """STRING."""
    partition: Column
    """INT, or NULL."""
    offset: Column
    """BIGINT, NULL for a source's record."""
    timestamp: Column
    """TIMESTAMP, or NULL."""
    headers: Column
    """ARRAY<STRUCT<key: STRING, value: BINARY>>."""
    key: Column
    """As `value`."""
    value: Column
    """VARIANT for schemaless data, STRUCT (fields with their types) for data with a schema, STRING, BINARY,
    BOOLEAN, a number … for primitives; NULL for null.
    """


NAMES = ("topic", "partition", "offset", "timestamp", "headers", "key", "value")
_TYPES = {
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMP",
    "headers": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
}
_DDL = {
    "int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT", "float32": "FLOAT", "float64": "DOUBLE",
    "boolean": "BOOLEAN", "string": "STRING", "bytes": "BINARY",
}  # fmt: skip
_SCHEMALESS = {**_DDL, **dict.fromkeys(INTEGERS, "BIGINT"), "float32": "DOUBLE", "date": "TIMESTAMP"}


_NUMBERS = ("int8", "int16", "int32", "int64", "float32", "float64")
_WIDER = {kind: _NUMBERS[place + 1 :] for place, kind in enumerate(_NUMBERS)}


@dataclass(frozen=True)
class Shape:
    """The Spark type of a column, as DDL."""

    ddl: str
    fields: tuple[tuple[str, Shape], ...] = ()
    """Of a struct, by name and in order."""


_VARIANT = Shape("VARIANT")


def types(record: ConnectRecord) -> dict[str, str]:
    """The Spark type of each name, as DDL."""
    return {**_TYPES, "key": common_shape(record.key).ddl, "value": common_shape(record.value).ddl}


def expression(context: CompileContext, record: ConnectRecord, name: str) -> Sql:
    """The part of the record with this name, as a column of its type; a value that the type cannot hold is a fault of the current
    step.
    """
    if name in ("key", "value"):
        return column(context, getattr(record, name), name)
    if name == "timestamp":
        return f"headrace_try(timestamp_millis({record.timestamp}))"
    if name == "offset":
        return record.offset or "cast(NULL as bigint)"
    return getattr(record, name)


def column(context: CompileContext, value: Value, name: str) -> Sql:
    """A value as one column of the type that it has (`common_shape`)."""
    present, target = _present(value), common_shape(value)
    if target == shape(value):
        return _sql(context, value, target, name)
    branches = []
    for a in present:
        own_shape = _shape_of_typed(a.value)
        with context.where(a.when):
            struct = context.scope.bind(_typed(context, a, own_shape, name))
        branches.append((a.when, _recast(struct, own_shape, target)))
    return case(branches, f"cast(NULL as {target.ddl})")


def common_shape(value: Value) -> Shape:
    """The type of a value: for structs of several schemas, a struct of all their fields; for other values of several types,
    VARIANT.

    Fields that have one name and several types: structs are merged in the same way, integers and floats take the widest type,
    all others become text.
    """
    shapes = [_shape_of_typed(a.value) for a in _present(value)]
    if len(set(shapes)) < 2 or not all(s.fields for s in shapes):
        return shape(value)
    return reduce(_union, shapes)


def own_fields(value: Value) -> Sql | None:
    """The names of the fields that the schema of a struct has (ARRAY<STRING>); None if all of its schemas have the same.

    A field that is missing is NULL in the struct of all fields (`column`), as one that is there may be.
    """
    named = [(a.when, [name for name, _ in _shape_of_typed(a.value).fields]) for a in _present(value)]
    if not common_shape(value).fields or len({frozenset(names) for _, names in named}) < 2:
        return None
    return case([(when, call("array", *map(lit, names))) for when, names in named])


def _present(value: Value) -> list[Case]:
    return [a for a in value if a.when != NEVER and a.value.kind != "null"]


def _union(a: Shape, b: Shape) -> Shape:
    if not (a.fields and b.fields):
        return a if a == b else Shape(_wider(a.ddl, b.ddl))
    fields = dict(a.fields)
    for name, field in b.fields:
        fields[name] = _union(fields[name], field) if name in fields else field
    return _struct(fields)


def _recast(sql: Sql, actual: Shape, target: Shape) -> Sql:
    """A column of the shape `actual`, cast to the shape `target`, which has all of its fields."""
    if actual == target:
        return sql
    if not (actual.fields and target.fields):
        return f"cast({sql} as {target.ddl})"
    inner = dict(actual.fields)
    parts = (
        (lit(name), _recast(f"{sql}.{quoted(name)}", inner[name], field) if name in inner else f"cast(NULL as {field.ddl})")
        for name, field in target.fields
    )
    return f"if({sql} IS NULL, NULL, {call('named_struct', *(x for pair in parts for x in pair))})"


def column_of(context: CompileContext, value: Value, schema: Schema, name: str) -> Sql:
    """A value as one column of the type of a schema (`ddl_of`), fitted to it by the names of fields.

    Missing fields are NULL, fields that the schema does not have are left out; a field of another kind is a fault of the current
    step.
    """
    branches = []
    for a in value:
        if a.value.kind != "null":
            with context.where(a.when):
                branches.append((a.when, _fitted(context, a, schema, name)))
    return case(branches, f"cast(NULL as {ddl_of(schema)})")


def ddl_of(schema: Schema) -> str:
    """The Spark type of data with a schema, as DDL."""
    return _shape_of_schema(schema).ddl


def _fitted(context: CompileContext, a: Case, schema: Schema, name: str) -> Sql:
    typed, ddl = a.value, ddl_of(schema)
    if typed.opened is not None and schema.type == "struct":
        fields = []
        for field, inner in schema.fields.items():
            member = typed.opened.fields.get(field)
            member_sql = (
                f"cast(NULL as {ddl_of(inner)})" if member is None else column_of(context, member, inner, f"field {field}")
            )
            fields += [lit(field), member_sql]
        return call("named_struct", *fields)
    member = typed.schema
    if member is None or not _fits(member, schema):
        actual = "schemaless data" if member is None else member.name or member.type.upper()
        context.fail(None, lit(f"The {name} is {actual}, and {schema.name or schema.type.upper()} is what is read"))
        return f"cast(NULL as {ddl})"
    if typed.kind in ("list", "map", "struct"):
        return _nested(context, a, schema, name)
    return _typed(context, a, Shape(ddl), name)


def _fits(actual: Schema, expected: Schema) -> bool:
    """Whether data of a schema can be read as that of another: nested data has the same form in JSON, numbers may be wider."""
    if actual.logical or expected.logical:
        return actual.logical == expected.logical and (actual.logical != DECIMAL or actual.scale == expected.scale)
    if expected.type == "struct" and actual.type == "struct":
        return all(_fits(actual.fields[name], inner) for name, inner in expected.fields.items() if name in actual.fields)
    if actual.type == expected.type and expected.type in ("array", "map"):
        pairs = ((actual.keys, expected.keys), (actual.values, expected.values), (actual.items, expected.items))
        return all(a is None or b is None or _fits(a, b) for a, b in pairs)
    return actual.type == expected.type or (actual.type in _WIDER and expected.type in _WIDER[actual.type])


def _wider(a: str, b: str) -> str:
    for kinds in (("TINYINT", "SMALLINT", "INT", "BIGINT"), ("FLOAT", "DOUBLE")):
        if a in kinds and b in kinds:
            return max(a, b, key=kinds.index)
    return a if a == b else "STRING"


def json_text(context: CompileContext, value: Value) -> Sql:
    """A value as JSON text, NULL for null."""
    writer = JsonWriter(context, final=False)
    text = case([(a.when, writer.typed(a.value, a.when)) for a in value if a.value.kind != "null"])
    return context.scope.bind(f"nullif(string({text}), 'null')")


def shape(value: Value) -> Shape:
    """The one type of a value; VARIANT if it has none, or several."""
    present = [a.value for a in value if a.when != NEVER]
    shapes = {_shape_of_typed(typed) for typed in present if typed.kind != "null"}
    if not shapes:
        shapes = {_shape_of_schema(typed.schema) for typed in present if typed.schema is not None}
    return shapes.pop() if len(shapes) == 1 else _VARIANT


def _shape_of_typed(typed: TypedValue) -> Shape:
    if typed.schema is None:
        return Shape(_SCHEMALESS[typed.kind]) if typed.kind in _SCHEMALESS and typed.opened is None else _VARIANT
    if typed.opened is not None:
        return _struct({name: shape(value) for name, value in typed.opened.fields.items()})
    wrong = typed.schema.logical and typed.kind != kind_of(typed.schema)
    return _VARIANT if wrong else _shape_of_schema(typed.schema)


def _shape_of_schema(schema: Schema) -> Shape:
    if schema.logical:
        return Shape(_logical(schema))
    if schema.type == "struct":
        return _struct({name: _shape_of_schema(inner) for name, inner in schema.fields.items()})
    if schema.type == "array" and schema.items:
        return Shape(f"ARRAY<{_shape_of_schema(schema.items).ddl}>")
    if schema.type == "map" and schema.values:
        return Shape(f"MAP<STRING, {_shape_of_schema(schema.values).ddl}>") if _text_keys(schema) else _VARIANT
    return Shape(_DDL[schema.type])


def _logical(schema: Schema) -> str:
    if schema.logical == DECIMAL:
        return f"DECIMAL(38, {schema.scale})" if 0 <= schema.scale <= 38 else "STRING"
    return {DATE: "DATE", TIME: "INT", TIMESTAMP: "TIMESTAMP"}[str(schema.logical)]


def _struct(fields: Mapping[str, Shape]) -> Shape:
    if not fields:
        return _VARIANT
    return Shape(f"STRUCT<{', '.join(f'{quoted(n)}: {s.ddl}' for n, s in fields.items())}>", tuple(fields.items()))


def _text_keys(schema: Schema) -> bool:
    return schema.keys is not None and schema.keys.type == "string"


def _sql(context: CompileContext, value: Value, shape: Shape, name: str) -> Sql:
    if shape.ddl == "VARIANT":
        return _variant(context, value, name)
    branches = []
    for a in value:
        if a.value.kind != "null":
            with context.where(a.when):
                branches.append((a.when, _typed(context, a, shape, name)))
    return case(branches, f"cast(NULL as {shape.ddl})")


def _variant(context: CompileContext, value: Value, name: str) -> Sql:
    text = json_text(context, value)
    parsed = context.scope.bind(f"try_parse_json({text})")
    why = f"The {name} does not fit Spark's type VARIANT: an object has a name twice, or it is too large or too deep"
    context.fail(f"({text} IS NOT NULL AND {parsed} IS NULL)", lit(why))
    return parsed


def _typed(context: CompileContext, a: Case, shape: Shape, name: str) -> Sql:
    typed, sql = a.value, a.value.sql
    if shape.fields:
        guarded = typed if typed.opened or a.when is None else TypedValue(typed.kind, case([(a.when, sql)]), typed.schema)
        opened = open_struct(context, guarded)
        return call(
            "named_struct", *(x for n, s in shape.fields for x in (lit(n), _sql(context, opened.fields[n], s, f"field {n}")))
        )
    if typed.kind == "decimal":
        cast = f"try_cast({sql} as {shape.ddl})"
        context.fail(f"({sql} IS NOT NULL AND {cast} IS NULL)", lit(f"The {name} has more digits than Spark's {shape.ddl}"))
        return cast
    if typed.kind in ("list", "map") and typed.schema is not None:
        return _nested(context, a, typed.schema, name)
    if typed.kind != "date":
        return f"cast({sql} as {shape.ddl})"
    if shape.ddl == "TIMESTAMP":
        converted = f"headrace_try(timestamp_millis({sql}))"
        context.fail(f"({sql} IS NOT NULL AND {converted} IS NULL)", lit(f"The {name} is beyond the times of Spark's TIMESTAMP"))
        return converted
    return f"date_from_unix_date(int({sql} div 86400000L))" if shape.ddl == "DATE" else f"int({sql})"


def _nested(context: CompileContext, a: Case, schema: Schema, name: str) -> Sql:
    """An alternative that is a list, map or struct, in the type of a schema that it fits."""
    parsed = f"from_json({a.value.sql}, {lit(_payload_type(schema))})"
    if _from_payload(schema, parsed, 0) == parsed:
        return parsed
    parsed = context.scope.bind(case([(a.when, parsed)]))
    converted = context.scope.bind(f"headrace_try({_from_payload(schema, parsed, 0)})")
    lost = f"({parsed} IS NOT NULL AND {converted} IS NULL)"
    context.fail(lost, lit(f"The {name} has a value in it that Spark's {ddl_of(schema)} cannot hold"))
    return converted


def _payload_type(schema: Schema) -> str:
    """The type to read the JSON payload with."""
    if schema.logical:
        return {DECIMAL: "STRING", DATE: "INT", TIME: "INT", TIMESTAMP: "BIGINT"}[schema.logical]
    if schema.type == "struct" and schema.fields:
        return f"STRUCT<{', '.join(f'{quoted(n)}: {_payload_type(s)}' for n, s in schema.fields.items())}>"
    if schema.type == "array" and schema.items:
        return f"ARRAY<{_payload_type(schema.items)}>"
    if schema.type == "map" and schema.values and _text_keys(schema):
        return f"MAP<STRING, {_payload_type(schema.values)}>"
    return "STRING" if schema.type == "bytes" else _shape_of_schema(schema).ddl


def _from_payload(schema: Schema, sql: Sql, depth: int) -> Sql:
    """What was read with the type `_payload_type`, converted to the type of the schema (`ddl_of`); fails if it cannot."""
    if _payload_type(schema) == _shape_of_schema(schema).ddl and schema.logical != DECIMAL:
        return sql
    if schema.logical == DECIMAL:
        digits = f"headrace_decimal_read(headrace_base64({sql}), {schema.scale})"
        return f"cast({digits} as {_logical(schema)})"
    if schema.logical:
        return f"date_from_unix_date({sql})" if schema.logical == DATE else f"timestamp_millis({sql})"
    item = f"x{depth}"
    if schema.type == "array" and schema.items:
        return f"transform({sql}, {item} -> {_from_payload(schema.items, item, depth + 1)})"
    if schema.type == "map" and schema.values:
        return f"transform_values({sql}, (y{depth}, {item}) -> {_from_payload(schema.values, item, depth + 1)})"
    if schema.type == "struct":
        fields = [x for n, s in schema.fields.items() for x in (lit(n), _from_payload(s, f"{sql}.{quoted(n)}", depth))]
        return case([(f"({sql} IS NOT NULL)", call("named_struct", *fields))])
    return f"headrace_base64({sql})"
