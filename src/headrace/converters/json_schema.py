"""JsonSchemaConverter: JSON behind the id of its JSON Schema in a registry."""

from __future__ import annotations

import json
from collections.abc import Sequence

from headrace.config import Importance, Type, option
from headrace.converters.registered import RegisteredConverter, Writing
from headrace.converters.registered_reading import read_payload
from headrace.errors import ConfigError, DataError
from headrace.json_schema.compatibility import mismatches, required_paths, without_nulls
from headrace.json_schema.from_connect import from_connect
from headrace.json_schema.mapping import JsonSchemaOptions, is_union
from headrace.json_schema.plans import plan_of
from headrace.json_schema.to_connect import to_connect
from headrace.plugins import Kind, plugin
from headrace.registry.client import RegisteredSchema
from headrace.registry.options import cache_size, flag
from headrace.registry.reading import Reading
from headrace.values.compile_context import CompileContext
from headrace.values.schema import Schema
from headrace.values.sql import Sql
from headrace.values.value import Value, with_gaps

NAME = "io.confluent.connect.json.JsonSchemaConverter"
_FORMATS = ("BASE64", "NUMERIC")


@plugin(NAME, Kind.CONVERTER)
class JsonSchemaConverter(RegisteredConverter):
    """JSON with a JSON Schema in a schema registry (Confluent's `JsonSchemaConverter`)."""

    format, type = "JSON", "JSON"
    leaves_out_null = True  # a property that is not required, but not optional in Connect either (use.optional.for.nonrequired)
    problems = (
        "Converting byte[] to Kafka Connect data failed due to serialization error of topic {}: ",
        "Converting Kafka Connect data to byte[] failed due to serialization error of topic {}: ",
    )

    additional_properties: bool = flag(
        "object.additional.properties", True, "Allow objects to have properties that their schema does not name."
    )
    optional_for_nonrequired: bool = flag(
        "use.optional.for.nonrequired", False, "Read properties that are not required as optional."
    )
    decimal_format: str = option(
        "decimal.format",
        Type.STRING,
        "BASE64",
        convert=lambda text: text.strip().upper(),
        importance=Importance.LOW,
        doc="How decimals are written: BASE64, their bytes, or NUMERIC, a number.",
    )
    flatten_unions: bool = flag("flatten.singleton.unions", True, "Read a union of one type as that type.")
    preserve_additional_properties: bool = flag("preserve.additional.properties", False, "Only the default, false, is supported.")
    schemas_cache_size: int = cache_size("schemas.cache.size")

    def check(self) -> None:
        """Refuse values of options that are not supported."""
        super().check()
        if self.decimal_format not in _FORMATS:
            raise ConfigError.invalid("decimal.format", self["decimal.format"], f"it has to be {' or '.join(_FORMATS)}")
        if self.preserve_additional_properties:
            raise ConfigError.invalid("preserve.additional.properties", "true", "Connect data here has no variants")

    @property
    def _options(self) -> JsonSchemaOptions:
        return JsonSchemaOptions(
            additional_properties=self.additional_properties,
            optional_for_nonrequired=self.optional_for_nonrequired,
            numeric_decimals=self.decimal_format == "NUMERIC",
            flatten_unions=self.flatten_unions,
            general_sums=self.generalized_sum_types,
            keep_null=self.ignore_default_for_nullables,
        )

    def reading(self, schema: RegisteredSchema, version: int | None, indexes: Sequence[int]) -> Reading:
        """The Connect schema, and the plan that reads the JSON."""
        connect_schema = to_connect(schema.text, self._options, version, self.registry.references(schema))
        return Reading(connect_schema, plan_of(connect_schema, self._options))

    def read_payload(self, context: CompileContext, payload: Sql, reading: Reading) -> Value:
        """The value that the JSON encodes; invalid bytes are a fault."""
        return with_gaps(read_payload(self, context, payload, reading, reading.schema is None or not is_union(reading.schema)))

    def registry_schema(self, schema: Schema | None) -> tuple[str, str | None]:
        """The JSON Schema for a Connect schema, and its title."""
        if schema is None:
            problem = (
                "Data without a schema cannot be written with a JSON Schema: use JsonConverter, or a transform that adds one"
            )
            raise DataError(problem)
        text = from_connect(schema, self._options)
        return text, json.loads(text).get("title")

    def unreadable(self, registered: RegisteredSchema, text: str) -> list[str]:
        """Incompatibilities of the types and the required properties."""
        data = self.reading(RegisteredSchema(0, self.type, text), None, [0]).schema
        return [] if data is None else self._mismatches(registered, data)

    def misfits(self, registered: RegisteredSchema, schema: Schema) -> list[str]:
        """What `unreadable` says, but for nulls."""
        return self._mismatches(registered, without_nulls(schema))

    def never_null(self, registered: RegisteredSchema) -> list[tuple[str, ...]]:
        """The required properties of objects within objects."""
        reader = self.reading(registered, None, [0]).schema
        return [] if reader is None else list(required_paths(reader, json.loads(registered.text)))

    def _mismatches(self, registered: RegisteredSchema, data: Schema) -> list[str]:
        reader = self.reading(registered, None, [0]).schema
        return [] if reader is None else mismatches(reader, json.loads(registered.text), data, self._options.numeric_decimals)

    def writing(self, schema: Schema | None, registered: RegisteredSchema) -> Writing:
        """The plan that writes the JSON."""
        assert schema is not None
        return Writing(plan_of(schema, self._options))
