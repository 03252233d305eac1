"""JsonSchemaConverter: JSON behind the id of its JSON Schema in a registry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.config import ConfigDef, Importance, Option, Type
from headrace.converters.base import type_option
from headrace.converters.registered import RegisteredConverter, Writing
from headrace.converters.registered_reading import read_payload
from headrace.errors import ConfigError, DataError
from headrace.json_schema.from_connect import from_connect
from headrace.json_schema.mapping import JsonSchemaOptions, is_union
from headrace.json_schema.plans import plan_of
from headrace.json_schema.to_connect import to_connect
from headrace.plugins import Kind, plugin
from headrace.registry.client import RegisteredSchema
from headrace.registry.options import flag, registry_options, shared_options
from headrace.registry.reading import Reading
from headrace.values.schema import Schema
from headrace.values.sql import Sql
from headrace.values.value import Value

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext

NAME = "io.confluent.connect.json.JsonSchemaConverter"
_FORMATS = ("BASE64", "NUMERIC")


def _definition() -> ConfigDef:
    return ConfigDef([
        type_option(),
        *registry_options(),
        flag("object.additional.properties", True, "Allow objects to have properties that their schema does not name."),
        flag("use.optional.for.nonrequired", False, "Read properties that are not required as optional."),
        Option("decimal.format", Type.STRING, "BASE64", importance=Importance.LOW,
               doc="How decimals are written: BASE64, their bytes, or NUMERIC, a number."),
        flag("flatten.singleton.unions", True, "Read a union of one type as that type."),
        flag("preserve.additional.properties", False, "Only the default, false, is there."),
        *shared_options("schemas.cache.size"),
    ])  # fmt: skip


@plugin(NAME, Kind.CONVERTER)
class JsonSchemaConverter(RegisteredConverter):
    """JSON with a JSON Schema in a schema registry (Confluent's `JsonSchemaConverter`)."""

    format, type = "JSON", "JSON"
    problems = (
        "Converting byte[] to Kafka Connect data failed due to serialization error of topic {}: ",
        "Converting Kafka Connect data to byte[] failed due to serialization error of topic {}: ",
    )

    @classmethod
    def definition(cls) -> ConfigDef:
        """The converter's options."""
        return _definition()

    @property
    def _options(self) -> JsonSchemaOptions:
        settings, decimals = self.settings, self.settings["decimal.format"].strip().upper()
        if decimals not in _FORMATS:
            raise ConfigError.invalid("decimal.format", settings["decimal.format"], f"it has to be {' or '.join(_FORMATS)}")
        if settings["preserve.additional.properties"]:
            raise ConfigError.invalid("preserve.additional.properties", "true", "Connect data here has no variants")
        return JsonSchemaOptions(
            additional_properties=settings["object.additional.properties"],
            optional_for_nonrequired=settings["use.optional.for.nonrequired"],
            numeric_decimals=decimals == "NUMERIC",
            flatten_unions=settings["flatten.singleton.unions"],
            general_sums=settings["generalized.sum.type.support"],
            keep_null=settings["ignore.default.for.nullables"],
        )

    def reading(self, schema: RegisteredSchema, version: int | None, indexes: Sequence[int]) -> Reading:
        """The schema of Connect, and the plan that reads the JSON."""
        found = to_connect(schema.text, self._options, version, self.registry.references(schema))
        return Reading(found, plan_of(found, self._options))

    def read_payload(self, run: CompileContext, payload: Sql, reading: Reading) -> Value:
        """The value that the JSON is; other bytes are a fault."""
        return read_payload(self, run, payload, reading, reading.schema is None or not is_union(reading.schema))

    def described(self, schema: Schema | None) -> tuple[str, str | None]:
        """The JSON Schema of a schema of Connect, and its title."""
        if schema is None:
            what = "Data without a schema cannot be written with a JSON Schema: use JsonConverter, or a transform that adds one"
            raise DataError(what)
        text = from_connect(schema, self._options)
        return text, json.loads(text).get("title")

    def writing(self, schema: Schema | None, registered: RegisteredSchema) -> Writing:
        """What writes the JSON."""
        assert schema is not None
        return Writing(plan_of(schema, self._options))
