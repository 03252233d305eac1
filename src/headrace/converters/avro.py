"""AvroConverter: Avro's binary form behind the id of the schema in a registry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from headrace.avro import mapping
from headrace.avro.compatibility import unreadable
from headrace.avro.from_connect import from_connect
from headrace.avro.mapping import AvroOptions
from headrace.avro.to_connect import to_connect
from headrace.avro.writing import writing_plan
from headrace.converters.json_reading import plain
from headrace.converters.registered import RegisteredConverter, Writing
from headrace.converters.registered_reading import read_typed
from headrace.plugins import Kind, plugin
from headrace.registry.client import RegisteredSchema
from headrace.registry.options import cache_size, flag
from headrace.registry.reading import Reading
from headrace.values.compile_context import CompileContext
from headrace.values.schema import Schema
from headrace.values.sql import Sql, call, lit
from headrace.values.value import Value

NAME = "io.confluent.connect.avro.AvroConverter"


@plugin(NAME, Kind.CONVERTER)
class AvroConverter(RegisteredConverter):
    """Avro with a schema registry (Confluent's `AvroConverter`)."""

    format, type = "Avro", "AVRO"
    problems = ("Failed to deserialize data for topic {} to Avro: ", "Failed to serialize Avro data from topic {} :")

    # the options of Confluent's `AvroConverterConfig` and `AvroDataConfig`
    enhanced_schemas: bool = flag(
        "enhanced.avro.schema.support", False, "Keep enums, and the full names of the branches of unions."
    )
    meta_data: bool = flag("connect.meta.data", True, "Keep what Avro has no word for as properties `connect.…` of the schema.")
    scrub_names: bool = flag("scrub.invalid.names", False, "Make names of what Avro does not allow in them.")
    optional_map_keys: bool = flag("allow.optional.map.keys", False, "Write maps with optional text keys as maps of Avro.")
    flatten_unions: bool = flag("flatten.singleton.unions", True, "Read a union of one type as that type.")
    discard_type_doc: bool = flag(
        "discard.type.doc.default", False, "Leave out the documentation and the defaults of types, keep those of fields."
    )
    schemas_cache_size: int = cache_size("schemas.cache.config")

    @property
    def _options(self) -> AvroOptions:
        return AvroOptions(
            enhanced=self.enhanced_schemas,
            meta_data=self.meta_data,
            scrub_names=self.scrub_names,
            optional_map_keys=self.optional_map_keys,
            flatten_unions=self.flatten_unions,
            discard_type_doc=self.discard_type_doc,
            general_sums=self.generalized_sum_types,
        )

    def reading(self, schema: RegisteredSchema, version: int | None, indexes: Sequence[int]) -> Reading:
        """The Connect schema, and the plan that reads the bytes."""
        return to_connect(schema.text, self._options, version, self.registry.reference_texts(schema))

    def read_payload(self, context: CompileContext, payload: Sql, reading: Reading) -> Value:
        """The value that the bytes encode; invalid bytes are a fault."""
        schema, plan = reading.schema, json.dumps(reading.plan)
        if schema is None:
            text = context.scope.bind(call("headrace_avro_text", f"coalesce({payload}, X'')", lit(plan)))
            self.unread(context, f"{text}.error")
            return plain(context.scope.reader(f"cast({text}.json as binary)"))
        return read_typed(
            self, context, context.scope.reader(payload, plan, "headrace_avro_read"), schema, not mapping.is_union(schema)
        )

    def registry_schema(self, schema: Schema | None) -> tuple[str, str | None]:
        """The Avro schema for a Connect schema, and the full name of its record."""
        text = from_connect(schema, self._options)
        node: Any = json.loads(text)
        is_record = isinstance(node, dict) and node["type"] == "record"
        return text, mapping.full_name(node, "") if is_record else None

    def unreadable(self, registered: RegisteredSchema, text: str) -> list[str]:
        """Incompatibilities by Avro's schema resolution, as Confluent's client checks it."""
        return unreadable(registered.text, text, self.registry.reference_texts(registered))

    def writing(self, schema: Schema | None, registered: RegisteredSchema) -> Writing:
        """The plan that writes the payload with an Avro schema."""
        return Writing(writing_plan(schema, registered.text, self._options, self.registry.reference_texts(registered)))
