"""Converters in Java: they make the bytes of a connector in Java, where nothing of headrace's own stands between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headrace.converters.base import Converter, HeaderConverter
from headrace.errors import ConnectError
from headrace.spark.java_plugin import JavaPlugin
from headrace.values.sql import Sql

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext
    from headrace.values.value import Value


def _cannot(name: str) -> ConnectError:
    return ConnectError(
        f"{name} is written in Java and can convert only the records of a connector that is, with transforms in Java or Kafka's "
        "own, and with errors.tolerance=none."
    )


class JavaConverter(JavaPlugin, Converter):
    """A converter of keys or values that the host of plugins asks."""

    def __init__(self, props: Mapping[str, str], is_key: bool) -> None:
        """Take settings, which the class reads itself when its task starts."""

    def read(self, run: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Raise ConnectError: there is nothing to compile."""
        raise _cannot(self.plugin_name)

    def write(self, run: CompileContext, value: Value) -> Sql:
        """Raise ConnectError: there is nothing to compile."""
        raise _cannot(self.plugin_name)


class JavaHeaderConverter(JavaPlugin, HeaderConverter):
    """A converter of header values that the host of plugins asks."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Take settings, which the class reads itself when its task starts."""

    def write(self, value: Value, run: CompileContext) -> Sql:
        """Raise ConnectError: there is nothing to compile."""
        raise _cannot(self.plugin_name)
