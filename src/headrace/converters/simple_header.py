"""SimpleHeaderConverter: header values as text whose type is inferred when read; the worker's default."""

from __future__ import annotations

from headrace.config.example import Example
from headrace.converters.base import HeaderConverter, normal_headers
from headrace.plugins import Kind, plugin
from headrace.values.compile_context import CompileContext
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, case
from headrace.values.text import header_text
from headrace.values.value import Value


@plugin("org.apache.kafka.connect.storage.SimpleHeaderConverter", Kind.HEADER_CONVERTER)
class SimpleHeaderConverter(HeaderConverter):
    """Header values as text, their types inferred (Kafka's `Values`)."""

    examples = (
        Example({}, {"schema": {"type": "array", "items": {"type": "int32"}}, "payload": [1, 2]}, {"text": "[1,2]"}),
        Example({}, {"schema": {"type": "string"}, "payload": "café"}, {"text": "café"}),
    )

    def read(self, context: CompileContext, headers: Sql) -> Sql:
        """Each value as Connect writes it after inferring its type: `[1, 2]` becomes `[1,2]`, `+5` becomes `5`."""
        return normal_headers(context, headers, "simple")

    def write(self, value: Value, record: ConnectRecord, name: str) -> Sql:
        """The text of the value; NULL for null."""
        text = case([(a.when, header_text(record.context, a.value)) for a in value])
        return f"cast(string({text}) as binary)"
