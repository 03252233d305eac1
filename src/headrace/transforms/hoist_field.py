"""HoistField: wraps the key or value as the only field of a new struct or map."""

from __future__ import annotations

from dataclasses import replace

from headrace.config import Type, option
from headrace.config.example import Example
from headrace.transforms.base import PartTransformation, key_and_value
from headrace.transforms.column_lineage import RecordLineage, closed
from headrace.values.record import ConnectRecord, check_required, struct
from headrace.values.schema import UNNAMED, Schema, SchemaBuilderError
from headrace.values.sql import all_of, lit, negated
from headrace.values.value import Case, OpenStruct, Value, always, combined, present


@key_and_value("org.apache.kafka.connect.transforms.HoistField")
class HoistField(PartTransformation):
    """Wraps the key or value as the only field of a new struct or map."""

    examples = (Example({"field": "line"}, {"value": "text"}, {"value": {"line": "text"}}),)

    field: str = option(
        "field", Type.STRING, doc="Field name for the single field that will be created in the resulting Struct or Map."
    )

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The only field comes from the key or value."""
        return record.with_part(self.target, closed({self.field: record[self.target]}))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Wrap schemaless data in a map, data with a schema in a struct."""
        value: Value = getattr(record, self.target)
        if not self.field:
            for a in value:
                if a.value.schema is not None:
                    record.context.fail(a.when, lit(UNNAMED), SchemaBuilderError.java_class)
        plain = tuple(a for a in value if a.value.schema is None)
        cases = []
        for a in value:
            if a.value.schema is not None:
                opened = OpenStruct({self.field: always(a.value)}, schema=Schema("struct"))
                check_required(record.context, a.when, replace(opened, unchecked=frozenset({self.field})))
                if a.value.is_misnamed:
                    why = (
                        f'Invalid Java object for schema "{a.value.schema.name}" with type {a.value.schema.type.upper()}: '
                        f'class {a.value.java} for field: "{self.field}"'
                    )
                    record.context.fail(all_of(a.when, negated(a.value.is_null())), lit(why))
                cases.append(Case(a.when, struct(opened)))
        if plain:
            cases.append(Case(present(plain), struct(OpenStruct({self.field: plain}))))
        return replace(record, **{self.target: combined(cases)})
