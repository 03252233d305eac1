"""JsonConverter: JSON text, with or without Connect's schema envelope."""

from __future__ import annotations

import json
from collections.abc import Sequence

from headrace.config import Importance, Type, Width, option, validators
from headrace.config.example import Example
from headrace.converters.base import Converter, ConverterType, HeaderConverter, normal_headers
from headrace.converters.json_reading import envelope, enveloped, schemaless
from headrace.errors import DataError
from headrace.plugins import Kind, plugin
from headrace.values.compile_context import CompileContext
from headrace.values.record import ConnectRecord
from headrace.values.schema_parsing import parse
from headrace.values.sql import Sql, case, concat, lit
from headrace.values.value import Value
from headrace.values.writing import JsonWriter, is_recursive, schema_text, with_numbers

NAME = "org.apache.kafka.connect.json.JsonConverter"


_SCHEMAS = {"importance": Importance.HIGH, "group": "Schemas", "width": Width.MEDIUM}
_SERIALIZATION = {"importance": Importance.LOW, "group": "Serialization", "width": Width.MEDIUM}


class JsonConverterConfig(ConverterType):
    """The options of Kafka's `JsonConverterConfig`."""

    schemas_enable: bool = option(
        "schemas.enable",
        Type.BOOLEAN,
        True,
        order=0,
        display_name="Enable Schemas",
        **_SCHEMAS,
        doc="Include schemas within each of the serialized values and keys.",
    )
    schemas_cache_size: int = option(
        "schemas.cache.size",
        Type.INT,
        1000,
        order=1,
        display_name="Schema Cache Size",
        **_SCHEMAS,
        doc="The maximum number of schemas that can be cached in this converter instance.",
        without_effect="schemas in use stay in memory",
    )
    schema_content: str | None = option(
        "schema.content",
        Type.STRING,
        None,
        order=2,
        display_name="Schema Content",
        **_SCHEMAS,
        doc="When set, this is used as the schema for all messages, and the schemas within each of the message will be "
        "ignored. Otherwise, the schema will be included in the content of each message. This configuration applies "
        "only 'schemas.enable' is true, and it exclusively affects the sink connector.",
    )
    decimal_format: str = option(
        "decimal.format",
        Type.STRING,
        "BASE64",
        convert=str.upper,
        order=0,
        validator=validators.CaseInsensitiveValidString("NUMERIC", "BASE64"),
        display_name="Decimal Format",
        **_SERIALIZATION,
        doc="Controls which format this converter will serialize decimals in. This value is case insensitive and can be "
        "either 'BASE64' (default) or 'NUMERIC'",
    )
    replace_null_with_default: bool = option(
        "replace.null.with.default",
        Type.BOOLEAN,
        True,
        order=1,
        display_name="Replace null with default",
        **_SERIALIZATION,
        doc="Whether to replace fields that have a default value and that are null to the default value. When set to "
        "true, the default value is used, otherwise null is used.",
    )

    def check(self) -> None:
        """Refuse a `schema.content` that is no schema, also where it has no effect, as Kafka does. Raises DataError."""
        if self.fixed_schema is not None:
            parse(self.fixed_schema)

    @property
    def fixed_schema(self) -> str | None:
        """The text of the schema in `schema.content`, None if it has none. What comes after the schema has no effect."""
        content = (self.schema_content or "").strip()
        if not content:
            return None
        try:
            node, end = json.JSONDecoder().raw_decode(content)
        except ValueError as error:
            raise DataError(f"Failed to parse schema in converter config due to serialization error: {error}") from error
        return None if node is None else content[:end]


@plugin(NAME, Kind.CONVERTER)
class JsonConverter(JsonConverterConfig, Converter):
    """JSON (Kafka's `JsonConverter`): bytes as base64 text, text as a JSON string."""

    examples = (
        Example({"schemas.enable": "false"}, {"bytes": b'{"id":7}'.hex()}, {"schema": None, "payload": {"id": 7}}),
        Example(
            {},
            {"bytes": b'{"schema":{"type":"int8"},"payload":7}'.hex()},
            {"schema": {"type": "int8", "optional": False}, "payload": 7},
        ),
    )

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Schemaless data, or data with the schema that each record carries."""
        content = self.fixed_schema
        if not self.schemas_enable:
            return schemaless(context, source)
        return enveloped(context, source, [content] if content else schemas, self.replace_null_with_default, bool(content))

    def write(self, context: CompileContext, value: Value) -> Sql:
        """JSON text, in the envelope `{"schema":…,"payload":…}` if `schemas.enable` is true."""
        return written(context, value, self)

    def schema_in(self, source: Sql, known_texts: Sequence[str]) -> Sql | None:
        """The text of `schema` in the envelope, if it is not known."""
        if not self.schemas_enable or self.fixed_schema:
            return None
        return envelope(source, known_texts) + ".schema"


_RECURSIVE = (
    "JsonConverter has no form for a schema that contains itself: set schemas.enable=false, or write Avro, Protobuf or "
    "JSON Schema"
)


def written(context: CompileContext, value: Value, config: JsonConverterConfig) -> Sql:
    """The binary of a value as JSON."""
    numeric = config.decimal_format == "NUMERIC"
    writer = JsonWriter(context, config.replace_null_with_default, numeric, checks_gaps=True)
    branches = []
    for a in value:
        if a.value.kind == "null" and a.value.schema is None:
            continue
        text = writer.typed(a.value, a.when)
        if config.schemas_enable:
            if is_recursive(a.value):
                context.fail(a.when, lit(_RECURSIVE))
            text = concat(lit('{"schema":'), schema_text(a.value, numeric=numeric), lit(',"payload":'), text, lit("}"))
        branches.append((a.when, text))
    return f"cast(string({case(branches)}) as binary)"


@plugin(NAME, Kind.HEADER_CONVERTER)
class JsonHeaderConverter(JsonConverterConfig, HeaderConverter):
    """Header values as JSON."""

    examples = (
        Example({"schemas.enable": "false"}, {"schema": {"type": "int8"}, "payload": 7}, {"text": "7"}),
        Example(
            {}, {"schema": {"type": "int8"}, "payload": 7}, {"text": '{"schema":{"type":"int8","optional":false},"payload":7}'}
        ),
    )

    def read(self, context: CompileContext, headers: Sql) -> Sql:
        """Header values as JSON without white space; in the envelope of `schema.content`, if it is set."""
        return normal_headers(context, headers, self._form())

    def _form(self) -> str:
        if not self.schemas_enable:
            return "json"
        schema = None if self.fixed_schema is None else parse(self.fixed_schema)
        if schema is None:
            return "envelope"
        numeric = self.decimal_format == "NUMERIC"
        mode = ("n" if numeric else "") + ("d" if self.replace_null_with_default else "")
        return f"content {mode} {(with_numbers(schema) if numeric else schema).text()}"

    def write(self, value: Value, record: ConnectRecord, name: str) -> Sql:
        """JSON text."""
        return written(record.context, value, self)
