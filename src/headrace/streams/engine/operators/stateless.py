"""Stateless operators: each record by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.sql_functions import F
from headrace.streams.engine.columns import apply, checked, column, keyed, pair, parameters
from headrace.streams.engine.context import Context
from headrace.streams.engine.flows import Records
from headrace.streams.operations import (
    Branch,
    FilterOperation,
    FlatMap,
    FlatMapValues,
    ForEach,
    Map,
    MapValues,
    Peek,
    Print,
    RepartitionFilter,
    SelectKey,
)  # fmt: skip
from headrace.values.json_text import java_double

if TYPE_CHECKING:
    from pyspark.sql import Column


def filter_records(node: str, operation: FilterOperation, records: Records) -> Records:
    """Those for which the predicate is true, or with `negate` is not."""
    matches = _matches(operation.predicate, node)
    return _where(node, records, ~matches if operation.negate else matches)


def select_key(node: str, operation: SelectKey, records: Records) -> Records:
    """A new key."""
    return _with(node, records, k=column(apply(operation.mapper, node, *_row())))


def map_records(node: str, operation: Map, records: Records) -> Records:
    """A new key and value."""
    key, value = pair(apply(operation.mapper, node, *_row()), node)
    return _with(node, records, k=key, v=value)


def map_values(node: str, operation: MapValues, records: Records) -> Records:
    """A new value."""
    return _with(node, records, v=column(keyed(operation.mapper, node, *_row())))


def flat_map(node: str, operation: FlatMap, records: Records) -> Records:
    """Any number of keys and values: the function returns an array of structs of two fields, or a list of pairs of Columns."""
    result = apply(operation.mapper, node, *_row())
    if isinstance(result, list | tuple):
        pairs = [pair(item, node) for item in result]
        result = F.array(*[F.struct(key.alias("key"), value.alias("value")) for key, value in pairs])
    exploded = _exploded(node, records, result)
    kind: Any = exploded.frame.schema["x"].dataType
    if len(getattr(kind, "names", ())) != 2:
        raise StreamsError(
            f"The function of {node} has to return an array of structs of a key and a value, not of {kind.simpleString()}."
        )
    key, value = kind.names
    return _with(node, exploded, k=F.col("x")[key], v=F.col("x")[value])


def flat_map_values(node: str, operation: FlatMapValues, records: Records) -> Records:
    """Any number of values: the function returns an array, or a list of Columns."""
    result = keyed(operation.mapper, node, *_row())
    result = F.array(*map(column, result)) if isinstance(result, list | tuple) else result
    return _with(node, _exploded(node, records, result), v=F.col("x"))


def branch(node: str, operation: Branch, records: Records) -> dict[str, Records]:
    """The records of each child."""
    remaining, branches = F.lit(True), {}
    for predicate, child in operation.predicates:
        true = _matches(predicate, node)
        branches[child] = _where(node, records, remaining & true)
        remaining = remaining & ~true
    if operation.default is not None:
        branches[operation.default] = _where(node, records, remaining)
    return branches


def repartition_filter(node: str, operation: RepartitionFilter, records: Records) -> Records:
    """Drop records without a key, unless an operator downstream needs them."""
    return _where(node, records, F.col("k").isNotNull()) if operation.drops_null_keys else records


def call_for_each(context: Context, node: str, operation: Peek | ForEach | Print, records: Records) -> Records:
    """Call a user function in this process with every record, or print it."""
    frame = context.compute_once(records.frame)
    ordered = frame.select("p", "k", "v", "o").sortWithinPartitions("p", *Records(frame, records.depth).order())
    action = _printer(operation) if isinstance(operation, Print) else _caller(operation.action)
    context.call_locally(context.compute_once(ordered).select("k", "v"), action)
    return replace(records, frame=frame)


def merged(node: str, parents: list[Records]) -> Records:
    """The records of all parents. Raises StreamsError if their types differ."""
    first, *others = parents
    frame = first.frame
    for other in others:
        frame = checked(lambda frame=frame, other=other: frame.unionByName(other.frame), node)
    depths = {records.depth for records in parents}
    return Records(frame, depths.pop() if len(depths) == 1 else 0, ordered=False)


def _row() -> tuple[Column, Column]:
    return F.col("k"), F.col("v")


def _matches(predicate: Any, node: str) -> Column:
    return F.coalesce(column(apply(predicate, node, *_row())), F.lit(False))


def _where(node: str, records: Records, condition: Column) -> Records:
    return replace(records, frame=checked(lambda: records.frame.where(condition), node))


def _with(node: str, records: Records, **columns: Column) -> Records:
    names = [columns[name].alias(name) if name in columns else name for name in ("p", "k", "v", "t", "o", "h")]
    return replace(records, frame=checked(lambda: records.frame.select(*names), node))


def _exploded(node: str, records: Records, array: Column) -> Records:
    def frame() -> Any:
        opened = records.frame.select("p", "k", "v", "t", "o", "h", F.posexplode(array).alias("i", "x"))
        return opened.withColumn("o", F.concat("o", F.array(F.col("i").cast("bigint"))))

    return replace(records, frame=checked(frame, node), depth=records.depth + 1 if records.depth else 0)


def _caller(action: Any) -> Any:
    if parameters(action) == 1:
        return lambda row: action(row["v"])
    return lambda row: action(row["k"], row["v"])


def _printer(operation: Print) -> Any:
    printed, mapper = operation.printed, operation.printed.mapper

    def text(row: Any) -> str:
        text_of_record = mapper(row["k"], row["v"]) if mapper else f"{_java(row['k'])}, {_java(row['v'])}"
        return f"[{operation.label}]: {text_of_record}"

    if printed.file is None:
        return lambda row: print(text(row), flush=True)

    def write(row: Any) -> None:
        with printed.file.open("a", encoding="utf-8") as file:  # type: ignore[union-attr]
            file.write(text(row) + "\n")

    return write


def _java(value: Any) -> str:
    """A value of a row as Java prints it: Kafka's windowed keys as `[key@start/end]`."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case float():
            return java_double(value).strip('"')
        case tuple() if getattr(value, "__fields__", None) == ["key", "start", "end"]:
            key, start, end = value
            return f"[{_java(key)}@{start}/{end}]"
    return str(value)
