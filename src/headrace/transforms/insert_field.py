"""InsertField: adds fields with the record's topic, partition, offset or timestamp, or with a fixed text."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.config import Type, option
from headrace.config.example import Example
from headrace.config.types import invalid
from headrace.errors import ConfigError
from headrace.transforms.base import PartTransformation, key_and_value, replace_null_option
from headrace.transforms.column_lineage import CONSTANT, RecordLineage
from headrace.values.kinds import of_schema
from headrace.values.record import ConnectRecord, copy_struct, members, nulls, struct
from headrace.values.schema import TIMESTAMP, UNNAMED, Schema, SchemaBuilderError
from headrace.values.sql import Sql, lit
from headrace.values.value import DEFAULT_CAPACITY, Case, OpenStruct, TypedValue, always, choose, combined

_OPTIONALITY = "Suffix with <code>!</code> to make this a required field, or <code>?</code> to keep it optional (the default)."


@dataclass(frozen=True)
class InsertionSpec:
    """A field to add."""

    name: str
    optional: bool
    """Whether the schema of the field is."""

    @classmethod
    def parse(cls, spec: str | None) -> InsertionSpec | None:
        """Read `name`, `name?` (both optional) or `name!` (required)."""
        if spec is None:
            return None
        return cls(spec[:-1], not spec.endswith("!")) if spec.endswith(("?", "!")) else cls(spec, True)


@key_and_value("org.apache.kafka.connect.transforms.InsertField")
class InsertField(PartTransformation):
    """Adds fields with the record's topic, partition, offset or timestamp, or with a fixed text."""

    examples = (
        Example(
            {"topic.field": "from", "static.field": "site", "static.value": "berlin"},
            {"topic": "orders", "value": {"id": 7}},
            {"value": {"id": 7, "from": "orders", "site": "berlin"}},
        ),
    )

    topic_field: InsertionSpec | None = option(
        "topic.field", Type.STRING, None, convert=InsertionSpec.parse, doc="Field name for Kafka topic. " + _OPTIONALITY
    )
    partition_field: InsertionSpec | None = option(
        "partition.field", Type.STRING, None, convert=InsertionSpec.parse, doc="Field name for Kafka partition. " + _OPTIONALITY
    )
    offset_field: InsertionSpec | None = option(
        "offset.field",
        Type.STRING,
        None,
        convert=InsertionSpec.parse,
        doc="Field name for Kafka offset - only applicable to sink connectors.<br/>" + _OPTIONALITY,
    )
    timestamp_field: InsertionSpec | None = option(
        "timestamp.field", Type.STRING, None, convert=InsertionSpec.parse, doc="Field name for record timestamp. " + _OPTIONALITY
    )
    static_field: InsertionSpec | None = option(
        "static.field", Type.STRING, None, convert=InsertionSpec.parse, doc="Field name for static data field. " + _OPTIONALITY
    )
    static_value: str | None = option("static.value", Type.STRING, None, doc="Static field value, if field name configured.")
    replace_null_with_default: bool = replace_null_option()

    def check(self) -> None:
        """Refuse a transform that adds nothing, and a static field without a value."""
        fields = (self.topic_field, self.partition_field, self.offset_field, self.timestamp_field, self.static_field)
        if not any(fields):
            raise ConfigError("No field insertion configured")
        if self.static_field and self.static_value is None:
            raise invalid("static.value", None, f"No value specified for static field: {self.static_field.name}")

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The added fields come from parts of the record."""
        part = record[self.target]
        added = {"topic": self.topic_field, "partition": self.partition_field, "offset": self.offset_field}
        for source, spec in {**added, "timestamp": self.timestamp_field}.items():
            part = part.put((spec.name,), record[source]) if spec else part
        return record.with_part(self.target, part.put((self.static_field.name,), CONSTANT) if self.static_field else part)

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Add the fields; null stays null."""
        context, value = record.context, getattr(record, self.target)
        cases = [*nulls(value)]
        for when, _, opened in members(context, value, "field insertion", null_passes=True):
            if self.offset_field and record.offset is None:
                message = "Only SinkRecord supported for [field insertion], found: org.apache.kafka.connect.source.SourceRecord"
                context.fail(when, lit(message))
            changed = (
                replace(opened, capacity=DEFAULT_CAPACITY)  # as a copy that gets more members has it in the end
                if opened.schema is None
                else copy_struct(context, when, opened, self.replace_null_with_default)
            )
            for spec, schema, sql in self._insertions(record):
                if opened.schema is None:
                    changed = _set_unless_null(changed, spec.name, TypedValue(schema.type, sql))
                elif not spec.name:
                    context.fail(when, lit(UNNAMED), SchemaBuilderError.java_class)
                elif spec.name in changed.fields:
                    message = f"Cannot create field because of field name duplication {spec.name}"
                    context.fail(when, lit(message), SchemaBuilderError.java_class)
                else:
                    typed = TypedValue(of_schema(schema), sql, schema.same_but(optional=spec.optional))
                    changed = changed.with_field(spec.name, always(typed))
                    if not spec.optional:
                        changed = replace(changed, unchecked=changed.unchecked | {spec.name})
            cases.append(Case(when, struct(changed)))
        return replace(record, **{self.target: combined(cases)})

    def _insertions(self, record: ConnectRecord) -> list[tuple[InsertionSpec, Schema, Sql]]:
        """The fields to add, in Kafka's order: the field, its schema (a map has the encoded value: ms for a timestamp), its
        value.
        """
        insertions = [
            (self.topic_field, Schema("string"), record.topic),
            (self.partition_field, Schema("int32"), f"bigint({record.partition})"),
            (self.offset_field, Schema("int64"), record.offset or "cast(NULL as bigint)"),
            (self.timestamp_field, Schema("int64", name=TIMESTAMP, version=1), record.timestamp),
            (self.static_field, Schema("string"), lit(self.static_value)),
        ]
        return [(spec, schema, sql) for spec, schema, sql in insertions if spec is not None]


def _set_unless_null(opened: OpenStruct, name: str, typed: TypedValue) -> OpenStruct:
    """Set a member of a map, unless its value is null: Kafka does not insert a partition or timestamp that the record lacks."""
    old = opened.get(name)
    return opened.with_field(name, choose(f"({typed.sql} IS NOT NULL)", always(typed), old))
