"""A record of Connect data on its way through a chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headrace.values import kinds
from headrace.values.compile_context import CompileContext
from headrace.values.schema import Schema
from headrace.values.sql import NEVER, Sql, all_of, lit
from headrace.values.value import OpenStruct, TypedValue, Value, always, bind_value, mapped, with_gaps


@dataclass(frozen=True)
class ConnectRecord:
    """The parts of a record, as SQL."""

    context: CompileContext
    topic: Sql
    """String."""
    partition: Sql
    """Int or NULL."""
    offset: Sql | None
    """Bigint, None for a source's record, which has none."""
    timestamp: Sql
    """Bigint, ms since the epoch, or NULL."""
    key: Value
    value: Value
    headers: Sql
    """Array<struct<key:string,value:binary>>, values as they will be written."""
    headers_written: HeaderWriter
    """Writes what transforms add to `headers`."""
    dropped: Sql | None = NEVER
    """The condition that a filter has dropped the record."""

    def header(self, value: Value, name: str) -> Sql:
        """Binary of a new header of this name, NULL for null.

        Kafka Connect writes headers after all transforms: a value that cannot be written is a fault of that step.
        """
        with self.context.reported_for("output.headers"):
            return self.headers_written.write(value, self, name)

    def with_bound_columns(self) -> ConnectRecord:
        """The record with each expression bound to a named column (`Scope.bind`)."""
        bind = self.context.scope.bind
        return ConnectRecord(
            self.context,
            bind(self.topic),
            bind(self.partition),
            self.offset,
            bind(self.timestamp),
            bind_value(self.key, self.context.scope),
            bind_value(self.value, self.context.scope),
            bind(self.headers),
            self.headers_written,
            None if self.dropped is None else bind(self.dropped),
        )


class HeaderWriter:
    """Turns a value into the bytes of a header."""

    def write(self, value: Value, record: ConnectRecord, name: str) -> Sql:
        """Binary of the header of this name, NULL for null; a value that cannot be written is a fault of the current step."""
        raise NotImplementedError


def members(
    context: CompileContext, value: Value, purpose: str, null_passes: bool
) -> Iterator[tuple[Sql | None, TypedValue, OpenStruct]]:
    """The alternatives of a value that are maps without schema, or structs with one, with their members; the others fail.

    purpose: the purpose that Kafka's error message names; null_passes: null is left out silently instead of failing.
    """
    for a in value:
        typed = a.value
        if typed.kind == "null" and null_passes:
            continue
        if (typed.schema is None and typed.kind == "map") or (typed.schema is not None and typed.kind == "struct"):
            yield a.when, typed, open_struct(context, typed)
        else:
            expected = "Map objects supported in absence of schema" if typed.schema is None else "Struct objects supported"
            actual = "null" if typed.kind == "null" else kinds.JAVA[typed.kind]
            when = a.when
            if typed.schema is not None and typed.kind != "null":
                null = typed.is_null()
                context.fail(all_of(when, f"(NOT {null})"), lit(f"Only {expected} for [{purpose}], found: {actual}"))
                actual, when = "null", all_of(when, null)
                if null_passes:
                    continue
            context.fail(when, lit(f"Only {expected} for [{purpose}], found: {actual}"))


def nulls(value: Value) -> Value:
    """The alternatives that `members(…, null_passes=True)` leaves out: null, and values of other schemas than a struct's."""
    return tuple(a for a in value if a.value.kind == "null" or (a.value.schema is not None and a.value.kind != "struct"))


def open_struct(context: CompileContext, typed: TypedValue) -> OpenStruct:
    """The members of a map or struct."""
    if typed.opened is not None:
        return typed.opened
    from headrace.values.payload import struct_fields

    source = f"cast({typed.sql} as binary)"
    if typed.schema is None:
        return OpenStruct(untouched=context.scope.reader(source))
    reader = context.scope.reader(source, "tz")
    # Nulls have been replaced when the record was read, if they are to be; each transformation has an option of its own.
    fields = struct_fields(context, reader, typed.schema, trusted=True, defaults=False)
    if typed.has_gaps:  # what is nested in it has them as well
        fields = {name: with_gaps(value) for name, value in fields.items()}
    return OpenStruct(fields, schema=typed.schema.same_but(fields={}))


def struct_of_null(schema: Schema) -> OpenStruct:
    """The fields of a struct that is null: each is null, with its schema."""
    return OpenStruct({name: always(null(inner)) for name, inner in schema.members.items()}, schema=schema.same_but(fields={}))


def null(schema: Schema) -> TypedValue:
    """Null with a schema."""
    kind = kinds.of_schema(schema)
    return TypedValue("null" if kind == "struct" else kind, "NULL", schema)


def struct(opened: OpenStruct) -> TypedValue:
    """A struct, or a map, of these members."""
    return TypedValue("struct" if opened.schema else "map", schema=opened.schema, opened=opened)


def copy_struct(
    context: CompileContext, when: Sql | None, opened: OpenStruct, replace_null: bool, keep_schema: bool = False
) -> OpenStruct:
    """A struct copied field by field, as Kafka's transformations do: nulls become defaults; `optional` and the default of the
    struct itself are lost. when: the condition of its records, which fail if a required field is null.
    """
    assert opened.schema is not None
    check_required(context, when, opened)
    fields = {n: mapped(v, lambda _when, typed: typed.or_default(replace_null)) for n, v in opened.fields.items()}
    return OpenStruct(fields, schema=opened.schema if keep_schema else opened.schema.with_fields({}))


def check_required(context: CompileContext, when: Sql | None, opened: OpenStruct) -> None:
    """Report a fault where a required field is null."""
    for name in sorted(opened.unchecked & opened.fields.keys()):
        for a in opened.fields[name]:
            schema = a.value.schema
            if schema is not None and not schema.optional:
                why = f'Invalid value: null used for required field: "{name}", schema type: {schema.type.upper()}'
                context.fail(all_of(when, a.when, a.value.is_null()), lit(why))


def append_header(headers: Sql, name: str, value: Sql) -> Sql:
    """Headers with one more at the end."""
    return f"concat({headers}, array(named_struct('key', {lit(name)}, 'value', {value})))"
