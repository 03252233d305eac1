"""ValueToKey: replaces the record's key by a struct or map of fields of the value."""

from __future__ import annotations

from dataclasses import replace

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import ValidList
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation, replace_null_option
from headrace.transforms.column_lineage import RecordLineage, closed
from headrace.values.record import ConnectRecord, copy_struct, members, struct
from headrace.values.schema import Schema
from headrace.values.sql import lit
from headrace.values.value import Case, OpenStruct, combined, or_null


@plugin("org.apache.kafka.connect.transforms.ValueToKey", Kind.TRANSFORMATION)
class ValueToKey(Transformation):
    """Replaces the record's key by a struct or map of fields of the value."""

    examples = (
        Example({"fields": "id"}, {"value": {"id": 7, "name": "x"}}, {"key": {"id": 7}, "value": {"id": 7, "name": "x"}}),
    )

    routes = "no"

    fields: tuple[str, ...] = option(
        "fields",
        Type.LIST,
        convert=tuple,
        validator=ValidList(empty_ok=False),
        importance=Importance.HIGH,
        doc="Field names on the record value to extract as the record key.",
    )
    replace_null_with_default: bool = replace_null_option()

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The key's fields come from the value's."""
        return record.with_part("key", closed({name: record["value"].get((name,)) for name in self.fields}))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Set the key to the value's fields."""
        context, cases = record.context, []
        for when, _, opened in members(context, record.value, "copying fields from value to key", null_passes=False):
            missing = [name for name in self.fields if opened.schema is not None and name not in opened.fields]
            if missing:
                context.fail(when, lit(f"Field does not exist: {missing[0]}"))
                continue
            if opened.schema is None:
                key = OpenStruct({name: or_null(opened.get(name)) for name in self.fields}, capacity=len(self.fields))
            else:
                fields = copy_struct(context, when, opened.only(tuple(self.fields)), self.replace_null_with_default).fields
                key = OpenStruct({name: fields[name] for name in self.fields}, schema=Schema("struct"))
            cases.append(Case(when, struct(key)))
        return replace(record, key=combined(cases))
