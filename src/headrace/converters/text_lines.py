"""Records as lines of text: the writers of a sink that writes text, instead of converters."""

from __future__ import annotations

from headrace.converters.base import WithoutRegistry
from headrace.values.compile_context import CompileContext
from headrace.values.sql import Sql, call, case, lit
from headrace.values.text import java_text
from headrace.values.value import Value


class TextLines(WithoutRegistry):
    """Java's `toString` as a string column; bytes are decoded as UTF-8, because their `toString` is not their content."""

    def write(self, context: CompileContext, value: Value) -> Sql:
        """The text; `null` for null."""
        texts = [(a.when, f"string({a.value.sql})" if a.value.kind == "bytes" else java_text(context, a.value)) for a in value]
        return call("coalesce", f"string({case(texts)})", lit("null"))


class NoWriter(WithoutRegistry):
    """The writer of a part of the record that a sink does not use."""

    def write(self, context: CompileContext, value: Value) -> Sql:
        """NULL, as binary."""
        return "cast(NULL as binary)"
