"""HeaderFrom: moves or copies fields of the key or value into the record's headers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import ValidString
from headrace.errors import ConfigError
from headrace.transforms.base import NON_EMPTY_LIST, PartTransformation, key_and_value, replace_null_option
from headrace.values.record import append_header, copy_struct, members, struct
from headrace.values.sql import Sql, all_of, lit
from headrace.values.value import Case, OpenStruct, Value, combined, mapped, only_when, or_null

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord


@key_and_value("org.apache.kafka.connect.transforms.HeaderFrom")
class HeaderFrom(PartTransformation):
    """Moves or copies fields of the key or value into the record's headers."""

    examples = (
        Example(
            {"fields": "id", "headers": "order-id", "operation": "move"},
            {"value": {"id": 7, "name": "x"}},
            {"value": {"name": "x"}, "headers": {"order-id": "7"}},
        ),
    )

    fields: list[str] = option(
        "fields",
        Type.LIST,
        validator=NON_EMPTY_LIST,
        importance=Importance.HIGH,
        doc="Field names in the record whose values are to be copied or moved to headers.",
    )
    headers: list[str] = option(
        "headers",
        Type.LIST,
        validator=NON_EMPTY_LIST,
        importance=Importance.HIGH,
        doc="Header names, in the same order as the field names listed in the fields configuration property.",
    )
    operation: Literal["move", "copy"] = option(
        "operation",
        Type.STRING,
        validator=ValidString("move", "copy"),
        importance=Importance.HIGH,
        doc="Either <code>move</code> if the fields are to be moved to the headers (removed from the key/value), or "
        "<code>copy</code> if the fields are to be copied to the headers (retained in the key/value).",
    )
    replace_null_with_default: bool = replace_null_option()

    def check(self) -> None:
        """Refuse lists of different lengths."""
        if len(self.fields) != len(self.headers):
            raise ConfigError("'fields' config must have the same number of elements as 'headers' config.")

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The new headers come from the fields; headers of the same names stay."""
        part, headers = record[self.target], record["headers"]
        for name, header in zip(self.fields, self.headers, strict=True):
            headers = headers.appended(header, part.get((name,)))
        part = part.without(self.fields) if self.operation == "move" else part
        return record.with_part("headers", headers).with_part(self.target, part)

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Append the headers, and remove the fields if they are to be moved."""
        context, moves = record.context, self.operation == "move"
        changed: list[Case] = []
        headers: list[list[Case]] = [[] for _ in self.fields]
        for when, typed, opened in members(context, getattr(record, self.target), f"header {self.operation}", null_passes=False):
            for field, header in zip(self.fields, headers, strict=True):
                header += only_when(when, self._header(context, when, opened, field))
            if moves:
                typed = struct(self._moved(context, when, opened))
            changed.append(Case(when, typed))
        written = record.headers
        for name, header in zip(self.headers, headers, strict=True):
            written = append_header(written, name, record.header(combined(header), name))
        return replace(record, headers=written, **({self.target: combined(changed)} if moves else {}))

    def _header(self, context: CompileContext, when: Sql | None, opened: OpenStruct, field: str) -> Value:
        if opened.schema is None:
            return or_null(opened.get(field))
        if field not in opened.fields:
            message = 'Cannot invoke "org.apache.kafka.connect.data.Field.schema()" because the return value is null'
            context.fail(when, lit(f"{message}: there is no field {field}"), "java.lang.NullPointerException")
            return ()
        for a in opened.fields[field] if field in opened.unchecked else ():
            schema = a.value.schema
            if schema is not None and not schema.optional:
                why = f"A null value requires an optional schema but was {schema.described}"
                context.fail(all_of(when, a.when, a.value.is_null()), lit(why))
        return mapped(opened.fields[field], lambda _when, typed: typed.or_default(self.replace_null_with_default))

    def _moved(self, context: CompileContext, when: Sql | None, opened: OpenStruct) -> OpenStruct:
        remaining = opened.without(tuple(self.fields))
        return remaining if opened.schema is None else copy_struct(context, when, remaining, self.replace_null_with_default)
