"""SetSchemaMetadata: sets the name, the version, or both, of the schema of the key or value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.errors import ConfigError
from headrace.transforms.base import PartTransformation, key_and_value, replace_null_option
from headrace.values.record import copy_struct, open_struct
from headrace.values.schema import Schema
from headrace.values.sql import Sql, lit
from headrace.values.value import Case, OpenStruct, combined

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord


@key_and_value("org.apache.kafka.connect.transforms.SetSchemaMetadata")
class SetSchemaMetadata(PartTransformation):
    """Sets the name, the version, or both, of the schema of the key or value."""

    examples = (
        Example(
            {"schema.name": "com.acme.Order", "schema.version": "2"},
            {"value": {"schema": {"type": "struct", "fields": []}, "payload": {}}},
            {"value": {
                "schema": {"type": "struct", "fields": [], "optional": False, "name": "com.acme.Order", "version": 2},
                "payload": {},
            }},
            {"value.converter.schemas.enable": "true"},
        ),
    )  # fmt: skip

    schema_name: str | None = option("schema.name", Type.STRING, None, importance=Importance.HIGH, doc="Schema name to set.")
    schema_version: int | None = option(
        "schema.version", Type.INT, None, importance=Importance.HIGH, doc="Schema version to set."
    )
    replace_null_with_default: bool = replace_null_option()

    def check(self) -> None:
        """Refuse a transform that sets nothing."""
        if self.schema_name is None and self.schema_version is None:
            raise ConfigError("Neither schema name nor version configured")

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The data is not changed."""
        return record

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Change the schema; schemaless data fails, null does not."""
        context, cases = record.context, []
        for a in getattr(record, self.target):
            schema = a.value.schema
            if schema is None:
                if a.value.kind != "null":
                    context.fail(a.when, lit("Schema required for [updating schema metadata]"))
                cases.append(a)
                continue
            names = {"name": self.schema_name, "version": self.schema_version}
            changed = schema.same_but(**{key: value for key, value in names.items() if value is not None})
            if schema.type != "struct":  # Kafka copies the schema's fields whatever its type
                context.fail(a.when, lit("Cannot list fields on non-struct type"))
                continue
            opened = None if a.value.kind == "null" else self._copied(context, a.when, open_struct(context, a.value), changed)
            cases.append(Case(a.when, replace(a.value, schema=changed, opened=opened)))
        return replace(record, **{self.target: combined(cases)})

    def _copied(self, context: CompileContext, when: Sql | None, opened: OpenStruct, schema: Schema) -> OpenStruct:
        return replace(copy_struct(context, when, opened, self.replace_null_with_default), schema=schema.same_but(fields={}))
