"""StringConverter: text as UTF-8, or in another of Java's character sets that Spark supports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from headrace.config import Importance, Type, Width, option
from headrace.config.example import Example
from headrace.converters.base import Converter, ConverterType, HeaderConverter, normal_headers
from headrace.errors import ConnectError
from headrace.plugins import Kind, plugin
from headrace.values.compile_context import CompileContext
from headrace.values.literal import evaluated
from headrace.values.record import ConnectRecord
from headrace.values.schema import Schema
from headrace.values.sql import Sql, all_of, call, case, lit
from headrace.values.text import java_text
from headrace.values.value import TypedValue, Value, always

NAME = "org.apache.kafka.connect.storage.StringConverter"


class StringConverterConfig(ConverterType):
    """The options of Kafka's `StringConverterConfig`."""

    encoding: str = option(
        "converter.encoding",
        Type.STRING,
        "UTF-8",
        importance=Importance.HIGH,
        width=Width.MEDIUM,
        display_name="Encoding",
        doc="The name of the Java character set to use for encoding strings as byte arrays.",
    )


@plugin(NAME, Kind.CONVERTER)
class StringConverter(StringConverterConfig, Converter):
    """Writes text in the configured encoding (Kafka's `StringConverter`)."""

    examples = (
        Example({}, {"bytes": "636166c3a9"}, {"schema": {"type": "string", "optional": True}, "payload": "café"}),
        Example(
            {"converter.encoding": "ISO-8859-1"},
            {"bytes": "636166e9"},
            {"schema": {"type": "string", "optional": True}, "payload": "café"},
        ),
    )

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Text with Connect's optional string schema; malformed bytes become U+FFFD."""
        text = call("headrace_decode", source, lit(charset(self.encoding)))
        return always(TypedValue("string", text, Schema("string", optional=True)))

    def write(self, context: CompileContext, value: Value) -> Sql:
        """The result of Java's `toString`, encoded."""
        return written(context, value, self.encoding)


def written(context: CompileContext, value: Value, encoding: str) -> Sql:
    """The text of a value; bytes fail, because their `toString` ([B@1b6d3586) is not their content (docs/parity.md)."""
    charset(encoding)
    branches = []
    for a in value:
        if a.value.kind == "bytes":
            context.fail(all_of(a.when, f"({a.value.sql} IS NOT NULL)"), lit(_NO_BYTES))
        else:
            branches.append((a.when, java_text(context, a.value)))
    return call("headrace_encode", f"string({case(branches)})", lit(encoding))


class SerializationError(ConnectError):
    """Data cannot be written as bytes, or read from them."""

    java_class = "org.apache.kafka.common.errors.SerializationException"


@cache
def charset(encoding: str) -> str:
    """The name of a character set. Raises SerializationError, which ends the task, if Spark's Java has none of this name."""
    if encoding.upper() != "UTF-8" and not evaluated(call("headrace_is_charset", lit(encoding))):
        raise SerializationError(f"Unsupported encoding {encoding}")
    return encoding


_NO_BYTES = (
    "StringConverter cannot write bytes: their text would not be the data; "
    "use org.apache.kafka.connect.converters.ByteArrayConverter for an exact copy"
)


@plugin(NAME, Kind.HEADER_CONVERTER)
class StringHeaderConverter(StringConverterConfig, HeaderConverter):
    """Header values as text."""

    examples = (
        Example({}, {"schema": {"type": "string"}, "payload": "café"}, {"bytes": "636166c3a9"}),
        Example({"converter.encoding": "ISO-8859-1"}, {"schema": {"type": "string"}, "payload": "café"}, {"bytes": "636166e9"}),
    )

    def read(self, context: CompileContext, headers: Sql) -> Sql:
        """Malformed bytes become U+FFFD."""
        return normal_headers(context, headers, "string " + charset(self.encoding))

    def write(self, value: Value, record: ConnectRecord, name: str) -> Sql:
        """The result of Java's `toString`, encoded."""
        return written(record.context, value, self.encoding)
