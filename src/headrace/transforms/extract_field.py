"""ExtractField: replaces a record's key or value by one of its fields."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import CaseInsensitiveValidString
from headrace.transforms.base import PartTransformation, key_and_value, replace_null_option
from headrace.values.field_path import field_path
from headrace.values.record import members, null, open_struct
from headrace.values.schema import Schema
from headrace.values.sql import Sql, all_of, case, lit
from headrace.values.value import Case, OpenStruct, Value, always, combined, mapped, only_when, or_null

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord


@key_and_value("org.apache.kafka.connect.transforms.ExtractField")
class ExtractField(PartTransformation):
    """Replaces a record's key or value by one of its fields. Null stays null."""

    examples = (
        Example({"field": "id"}, {"value": {"id": 7, "name": "x"}}, {"value": 7}),
        Example({"field": "a.b", "field.syntax.version": "V2"}, {"value": {"a": {"b": 1}}}, {"value": 1}),
    )

    field: str = option("field", Type.STRING, doc="Field name to extract.")
    replace_null_with_default: bool = replace_null_option()
    field_syntax_version: str = option(
        "field.syntax.version",
        Type.STRING,
        "V1",
        convert=str.upper,
        validator=CaseInsensitiveValidString("V1", "V2"),
        importance=Importance.HIGH,
        doc="Defines the version of the syntax to access fields. If set to <code>V1</code>, then the field paths are "
        "limited to access the elements at the root level of the struct or map. If set to <code>V2</code>, the "
        "syntax will support accessing nested elements. To access nested elements, dotted notation is used. If "
        "dots are already included in the field name, then backtick pairs can be used to wrap field names "
        "containing dots. E.g. to access the subfield <code>baz</code> from a field named "
        '"foo.bar" in a struct/map the following format can be used to access its elements: '
        '"<code>foo.bar</code>.baz".',
    )

    def check(self) -> None:
        """Refuse a path that cannot be parsed."""
        if self._is_nested:
            field_path(self.field)

    @property
    def path(self) -> tuple[str, ...]:
        """The steps to the field; one step with syntax V1."""
        return field_path(self.field) if self._is_nested else (self.field,)

    @property
    def _is_nested(self) -> bool:
        return self.field_syntax_version == "V2"

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The key or value comes from the field."""
        return record.with_part(self.target, record[self.target].get(self.path))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Extract the field; a map without it gives null, a struct without it fails."""
        context, value = record.context, getattr(record, self.target)
        if not self.path:  # Kafka's V2 parser leaves nothing of an empty path
            for a in value:
                if a.value.kind != "null" or a.value.schema is not None:
                    context.fail(a.when, lit("fromIndex(0) > toIndex(-1)"), "java.lang.IllegalArgumentException")
            return record
        cases = [a for a in value if a.value.kind == "null" and a.value.schema is None]
        for a in value:
            if a.value.schema is not None and a.value.kind != "struct":
                null = a.when if a.value.kind == "null" else all_of(a.when, a.value.is_null())
                cases += only_when(null, self._of_null(context, null, a.value.schema))
        for when, _, opened in members(context, value, "field extraction", null_passes=True):
            with context.where(when):
                cases += only_when(when, self._field(context, opened, self.path))
        return replace(record, **{self.target: combined(cases)})

    def _field(self, context: CompileContext, opened: OpenStruct, path: tuple[str, ...]) -> Value:
        step, *inner_path = path
        if opened.schema is not None and step not in opened.fields:
            context.fail(None, lit(f"Unknown field: {self.field}"), "java.lang.IllegalArgumentException")
            return ()
        value = opened.get(step)
        if opened.schema is not None:
            value = mapped(value, lambda _when, typed: typed.or_default(self.replace_null_with_default))
        value = or_null(value, schemaless=opened.schema is None)
        return self._nested(context, value, tuple(inner_path)) if inner_path else value

    def _nested(self, context: CompileContext, value: Value, path: tuple[str, ...]) -> Value:
        cases: list[Case] = []
        for a in value:
            typed = a.value
            with context.where(a.when):
                if typed.kind == "null" and typed.schema is None:
                    cases.append(a)
                elif typed.kind == "null" and typed.schema is not None:
                    cases += only_when(a.when, self._leaf_of_null(context, typed.schema, path))
                elif typed.kind in ("map", "struct") and (typed.kind == "struct") == (typed.schema is not None):
                    guarded = typed if typed.opened else replace(typed, sql=case([(a.when, typed.sql)]))
                    cases += only_when(a.when, self._field(context, open_struct(context, guarded), path))
                elif typed.schema is not None:
                    context.fail(None, lit("Cannot look up fields on non-struct type"))
                else:
                    why = "Only Map objects supported in absence of schema for [nested field access], found: "
                    context.fail(None, lit(why + typed.java))
        return combined(cases)

    def _of_null(self, context: CompileContext, when: Sql | None, schema: Schema) -> Value:
        with context.where(when):
            return self._leaf_of_null(context, schema, self.path)

    def _leaf_of_null(self, context: CompileContext, schema: Schema, path: tuple[str, ...]) -> Value:
        """Null with the schema of the field at the path."""
        for step in path:
            if schema.type != "struct":
                context.fail(None, lit("Cannot look up fields on non-struct type"))
                return ()
            if step not in schema.members:
                context.fail(None, lit(f"Unknown field: {self.field}"), "java.lang.IllegalArgumentException")
                return ()
            schema = schema.members[step]
        return always(null(schema))
