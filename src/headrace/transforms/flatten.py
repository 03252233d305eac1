"""Flatten: flattens nested data: the name of each field is its path, joined by a delimiter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.config import Type, option
from headrace.config.example import Example
from headrace.transforms.base import PartTransformation, key_and_value
from headrace.values.record import check_required, members, nulls, open_struct, struct, struct_of_null
from headrace.values.schema import Schema, SchemaBuilderError
from headrace.values.sql import NEVER, Sql, any_of, call, case, lit, negated
from headrace.values.value import Case, OpenStruct, TypedValue, Value, combined, mapped
from headrace.values.writing import JsonWriter

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord


class _Writer(JsonWriter):
    no_type = "Flatten transformation was passed a value of type class {} which is not supported by Connect's data API"


@key_and_value("org.apache.kafka.connect.transforms.Flatten")
class Flatten(PartTransformation):
    """Flattens nested data: the name of each field is its path, joined by a delimiter. Arrays are not changed."""

    examples = (Example({"delimiter": "_"}, {"value": {"a": {"b": 1, "c": [2]}}}, {"value": {"a_b": 1, "a_c": [2]}}),)

    delimiter: str = option(
        "delimiter",
        Type.STRING,
        ".",
        doc="Delimiter to insert between field names from the input record when generating field names for the output record",
    )

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """Nested fields under their joined names."""
        return record.with_part(self.target, record[self.target].flat(self.delimiter))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Flatten maps in the JSON text itself, structs by their schema."""
        context, value = record.context, getattr(record, self.target)
        cases = [*nulls(value)]
        for when, typed, opened in members(context, value, "flattening", null_passes=True):
            if typed.schema is None:
                text = _Writer(context, final=False).typed(typed, when)
                cases.append(Case(when, TypedValue("map", case([(when, call("headrace_json_flat", text, lit(self.delimiter)))]))))
                continue
            assert opened.schema
            fields: dict[str, Value] = {}
            with context.where(when):
                self._flatten(context, fields, "", opened, opened.schema.optional, NEVER)
            cases.append(Case(when, struct(OpenStruct(fields, schema=opened.schema.with_fields({})))))
        return replace(record, **{self.target: combined(cases)})

    def _flatten(
        self,
        context: CompileContext,
        into: dict[str, Value],
        prefix: str,
        opened: OpenStruct,
        optional: bool,
        absent: Sql | None,
    ) -> None:
        """Add a struct's fields to `into`; optional: one of the structs around them may be null; absent: the condition for it."""
        check_required(context, None, opened)
        for name, value in opened.fields.items():
            full = f"{prefix}{self.delimiter}{name}" if prefix else name
            schema = value[-1].value.schema
            assert schema
            if schema.type == "map":
                context.fail(
                    None, lit(f"Flatten transformation does not support MAP for record with schemas (for field {full}).")
                )
            elif schema.type == "struct":
                inner = next((a.value for a in value if a.value.kind == "struct"), None)
                fields = open_struct(context, inner) if inner else struct_of_null(schema)
                is_null = any_of([absent, *(a.when for a in value if a.value.kind == "null")])
                self._flatten(context, into, full, fields, optional or inner_schema(value).optional, is_null)
            elif full in into:
                context.fail(
                    None, lit(f"Cannot create field because of field name duplication {full}"), SchemaBuilderError.java_class
                )
            else:
                into[full] = mapped(value, lambda _when, typed: _optional(_or_default(typed, absent), optional))


def inner_schema(value: Value) -> Schema:
    """The schema of a struct's field: the alternative for null has the complete one."""
    schema = next((a.value.schema for a in value if a.value.kind == "null"), value[-1].value.schema)
    assert schema
    return schema


def _or_default(typed: TypedValue, absent: Sql | None) -> TypedValue:
    """The value with its default instead of null; the fields of a struct that is null stay null, as in Kafka."""
    defaulted = typed.or_default(True)
    if absent == NEVER or defaulted is typed:
        return defaulted
    present = negated(absent)
    return typed if present == NEVER else replace(defaulted, sql=case([(present, defaulted.sql)]))


def _optional(typed: TypedValue, optional: bool) -> TypedValue:
    assert typed.schema
    return replace(typed, schema=typed.schema.same_but(optional=typed.schema.optional or optional))
