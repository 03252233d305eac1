"""What a source gives without bytes to convert: a column that has its type already."""

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
    never null and whose schema has it so, "null" has none.

    A Spark type as the kind stands for the optional schema of that type.
    """

    kind: str | DataType

    def read(self, run: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """The column, typed. Raises ConfigError for a Spark type that Connect has nothing for."""
        if not isinstance(self.kind, str):
            return with_schema(self.kind, source)
        if self.kind == "null":
            return always(NULL)
        kind = "string" if self.kind == "line" else self.kind
        return always(TypedValue(kind, source, Schema(kind, optional=self.kind != "line")))

    def schema_in(self, source: Sql, known: Sequence[str]) -> Sql | None:
        """There is no schema in the column."""
        return None


class TypedHeaders:
    """Headers of a source are bytes and stay as they are."""

    def read(self, run: CompileContext, headers: Sql) -> Sql:
        """The headers."""
        return headers
