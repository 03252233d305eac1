"""Constants, evaluated by Spark while a chain is compiled."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

from headrace.values import kinds
from headrace.values.schema import Schema
from headrace.values.schema_parsing import parse
from headrace.values.sql import Sql, lit
from headrace.values.value import NULL, TypedValue, constant


def evaluated(sql: Sql) -> Any:
    """The value of an expression without columns; Spark evaluates it on the driver."""
    from pyspark.sql import SparkSession

    spark = SparkSession.active()
    row = spark.sql(f"SELECT {sql} AS value").head()
    assert row is not None
    return row["value"]


@cache
def inferred(text: str) -> TypedValue:
    """The value that Connect infers from text (`Values.parseString`), with its schema: `300` is an int16, `[1]` an array."""
    if not text:
        return TypedValue("string", lit(""), Schema("string"))
    literal = evaluated(f"headrace_header_literal({lit(text)})")
    if literal["text"] is None:
        return NULL
    if literal["payload"] is not None:
        kind = "list" if literal["text"].startswith("[") else "map"
        schema = parse(literal["schema"] or "null")
        return TypedValue(kind, lit(literal["payload"]), schema, texts=(lit(literal["text"]), lit(literal["java"])))
    schema = Schema(literal["type"], name=literal["name"], version=1 if literal["name"] else None)
    kind = kinds.of_schema(schema)
    if kind == "date":
        return TypedValue(kind, lit(int(literal["millis"])), schema)
    if kind == "decimal":
        scale = -int(Decimal(literal["java"]).as_tuple().exponent)
        return TypedValue(kind, lit(literal["java"]), schema.same_but(parameters={"scale": str(scale)}))
    if kind in ("string", "boolean"):
        return TypedValue(kind, lit(literal["java"]) if kind == "string" else lit(literal["java"] == "true"), schema)
    number = literal["java"]
    return TypedValue(kind, constant(schema, float(number) if kind.startswith("float") else int(number)), schema)
