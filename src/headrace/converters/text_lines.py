"""Records as lines of text: what a sink that writes text has in the place of converters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.converters.base import WithoutRegistry
from headrace.values.sql import Sql, call, case, lit
from headrace.values.text import java_text

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext
    from headrace.values.value import Value


class TextLines(WithoutRegistry):
    """Java's `toString` as a string column; bytes, whose `toString` is not the data, are the text that they hold in UTF-8."""

    def write(self, run: CompileContext, value: Value) -> Sql:
        """The text; `null` for null."""
        texts = [(a.when, f"string({a.value.sql})" if a.value.kind == "bytes" else java_text(run, a.value)) for a in value]
        return call("coalesce", f"string({case(texts)})", lit("null"))


class NoWriter(WithoutRegistry):
    """For a part of the record that a sink does not use."""

    def write(self, run: CompileContext, value: Value) -> Sql:
        """NULL, as binary."""
        return "cast(NULL as binary)"
