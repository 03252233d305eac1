"""Converters in Java, within a compiled chain: the plugin host converts bytes to Connect data and back.

If only Java plugins run between a connector in Java and its converter, the host converts the data itself, without these classes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from headrace.converters.base import Converter, HeaderConverter
from headrace.converters.connect_data import LearnedData, schema_and_payload
from headrace.spark.java_call import ChainPlugin, described, secrets_of
from headrace.values.compile_context import CompileContext
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, call, case, lit
from headrace.values.value import Value


class JavaConverter(ChainPlugin, Converter):
    """A converter of keys or values that the plugin host calls; it may read and change headers (KIP-440)."""

    def __init__(self, props: Mapping[str, str], is_key: bool) -> None:
        """props: settings, which the Java class parses when it is first used."""
        super().__init__(props)
        self.is_key = is_key
        self._learned = defaultdict[int, LearnedData](LearnedData)

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Connect data as the Java class reads it. Raises PluginError if no instance of the class can be created."""
        out = self._call(context, "read", {"topic": "in_topic", "bytes": context.scope.bind(source)})
        return self._learned[context.chain].read(context, out, "bytes")

    def write(self, context: CompileContext, value: Value) -> Sql:
        """The bytes that the Java class writes. Raises PluginError if no instance of the class can be created."""
        schema, payload = schema_and_payload(context, value)
        return f"{self._call(context, 'write', {'topic': context.topic, 'schema': schema, 'payload': payload})}.bytes"

    def _call(self, context: CompileContext, kind: str, arguments: Mapping[str, Sql]) -> Sql:
        """The result of the Java class for these arguments and the headers; later steps see the headers that it has returned."""
        id = self.call_id(kind, lambda: {**self._request(), "kind": kind})
        out = _call_plugin(context, f"headrace_plugin_{kind}", id, {**arguments, "headers": context.headers})
        context.headers = context.scope.bind(f"coalesce({out}.headers, {context.headers})")
        return out

    def _request(self) -> Mapping[str, Any]:
        return {"key": self.is_key, "converter": described(self, self.props), "secrets": secrets_of([self])}


class JavaHeaderConverter(ChainPlugin, HeaderConverter):
    """A converter of header values that the plugin host calls; headers that no step changes keep their bytes."""

    def write(self, value: Value, record: ConnectRecord, name: str) -> Sql:
        """The bytes that the Java class writes. Raises PluginError if no instance of the class can be created."""
        schema, payload = schema_and_payload(record.context, value)
        arguments = {"topic": record.topic, "name": lit(name), "schema": schema, "payload": payload}
        return f"{_call_plugin(record.context, 'headrace_plugin_header', self.call_id('write', self._request), arguments)}.bytes"

    def _request(self) -> Mapping[str, Any]:
        return {"kind": "header", "header": described(self, self.props), "secrets": secrets_of([self])}


def _call_plugin(context: CompileContext, function: str, id: str, arguments: Mapping[str, Sql]) -> Sql:
    parts = call("named_struct", *(x for name, sql in arguments.items() for x in (lit(name), sql)))
    out = context.scope.bind(case([(context.step_condition(), call(function, lit(id), parts))]))
    context.fail_with(f"{out}.failure")
    return out
