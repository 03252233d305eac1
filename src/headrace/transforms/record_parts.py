"""Sets parts of a record, or fields of them, to the results of expressions; used by Sql and by column transforms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.errors import ConfigError
from headrace.sql_functions import F
from headrace.values import results
from headrace.values.kinds import JAVA
from headrace.values.record import open_struct, struct
from headrace.values.schema import Schema
from headrace.values.sql import case, lit, negated
from headrace.values.value import Case, OpenStruct, Value, combined, only_when, present

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

    from headrace.values.compile_context import CompileContext
    from headrace.values.expressions import ExpressionResult, Fit
    from headrace.values.record import ConnectRecord

PARTS = ("key", "value", "topic", "partition", "timestamp", "headers")


def fit_to(part: str) -> Fit:
    """The cast of a result to the type of a part."""
    return _FITS.get(part, lambda column, _type: column)


def _type_error(type_: DataType, expected: str) -> ConfigError:
    return ConfigError(f"It gives {type_.simpleString().upper()}, not {expected}; cast it")


def _topic(column: Column, type_: DataType) -> Column:
    from pyspark.sql.types import NullType, StringType

    if not isinstance(type_, (StringType, NullType)):
        raise _type_error(type_, "STRING")
    return column.cast("string")


def _partition(column: Column, type_: DataType) -> Column:
    from pyspark.sql.types import IntegralType, NullType

    if not isinstance(type_, (IntegralType, NullType)):
        raise _type_error(type_, "an integer")
    return column.cast("int")


def _timestamp(column: Column, type_: DataType) -> Column:
    from pyspark.sql.types import DateType, IntegralType, NullType, TimestampNTZType, TimestampType

    if isinstance(type_, (IntegralType, NullType)):
        return column.cast("bigint")
    if not isinstance(type_, (DateType, TimestampType, TimestampNTZType)):
        raise _type_error(type_, "TIMESTAMP, DATE or an integer (ms since the epoch)")
    return F.unix_millis(column.cast("timestamp"))


def _headers(column: Column, type_: DataType) -> Column:
    from pyspark.sql.types import ArrayType, BinaryType, MapType, NullType, StringType, StructType

    element = type_.elementType if isinstance(type_, ArrayType) else None
    types: list[DataType] = [f.dataType for f in element.fields] if isinstance(element, StructType) else []
    if isinstance(type_, MapType):
        column, types = F.map_entries(column), [type_.keyType, type_.valueType]
    ok = len(types) == 2 and isinstance(types[0], StringType) and isinstance(types[1], (StringType, BinaryType, NullType))
    if not ok and not isinstance(type_, NullType):
        raise _type_error(type_, "an ARRAY of STRUCTs of STRING and BINARY or STRING, nor a MAP of them")
    return column.cast("array<struct<key:string,value:binary>>")


_FITS: Mapping[str, Callable[[Column, DataType], Column]] = {
    "topic": _topic,
    "partition": _partition,
    "timestamp": _timestamp,
    "headers": _headers,
}


def with_parts(record: ConnectRecord, results: Mapping[str, ExpressionResult]) -> ConnectRecord:
    """The record with parts set; a record whose part cannot have the result fails at the current step."""
    context, changed = record.context, {}
    for part, result in results.items():
        changed[part] = whole(context, getattr(record, part), result) if part in ("key", "value") else result.sql
    if "topic" in results:
        context.fail(f"(coalesce({results['topic'].sql}, '') = '')", lit("The expression of 'topic' gives no topic"))
    if "partition" in results:
        context.fail(
            f"(coalesce({results['partition'].sql}, 0) < 0)", lit("The expression of 'partition' gives a negative number")
        )
    if "headers" in results:
        sql = results["headers"].sql
        context.fail(
            f"exists(coalesce({sql}, array()), h -> h.key IS NULL)", lit("The expression of 'headers' gives one without a name")
        )
        changed["headers"] = f"coalesce({sql}, cast(array() as array<struct<key:string,value:binary>>))"
    return replace(record, **changed)


def whole(context: CompileContext, old: Value, result: ExpressionResult) -> Value:
    """A new key or value: a struct has a schema if the old one had one."""
    from pyspark.sql.types import StructType

    has_schema = any(a.value.schema for a in old) and all(a.value.schema or a.value.kind == "null" for a in old)
    if has_schema and isinstance(result.type, StructType):
        return results.with_schema(result.type, result.sql)
    return results.schemaless(context, result.type, result.sql)


def with_field(context: CompileContext, opened: OpenStruct, path: tuple[str, ...], result: ExpressionResult) -> OpenStruct:
    """The struct with a nested member set: absent structs on the path are created, null ones stay null."""
    step, *inner_path = path
    schema = opened.schema is not None
    if not inner_path:
        leaf = results.with_schema(result.type, result.sql) if schema else results.schemaless(context, result.type, result.sql)
        return opened.with_field(step, leaf)
    cases: list[Case] = []
    old = opened.get(step)
    for a in old:
        typed = a.value
        if typed.kind == ("struct" if schema else "map"):
            guarded = typed if typed.opened or a.when is None else replace(typed, sql=case([(a.when, typed.sql)]))
            with context.where(a.when):
                cases.append(Case(a.when, struct(with_field(context, open_struct(context, guarded), tuple(inner_path), result))))
            continue
        if typed.kind != "null":
            expected = "Struct objects supported" if schema else "Map objects supported in absence of schema"
            null = typed.is_null()
            with context.where(a.when):
                context.fail(negated(null), lit(f"Only {expected} for [SQL expression], found: {JAVA[typed.kind]}"))
        cases.append(a)
    struct_value = struct(
        with_field(context, OpenStruct(schema=Schema("struct", optional=True) if schema else None), tuple(inner_path), result)
    )
    absent = negated(present(old)) if old else None
    return opened.with_field(step, combined([*cases, *only_when(absent, (Case(None, struct_value),))]))
