"""Connect data for plugins in Java and from them: JSON with schemas, which are learned from the records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from headrace.converters.base import HeaderConverter
from headrace.converters.json import JsonConverter
from headrace.converters.json_reading import envelope, enveloped
from headrace.spark.java_call import ChainPlugin, described
from headrace.values.compile_context import CompileContext
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, all_of, call, case, lit
from headrace.values.value import Value
from headrace.values.writing import JsonWriter, is_recursive, schema_text

_KAFKA_PACKAGE = "org.apache.kafka.connect."
_MAX_SCHEMAS = 64  # older ones are forgotten


def schema_and_payload(context: CompileContext, value: Value) -> tuple[Sql, Sql]:
    """A value for a plugin: the text of its schema, and its payload as JSON (binary); both are NULL if there is no value."""
    writer = JsonWriter(context, replace_null=False)
    cases = [a for a in value if a.value.kind != "null" or a.value.schema is not None]
    if not cases:
        return "string(NULL)", "cast(NULL as binary)"
    for a in cases:
        if is_recursive(a.value):
            context.fail(a.when, lit("A plugin in Java cannot be given data whose schema contains itself"))
    schema = case([(a.when, schema_text(a.value)) for a in cases])
    payload = case([(a.when, writer.typed(a.value, a.when)) for a in cases])
    return f"string({schema})", f"cast(string({payload}) as binary)"


def record_parts(record: ConnectRecord) -> Sql:
    """A record for a plugin: the struct that `PluginCall.java` takes."""
    key, value = (schema_and_payload(record.context, part) for part in (record.key, record.value))
    offset = "bigint(NULL)" if record.offset is None else record.offset
    parts = [record.topic, record.partition, offset, record.timestamp, *key, *value, record.headers, "in_topic"]
    return call("named_struct", *(x for n, sql in enumerate(parts) for x in (lit(f"_{n}"), sql)))


def header_settings(record: ConnectRecord) -> dict[str, Any]:
    """The connector's header converter for the plugin host; ByteArrayConverter if it is neither in Java nor one of Kafka's."""
    writer = record.headers_written
    if isinstance(writer, ChainPlugin):
        return described(writer, writer.props)
    if isinstance(writer, HeaderConverter) and getattr(type(writer), "plugin_name", "").startswith(_KAFKA_PACKAGE):
        return described(writer, writer.originals)
    return {"class": _KAFKA_PACKAGE + "converters.ByteArrayConverter", "location": None, "props": {}}


class PluginJsonConverter(JsonConverter):
    """Reads the JSON with schemas that Kafka's JsonConverter writes in the plugin host; unlike JsonConverter, it keeps NaN, the
    infinities and a negative zero.
    """

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Data by the schema that each record carries."""
        return enveloped(context, source, schemas, replace_null=False, bare=False, trusted=True)


class LearnedData:
    """Reads the results of a plugin by the schemas learned so far; the object is kept when a chain is compiled again.

    A plugin has one for each `CompileContext.chain`: each chain compiles and remembers only the schemas of its own records.
    """

    def __init__(self) -> None:
        self._known: list[str] = []
        self._has_learned = False

    def read(self, context: CompileContext, result: Sql, member: str) -> Value:
        """The value of a binary member of a plugin's result, JSON with schema; an unknown schema is requested.

        Before the first schema is learned each record sends a request, also one without schema: expressions of users cannot be
        compiled while no schema is known.
        """
        schema_texts = list(self._known)
        source = context.scope.bind(f"{result}.{member}")
        opened = context.scope.bind(envelope(source, schema_texts))
        if self._has_learned:
            context.request_schema_for(self, f"{opened}.schema")
        else:
            context.incomplete = True
            has_result = all_of(context.step_condition(), f"({result}.failure IS NULL)")
            context.request_schema_for(self, case([(has_result, f"coalesce({opened}.schema, '')")]))
        return enveloped(context, source, schema_texts, replace_null=False, bare=False, trusted=True)

    def learn(self, requests: Iterable[str], register: bool = True) -> None:
        """Remember the texts of schemas; the oldest are forgotten if there are too many."""
        self._has_learned = True
        new = [text for text in requests if text and text not in self._known]
        self._known = [*self._known[-_MAX_SCHEMAS:], *new]
