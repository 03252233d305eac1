"""The converters of single numbers and of booleans, in the binary form of Kafka's serializers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from headrace.config.example import Example
from headrace.converters.base import Converter, ConverterType, HeaderConverter
from headrace.plugins import Kind, plugin
from headrace.values import kinds
from headrace.values.compile_context import CompileContext
from headrace.values.record import ConnectRecord
from headrace.values.schema import Schema
from headrace.values.sql import Sql, all_of, call, case, lit
from headrace.values.value import Case, TypedValue, Value, always

_PACKAGE = "org.apache.kafka.connect.converters"
_SERIALIZATION = "org.apache.kafka.common.errors.SerializationException"
_WIDTHS = {"int64": 8, "int32": 4, "int16": 2, "float32": 4, "float64": 8, "boolean": 1}


class _Number(Converter):
    """A number, a boolean or null as key or value. kind: of the values; java: Kafka's name of the type."""

    kind: ClassVar[str]
    java: ClassVar[str]

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """The number that the bytes encode, with Connect's optional schema of its type."""
        fits = f"(length({source}) <=> {_WIDTHS[self.kind]})"
        for wrong, cause in _faults(self.kind, self.java, source):
            context.fail(wrong, lit(f"Failed to deserialize {self.java}: "), cause=lit(cause))
        if self.kind == "boolean":
            sql = f"({source} = X'01')"
        elif self.kind in kinds.INTEGERS:
            sql = call("headrace_bytes_long", source)
        else:
            sql = call("headrace_bytes_float" if self.kind == "float32" else "headrace_bytes_double", source)
        return always(TypedValue(self.kind, case([(fits, sql)]), Schema(self.kind, optional=True)))

    def write(self, context: CompileContext, value: Value) -> Sql:
        """The bytes of a value of this converter's type; other values are refused."""
        return written(context, value, self.kind, self.java)


def _faults(kind: str, java: str, value: Sql) -> Iterator[tuple[Sql, str]]:
    """The errors of bytes that do not encode this kind: the condition of each, and the message of Kafka's deserializer."""
    width = _WIDTHS[kind]
    name = "" if kind == "float32" else java.capitalize()  # FloatDeserializer leaves out its name
    yield (
        f"({value} IS NOT NULL AND length({value}) <> {width})",
        f"{_SERIALIZATION}: Size of data received by {name}Deserializer is not {width}",
    )
    if kind == "boolean":
        yield (
            f"(length({value}) <=> 1 AND {value} NOT IN (X'00', X'01'))",
            f"{_SERIALIZATION}: Unexpected byte received by BooleanDeserializer",
        )


def written(context: CompileContext, value: Value, kind: str, java: str) -> Sql:
    """The bytes of a number, or boolean, of exactly this kind: Kafka casts, it does not convert."""
    branches = []
    for a in value:
        typed = a.value
        if typed.kind == kind or (typed.kind, kind) == ("huge", "int64"):
            branches.append((a.when, _bytes(typed, kind)))
        elif kind == "boolean":
            _refuse_for_boolean(context, a)
        elif typed.kind != "null":
            target = java.capitalize() if typed.kind in kinds.NUMBERS else "Number"
            cause = f"java.lang.ClassCastException: class {typed.java} cannot be cast to class java.lang.{target}"
            message = f"Failed to serialize to {java} (was class {typed.java}): "
            not_null = None if typed.schema is None else f"(NOT {typed.is_null()})"
            context.fail(all_of(a.when, not_null), lit(message), cause=lit(cause))
    return case(branches, "cast(NULL as binary)")


def _refuse_for_boolean(context: CompileContext, a: Case) -> None:
    """Report a fault: unlike the converters of numbers, BooleanConverter checks the schema first, also for null."""
    if a.value.schema is not None:
        context.fail(a.when, lit(f"Invalid schema type for BooleanConverter: {a.value.schema.type.upper()}"))
    elif a.value.kind != "null":
        context.fail(a.when, lit(f"BooleanConverter is not compatible with objects of type class {a.value.java}"))


def _bytes(typed: TypedValue, kind: str) -> Sql:
    if kind == "boolean":
        return case([(f"({typed.sql})", "X'01'"), (f"(NOT {typed.sql})", "X'00'")])
    if kind in kinds.INTEGERS:
        number = call("headrace_decimal_long", typed.sql) if typed.kind == "huge" else typed.sql
        return call("headrace_long_bytes", number, str(_WIDTHS[kind]))
    if kind == "float32":
        return call("headrace_float_bytes", f"float({typed.sql})")
    return call("headrace_double_bytes", f"double({typed.sql})", str(_WIDTHS[kind]))


class _NumberHeader(ConverterType, HeaderConverter):
    """A number, a boolean or null as the value of a header."""

    kind: ClassVar[str]
    java: ClassVar[str]

    def read(self, context: CompileContext, headers: Sql) -> Sql:
        """The unchanged headers; a value that does not encode this kind is a fault."""
        for wrong, cause in _faults(self.kind, self.java, "header.value"):
            context.fail(f"exists({headers}, header -> {wrong})", lit(f"Failed to deserialize {self.java}: "), cause=lit(cause))
        return headers

    def write(self, value: Value, record: ConnectRecord, name: str) -> Sql:
        """The bytes of a value of this converter's type; other values are refused."""
        return written(record.context, value, self.kind, self.java)


def _example(content: str, kind: str, payload: bool | float) -> Example:
    schema = {"type": {"float32": "float", "float64": "double"}.get(kind, kind), "optional": True}
    return Example({}, {"bytes": content}, {"schema": schema, "payload": payload})


def _register(name: str, kind: str, java: str, example: Example) -> None:
    doc = f"{java.capitalize()} values of {_WIDTHS[kind]} bytes (Kafka's `{name}`)."
    written_example = Example({}, example.want, example.have)  # type: ignore[arg-type]
    for base, plugin_kind, suffix, its_example in (
        (_Number, Kind.CONVERTER, "", example), (_NumberHeader, Kind.HEADER_CONVERTER, "Header", written_example),
    ):  # fmt: skip
        fields = {"kind": kind, "java": java, "examples": (its_example,), "__doc__": doc, "__module__": __name__}
        plugin(f"{_PACKAGE}.{name}", plugin_kind)(type(name + suffix, (base,), fields))


for _name, _kind, _java, _content, _payload in (
    ("LongConverter", "int64", "long", "000000000000002a", 42),
    ("IntegerConverter", "int32", "integer", "0000002a", 42),
    ("ShortConverter", "int16", "short", "002a", 42),
    ("FloatConverter", "float32", "float", "3fc00000", 1.5),
    ("DoubleConverter", "float64", "double", "3ff8000000000000", 1.5),
    ("BooleanConverter", "boolean", "boolean", "01", True),
):
    _register(_name, _kind, _java, _example(_content, _kind, _payload))
