"""Converters in Java, in a compiled chain: the host of plugins makes Connect data of bytes, and bytes of Connect data.

Where nothing of headrace's own stands between a connector in Java and its converter, the host makes the bytes without them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headrace.converters.base import Converter, HeaderConverter
from headrace.converters.connect_data import LearnedData, schema_and_payload
from headrace.spark.java_call import JavaCall, described, secrets_of
from headrace.spark.java_plugin import JavaPlugin
from headrace.values.sql import Sql, case, lit

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext
    from headrace.values.value import Value


class JavaConverter(JavaPlugin, Converter):
    """A converter of keys or values that the host of plugins asks."""

    def __init__(self, props: Mapping[str, str], is_key: bool) -> None:
        """Take settings, which the class reads itself when it is first used."""
        self.props = dict(props)
        self.is_key = is_key
        self._learned = defaultdict[int, LearnedData](LearnedData)
        self._calls: dict[str, JavaCall] = {}

    def read(self, run: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Connect data as the class reads it. Raises PluginError if there can be no instance of it."""
        source = run.scope.bind(source)
        called = f"headrace_plugin_read({lit(self._id('read'))}, named_struct('topic', in_topic, 'bytes', {source}))"
        out = run.scope.bind(case([(run.reached(), called)]))
        run.thrown(f"{out}.failure")
        return self._learned[run.chain].read(run, out, "bytes")

    def write(self, run: CompileContext, value: Value) -> Sql:
        """The bytes that the class writes. Raises PluginError if there can be no instance of it."""
        return _written(run, value, self._id("write"))

    def _id(self, kind: str) -> str:
        if kind not in self._calls:
            request = {"kind": kind, "key": self.is_key, "converter": described(self, self.props)}
            self._calls[kind] = JavaCall(self.host, {**request, "secrets": secrets_of([self]), **self.owner})
        return self._calls[kind].id

    def close(self) -> None:
        """Close the instances of the class."""
        for call in self._calls.values():
            call.close()


class JavaHeaderConverter(JavaPlugin, HeaderConverter):
    """A converter of header values that the host of plugins asks; headers that nothing changes stay as they are."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Take settings, which the class reads itself when it is first used."""
        self.props = dict(props)
        self._call: JavaCall | None = None

    def write(self, value: Value, run: CompileContext) -> Sql:
        """The bytes that the class writes. Raises PluginError if there can be no instance of it."""
        if self._call is None:
            request = {"kind": "header", "header": described(self, self.props), "secrets": secrets_of([self])}
            self._call = JavaCall(self.host, {**request, **self.owner})
        return _written(run, value, self._call.id)

    def close(self) -> None:
        """Close the instances of the class."""
        if self._call is not None:
            self._call.close()


def _written(run: CompileContext, value: Value, id: str) -> Sql:
    schema, payload = schema_and_payload(run, value)
    called = f"headrace_plugin_write({lit(id)}, named_struct('topic', {run.topic}, 'schema', {schema}, 'payload', {payload}))"
    out = run.scope.bind(case([(run.reached(), called)]))
    run.thrown(f"{out}.failure")
    return f"{out}.bytes"
