"""Converters in Java, in a compiled chain: the host of plugins makes Connect data of bytes, and bytes of Connect data.

Where nothing of headrace's own stands between a connector in Java and its converter, the host makes the bytes without them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace.converters.base import Converter, HeaderConverter
from headrace.converters.connect_data import LearnedData, schema_and_payload
from headrace.spark.java_call import ChainPlugin, described, secrets_of
from headrace.values.sql import Sql, call, case, lit

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord
    from headrace.values.value import Value


class JavaConverter(ChainPlugin, Converter):
    """A converter of keys or values that the host of plugins asks; it may read headers, and change them (KIP-440)."""

    def __init__(self, props: Mapping[str, str], is_key: bool) -> None:
        """Take settings, which the class reads itself when it is first used."""
        super().__init__(props)
        self.is_key = is_key
        self._learned = defaultdict[int, LearnedData](LearnedData)

    def read(self, run: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Connect data as the class reads it. Raises PluginError if there can be no instance of it."""
        out = self._call(run, "read", {"topic": "in_topic", "bytes": run.scope.bind(source)})
        return self._learned[run.chain].read(run, out, "bytes")

    def write(self, run: CompileContext, value: Value) -> Sql:
        """The bytes that the class writes. Raises PluginError if there can be no instance of it."""
        schema, payload = schema_and_payload(run, value)
        return f"{self._call(run, 'write', {'topic': run.topic, 'schema': schema, 'payload': payload})}.bytes"

    def _call(self, run: CompileContext, kind: str, given: Mapping[str, Sql]) -> Sql:
        """What the class makes of these parts and of the headers, which from here on are as it has left them."""
        id = self.call_id(kind, lambda: {**self._request(), "kind": kind})
        out = _called(run, f"headrace_plugin_{kind}", id, {**given, "headers": run.headers})
        run.headers = run.scope.bind(f"coalesce({out}.headers, {run.headers})")
        return out

    def _request(self) -> Mapping[str, Any]:
        return {"key": self.is_key, "converter": described(self, self.props), "secrets": secrets_of([self])}


class JavaHeaderConverter(ChainPlugin, HeaderConverter):
    """A converter of header values that the host of plugins asks; headers that nothing changes stay as they are."""

    def write(self, value: Value, record: ConnectRecord, name: str) -> Sql:
        """The bytes that the class writes. Raises PluginError if there can be no instance of it."""
        schema, payload = schema_and_payload(record.run, value)
        given = {"topic": record.topic, "name": lit(name), "schema": schema, "payload": payload}
        return f"{_called(record.run, 'headrace_plugin_header', self.call_id('write', self._request), given)}.bytes"

    def _request(self) -> Mapping[str, Any]:
        return {"kind": "header", "header": described(self, self.props), "secrets": secrets_of([self])}


def _called(run: CompileContext, function: str, id: str, given: Mapping[str, Sql]) -> Sql:
    parts = call("named_struct", *(x for name, sql in given.items() for x in (lit(name), sql)))
    out = run.scope.bind(case([(run.reached(), call(function, lit(id), parts))]))
    run.fail_with(f"{out}.failure")
    return out
