"""AvroConverter: Avro's binary form behind the id of the schema in a registry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headrace.avro import mapping
from headrace.avro.from_connect import from_connect
from headrace.avro.mapping import AvroOptions
from headrace.avro.to_connect import to_connect
from headrace.avro.writing import writing_plan
from headrace.config import ConfigDef
from headrace.converters.base import type_option
from headrace.converters.json_reading import plain
from headrace.converters.registered import RegisteredConverter, Writing
from headrace.converters.registered_reading import read_typed
from headrace.plugins import Kind, plugin
from headrace.registry.client import RegisteredSchema
from headrace.registry.options import flag, registry_options, shared_options
from headrace.registry.reading import Reading
from headrace.values.schema import Schema
from headrace.values.sql import Sql, call, lit
from headrace.values.value import Value

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext

NAME = "io.confluent.connect.avro.AvroConverter"


def _definition() -> ConfigDef:
    return ConfigDef(
        [
            type_option(),
            *registry_options(),
            flag("enhanced.avro.schema.support", False, "Keep enums, and the full names of the branches of unions."),
            flag("connect.meta.data", True, "Keep what Avro has no word for as properties `connect.…` of the schema."),
            flag("scrub.invalid.names", False, "Make names of what Avro does not allow in them."),
            flag("allow.optional.map.keys", False, "Write maps with optional text keys as maps of Avro."),
            flag("flatten.singleton.unions", True, "Read a union of one type as that type."),
            flag(
                "discard.type.doc.default", False, "Leave out the documentation and the defaults of types, keep those of fields."
            ),
            *shared_options("schemas.cache.config"),
        ]
    )


@plugin(NAME, Kind.CONVERTER)
class AvroConverter(RegisteredConverter):
    """Avro with a schema registry (Confluent's `AvroConverter`)."""

    format, type = "Avro", "AVRO"
    problems = ("Failed to deserialize data for topic {} to Avro: ", "Failed to serialize Avro data from topic {} :")

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options of Confluent's `AvroConverterConfig` and `AvroDataConfig`."""
        return _definition()

    @property
    def _options(self) -> AvroOptions:
        settings = self.settings
        return AvroOptions(
            enhanced=settings["enhanced.avro.schema.support"],
            meta_data=settings["connect.meta.data"],
            scrub_names=settings["scrub.invalid.names"],
            optional_map_keys=settings["allow.optional.map.keys"],
            flatten_unions=settings["flatten.singleton.unions"],
            discard_type_doc=settings["discard.type.doc.default"],
            general_sums=settings["generalized.sum.type.support"],
        )

    def reading(self, schema: RegisteredSchema, version: int | None, indexes: Sequence[int]) -> Reading:
        """The schema of Connect, and the plan that reads the bytes."""
        return to_connect(schema.text, self._options, version, self.registry.referenced(schema))

    def read_payload(self, run: CompileContext, payload: Sql, reading: Reading) -> Value:
        """The value that the bytes are; bytes that are none are a fault."""
        schema, plan = reading.schema, json.dumps(reading.plan)
        if schema is None:
            text = run.scope.bind(call("headrace_avro_text", f"coalesce({payload}, X'')", lit(plan)))
            self.unread(run, f"{text}.error")
            return plain(run.scope.reader(f"cast({text}.json as binary)"))
        return read_typed(self, run, run.scope.reader(payload, plan, "headrace_avro_read"), schema, not mapping.is_union(schema))

    def described(self, schema: Schema | None) -> tuple[str, str | None]:
        """The Avro schema of a schema of Connect."""
        text = from_connect(schema, self._options)
        node: Any = json.loads(text)
        is_record = isinstance(node, dict) and node["type"] == "record"
        return text, mapping.full_name(node, "") if is_record else None

    def writing(self, schema: Schema | None, registered: RegisteredSchema) -> Writing:
        """What writes the payload with an Avro schema."""
        return Writing(writing_plan(schema, registered.text, self._options, self.registry.referenced(registered)))
