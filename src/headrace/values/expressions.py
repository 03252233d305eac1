"""Expressions of users over the columns of a record (`headrace.values.columns`); their result types are known before they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.errors import ConfigError
from headrace.sql_functions import F
from headrace.values.columns import expression, types
from headrace.values.sql import Sql, all_of, lit

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

    from headrace.values.record import ConnectRecord

Fit = Callable[["Column", "DataType"], "Column"]
"""Casts a result to the required type. Raises ConfigError, in a sentence about `It`, for a type that cannot be cast."""


@dataclass(frozen=True)
class Expression:
    """An expression of a user."""

    option: str
    """Of the configuration, for messages."""
    text: str
    """SQL, or a description where `column` is set."""
    column: Column | None = None
    """None: `text` is the expression."""
    fit: Fit = lambda column, _type: column
    """Casts the result to the type that is needed."""

    def to_column(self) -> Column:
        """The expression as a Column. Raises ConfigError if the SQL text cannot be read."""
        from pyspark.errors import PySparkException

        try:
            return F.expr(self.text) if self.column is None else self.column
        except PySparkException as error:
            raise self.wrong(spark_message(error)) from error

    def wrong(self, why: str) -> ConfigError:
        """The error for this expression."""
        return ConfigError.invalid(self.option, self.text, why)


@dataclass(frozen=True)
class ExpressionResult:
    """The column with the result of an expression, and its type."""

    sql: Sql
    type: DataType


def evaluate(record: ConnectRecord, expressions: Mapping[str, Expression]) -> dict[str, ExpressionResult]:
    """The results of expressions over the current record; a record for which an expression fails, fails at the current step.

    Raises ConfigError for an expression that Spark does not accept, or that is not about one record.
    """
    from pyspark.sql.types import NullType

    context, types_by_name = record.context, types(record)
    # Before the first schema is known there are no fields: records that are not null wait until their schema is learned.
    unread = any(all(a.value.kind == "null" for a in part) for part in (record.key, record.value))
    columns: dict[str, Column] = {}
    found_types: dict[str, DataType] = {}
    names: set[str] = set()
    # Spark evaluates common subexpressions outside of the expressions, where a failure would fail all of them; it does not do so
    # inside of a condition that it cannot simplify.
    guard = all_of(context.reached_when, f"(length({context.scope.bind(record.topic)}) >= 0)") or "true"
    for key, text in expressions.items():
        column = text.to_column()
        try:
            type_, _ = _analyzed(text, column, types_by_name)
        except ConfigError:
            if not unread:
                raise
            column, type_ = F.lit(None), NullType()
        try:
            column = text.fit(column, type_)
        except ConfigError as error:
            raise text.wrong(str(error)) from error
        found_types[key], used = _analyzed(text, column, types_by_name)
        names |= used
        columns[key] = F.call_function("headrace_try", F.when(F.expr(guard), F.struct(column.alias("v"))))
    places = context.scope.bind_named({n: expression(context, record, n) for n in types_by_name if n in names}, columns)
    for key, text in expressions.items():
        context.fail(f"({guard} AND {places[key]} IS NULL)", lit(f"The expression {text.text} of '{text.option}' failed"))
    return {key: ExpressionResult(f"{place}.v", found_types[key]) for key, place in places.items()}


def _analyzed(expression: Expression, column: Column, types_by_name: Mapping[str, str]) -> tuple[DataType, set[str]]:
    """The type of an expression, and the names that it uses."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    spark = SparkSession.active()
    frame = spark.sql(f"SELECT {', '.join(f'CAST(NULL AS {ddl}) AS {name}' for name, ddl in types_by_name.items())}")
    try:
        selected = frame.select(column.alias("result"))
        plan: Any = selected._jdf.queryExecution().analyzed()  # type: ignore[operator]
        type_ = selected.schema["result"].dataType
    except PySparkException as error:
        raise expression.wrong(spark_message(error)) from error
    if _nodes(plan) != ["Project", "Project", "OneRowRelation"] or not plan.subqueries().isEmpty():
        raise expression.wrong("It has to be about one record: no aggregates, no window functions, no explode, no subqueries")
    if "CallMethodViaReflection" in plan.toJSON():
        raise expression.wrong("Calls of Java methods are not allowed")
    references = plan.references().toSeq()
    return type_, {references.apply(i).name() for i in range(references.size())}


def _nodes(plan: Any) -> list[str]:
    operators = [plan.nodeName()]
    while plan.children().size() == 1:
        plan = plan.children().apply(0)
        operators.append(plan.nodeName())
    return operators


def spark_message(error: Exception) -> str:
    """Spark's error message about an expression, in one line."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", first).rstrip()
