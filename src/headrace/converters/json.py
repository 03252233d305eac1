"""JsonConverter: JSON text, with or without Connect's schema envelope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.config import ConfigDef, Importance, Option, Type, Width, validators
from headrace.converters.base import Converter, HeaderConverter, type_option
from headrace.plugins import Kind, plugin

if TYPE_CHECKING:
    from pyspark.sql import Column

NAME = "org.apache.kafka.connect.json.JsonConverter"


def _definition() -> ConfigDef:
    schemas = {"importance": Importance.HIGH, "group": "Schemas", "width": Width.MEDIUM}
    serialization = {"importance": Importance.LOW, "group": "Serialization", "width": Width.MEDIUM}
    return ConfigDef([
        type_option(),
        Option("schemas.enable", Type.BOOLEAN, default=True, order=0, display_name="Enable Schemas", **schemas,
               doc="Include schemas within each of the serialized values and keys."),
        Option("schemas.cache.size", Type.INT, default=1000, order=1, display_name="Schema Cache Size", **schemas,
               doc="The maximum number of schemas that can be cached in this converter instance."),
        Option("schema.content", Type.STRING, default=None, order=2, display_name="Schema Content", **schemas,
               doc="When set, this is used as the schema for all messages, and the schemas within each of the message will be "
                   "ignored. Otherwise, the schema will be included in the content of each message. This configuration applies "
                   "only 'schemas.enable' is true, and it exclusively affects the sink connector."),
        Option("decimal.format", Type.STRING, default="BASE64", order=0,
               validator=validators.CaseInsensitiveValidString("NUMERIC", "BASE64"), display_name="Decimal Format",
               **serialization,
               doc="Controls which format this converter will serialize decimals in. This value is case insensitive and can be "
                   "either 'BASE64' (default) or 'NUMERIC'"),
        Option("replace.null.with.default", Type.BOOLEAN, default=True, order=1, display_name="Replace null with default",
               doc="Whether to replace fields that have a default value and that are null to the default value. When set to "
                   "true, the default value is used, otherwise null is used.", **serialization),
    ])  # fmt: skip


@plugin(NAME, Kind.CONVERTER)
class JsonConverter(Converter):
    """Writes JSON (Kafka's `JsonConverter`): bytes as base64 text, text as a JSON string."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options of Kafka's `JsonConverterConfig`."""
        return _definition()

    def to_bytes(self, column: Column, kind: str) -> Column:
        """JSON text as binary, in `{"schema":…,"payload":…}` when `schemas.enable` is on; NULL is JSON's null."""
        from pyspark.sql import functions as F

        text = _base64(column) if kind == "bytes" else _quoted(column)
        payload = F.coalesce(text, F.lit("null"))
        if self.settings["schemas.enable"]:
            schema = f'{{"schema":{{"type":"{kind}","optional":true}},"payload":'
            payload = F.concat(F.lit(schema), payload, F.lit("}"))
        return payload.cast("binary")


def _base64(column: Column) -> Column:
    from pyspark.sql import functions as F

    # Spark breaks base64 text into lines of 76 characters; Java's encoder, and so JSON's, does not.
    return F.concat(F.lit('"'), F.translate(F.base64(column), "\r\n", ""), F.lit('"'))


def _quoted(column: Column) -> Column:
    from pyspark.sql import functions as F

    array = F.to_json(F.array(column))
    return F.when(column.isNotNull(), F.substr(array, F.lit(2), F.length(array) - F.lit(2)))


@plugin(NAME, Kind.HEADER_CONVERTER)
class JsonHeaderConverter(HeaderConverter):
    """Header values as JSON."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options of Kafka's `JsonConverterConfig`."""
        return _definition()
