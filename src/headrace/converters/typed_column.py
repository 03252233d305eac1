"""Readers for sources whose records are typed columns instead of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.converters.base import WithoutRegistry
from headrace.values.results import with_schema
from headrace.values.schema import Schema
from headrace.values.sql import Sql
from headrace.values.value import NULL, TypedValue, Value, always

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from headrace.values.compile_context import CompileContext


@dataclass(frozen=True)
class TypedColumn(WithoutRegistry):
    """Reads a column of a kind: "bytes" (binary) and "string" (string) have Connect's optional schema, "line" is a string that is
    never null, with a required schema, "null" has no schema.

    A Spark type as the kind has the optional schema of that type.
    """

    kind: str | DataType
    """One of the words above, or a Spark type."""

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """The column as Connect data. Raises ConfigError for a Spark type that has no counterpart in Connect."""
        if not isinstance(self.kind, str):
            return with_schema(self.kind, source)
        if self.kind == "null":
            return always(NULL)
        kind = "string" if self.kind == "line" else self.kind
        return always(TypedValue(kind, source, Schema(kind, optional=self.kind != "line")))

    def schema_in(self, source: Sql, known_texts: Sequence[str]) -> Sql | None:
        """None: the records carry no schemas."""
        return None


class TypedHeaders:
    """Reads the headers of a source, which are bytes already."""

    def read(self, context: CompileContext, headers: Sql) -> Sql:
        """The headers."""
        return headers
