"""Connect data on its way to a plugin in Java and back: JSON with schemas, which are learned as records bring them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from headrace.converters.base import HeaderConverter
from headrace.converters.json import JsonConverter
from headrace.converters.json_reading import envelope, enveloped
from headrace.spark.java_call import ChainPlugin, described
from headrace.values.sql import Sql, all_of, call, case, lit
from headrace.values.value import Value
from headrace.values.writing import JsonWriter, is_recursive, schema_text

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord

_OF_KAFKA = "org.apache.kafka.connect."
_SCHEMAS = 64  # that are remembered


def schema_and_payload(run: CompileContext, value: Value) -> tuple[Sql, Sql]:
    """A value for a plugin: the text of its schema, and its payload as JSON (binary); both are NULL for nothing."""
    writer = JsonWriter(run, replace_null=False)
    there = [a for a in value if a.value.kind != "null" or a.value.schema is not None]
    if not there:
        return "string(NULL)", "cast(NULL as binary)"
    for a in there:
        if is_recursive(a.value):
            run.fail(a.when, lit("A plugin in Java cannot be given data whose schema contains itself"))
    schema = case([(a.when, schema_text(a.value)) for a in there])
    payload = case([(a.when, writer.typed(a.value, a.when)) for a in there])
    return f"string({schema})", f"cast(string({payload}) as binary)"


def record_parts(record: ConnectRecord) -> Sql:
    """A record for a plugin: the struct that `PluginCall.java` takes."""
    key, value = (schema_and_payload(record.run, part) for part in (record.key, record.value))
    offset = "bigint(NULL)" if record.offset is None else record.offset
    parts = [record.topic, record.partition, offset, record.timestamp, *key, *value, record.headers, "in_topic"]
    return call("named_struct", *(x for n, sql in enumerate(parts) for x in (lit(f"_{n}"), sql)))


def header_settings(record: ConnectRecord) -> dict[str, Any]:
    """The connector's header converter for the host of plugins; Kafka's for bytes where it is neither in Java nor Kafka's."""
    writer = record.headers_written
    if isinstance(writer, ChainPlugin):
        return described(writer, writer.props)
    if isinstance(writer, HeaderConverter) and getattr(type(writer), "plugin_name", "").startswith(_OF_KAFKA):
        return described(writer, writer.originals)
    return {"class": _OF_KAFKA + "converters.ByteArrayConverter", "location": None, "props": {}}


class JsonOfPlugins(JsonConverter):
    """What Kafka's JsonConverter has written with schemas where plugins in Java run: read as what it was before, which
    JsonConverter itself does not do with NaN, the infinities and a negative zero.
    """

    def read(self, run: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Data by the schema that each record carries."""
        return enveloped(run, source, schemas, replace_null=False, bare=False, trusted=True)


class LearnedData:
    """What a plugin has made, with the schemas that were met: the same object each time that a chain is compiled.

    A plugin has one for each `CompileContext.chain`: those of the others would be code for nothing, and forget its own.
    """

    def __init__(self) -> None:
        self._known: list[str] = []
        self._asked = False

    def read(self, run: CompileContext, made: Sql, member: str) -> Value:
        """The value of a binary member of what a plugin has made, JSON with schema; a schema that is not known is asked for.

        Before any is known each record asks, also one without: expressions of users cannot be compiled for no schema at all.
        """
        known = list(self._known)
        source = run.scope.bind(f"{made}.{member}")
        opened = run.scope.bind(envelope(source, known))
        if self._asked:
            run.ask_for(self, f"{opened}.schema")
        else:
            run.incomplete = True
            there = all_of(run.reached(), f"({made}.failure IS NULL)")
            run.ask_for(self, case([(there, f"coalesce({opened}.schema, '')")]))
        return enveloped(run, source, known, replace_null=False, bare=False, trusted=True)

    def learn(self, wanted: Iterable[str], register: bool = True) -> None:
        """Remember the texts of schemas; the oldest are forgotten where there are too many."""
        self._asked = True
        new = [text for text in wanted if text and text not in self._known]
        self._known = [*self._known[-_SCHEMAS:], *new]
