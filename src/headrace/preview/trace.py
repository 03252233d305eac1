"""Traces of records through a compiled chain: the record after every step, by a query over constants, for which no job runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.preview.display import kinds, shown
from headrace.preview.origin import PreviewPlan
from headrace.preview.records import RawRecord, as_bytes, notation
from headrace.record import HEADERS_TYPE
from headrace.runtime.letter_values import from_bytes
from headrace.transforms.chain import INPUT, Compiled, RecordAfterStep, compile_chain
from headrace.transforms.stages import Stage
from headrace.values.sql import Sql, call, lit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

Json = dict[str, Any]
_TYPES = ("string", "int", "bigint", "bigint", "binary", "binary", HEADERS_TYPE)


def traces(spark: SparkSession, plan: PreviewPlan, records: Sequence[RawRecord]) -> list[Json]:
    """The trace of each record: the members `steps`, `outcome`, `dropped_by`, `failure` and `output` of a preview."""
    frame = _frame(spark, plan, records)
    schemas = {part: texts for part in ("key", "value") if (texts := _schemas(frame, plan, part))}
    compiled = _compiled(frame, plan, schemas)
    steps = {f"step{n}": _step(compiled, after_step) for n, after_step in enumerate(compiled.steps)}
    rows = replace(compiled, columns={**compiled.columns, **steps}).apply(frame, ["in_number"]).collect()
    texts = [_trace(row, compiled, plan.stages) for row in sorted(rows, key=lambda row: row["in_number"])]
    return [_with_schemas(trace, plan, record) for trace, record in zip(texts, records, strict=True)]


def _compiled(frame: DataFrame, plan: PreviewPlan, schemas: Mapping[str, Sequence[str]]) -> Compiled:
    """The chain, compiled with all schemas that the records need; none is registered."""
    while True:
        compiled = compile_chain(plan.stages, plan.reading, plan.writing, schemas, sink=plan.sink, show=True)
        rows = compiled.apply(frame).select(*compiled.request_columns.values()).collect() if compiled.request_columns else []
        requests = {part: {row[name] for row in rows} - {None} for part, name in compiled.request_columns.items()}
        if not any(requests.values()):
            return compiled
        for part, texts in requests.items():
            compiled.learners[part].learn(sorted(texts), register=False)


def _with_schemas(trace: Json, plan: PreviewPlan, record: RawRecord) -> Json:
    """The trace with the member `schemas`: the registered schemas with which the record is read and written."""
    chain_input, output = plan.origin.chain_input(record), trace["output"] or {}
    written = {part: output.get(part) for part in ("key", "value")}
    schemas_by_part = {}
    for part in ("key", "value"):
        reading, writing = getattr(plan.reading, part), getattr(plan.writing, part)
        data = as_bytes(written[part])
        schemas = {
            "read": reading.registered(getattr(chain_input, part), chain_input.topic, chain_input.headers)
            if reading.registers
            else None,
            "written": writing.registered(data, output["topic"]) if writing.registers and data else None,
        }
        if any(schemas.values()):
            schemas_by_part[part] = schemas
    return trace | ({"schemas": schemas_by_part} if schemas_by_part else {})


def _frame(spark: SparkSession, plan: PreviewPlan, records: Sequence[RawRecord]) -> DataFrame:
    """The records as a numbered table of constants, with the column types of the source."""
    lines = (", ".join([str(n), *_constants(plan.origin.chain_input(record))]) for n, record in enumerate(records))
    names = ", ".join(["in_number", *INPUT])
    frame = spark.sql(f"SELECT * FROM VALUES {', '.join(f'({line})' for line in lines)} AS given({names})")
    kinds = {f"in_{part}": getattr(getattr(plan.reading, part), "kind", "bytes") for part in ("key", "value")}
    return frame.select("in_number", *(_as_source_column(frame[name], kinds.get(name, "bytes")).alias(name) for name in INPUT))


def _as_source_column(column: Column, kind: str | DataType) -> Column:
    """A column of bytes converted to the column type of the source."""
    if isinstance(kind, str):
        return column.cast("string") if kind in ("string", "line") else column
    return from_bytes(column, kind)


def _constants(record: RawRecord) -> list[Sql]:
    headers = [call("named_struct", "'key'", lit(name), "'value'", _binary(value)) for name, value in record.headers]
    values = (
        lit(record.topic), lit(record.partition), lit(record.offset), lit(record.timestamp),
        _binary(record.key), _binary(record.value), call("array", *headers),
    )  # fmt: skip
    return [f"cast({value} as {type_})" for value, type_ in zip(values, _TYPES, strict=True)]


def _binary(value: bytes | None) -> Sql:
    return "cast(NULL as binary)" if value is None else f"X'{value.hex()}'"


def _schemas(frame: DataFrame, plan: PreviewPlan, part: str) -> list[str]:
    """The texts of the schemas that the records carry."""
    new = getattr(plan.reading, part).schema_in(f"in_{part}", ())
    if new is None:
        return []
    return list(dict.fromkeys(row["s"] for row in frame.selectExpr(f"{new} AS s").collect() if row["s"] is not None))


def _step(compiled: Compiled, after_step: RecordAfterStep) -> Sql:
    record, scope = after_step.record, compiled.scope
    parts = {
        "topic": record.topic,
        "partition": record.partition,
        "timestamp": record.timestamp,
        "key": shown(scope, record.key),
        "value": shown(scope, record.value),
        "headers": record.headers,
    }
    # a record that does not reach the step has no parts
    struct = call("named_struct", *(x for name, sql in parts.items() for x in (lit(name), sql)))
    parts_if_reached = struct if after_step.reached_when is None else f"CASE WHEN {after_step.reached_when} THEN {struct} END"
    dropped = "true" if record.dropped is None else record.dropped
    return call("named_struct", "'record'", parts_if_reached, "'applied'", after_step.applied or "true", "'dropped'", dropped)


def _trace(row: Any, compiled: Compiled, stages: Sequence[Stage]) -> Json:
    failure = row["failure"] and {name: row["failure"][name] for name in ("step", "class", "message", "cause")}
    steps, dropped_by = [], None
    for n, (after_step, stage) in enumerate(zip(compiled.steps, [None, *stages], strict=True)):
        fails = failure is not None and (failure["step"] == after_step.step or (n == 0 and failure["step"].startswith("input.")))
        step = _step_json(row[f"step{n}"], after_step, stage)
        if fails:
            step["failed"], step["record"] = True, None
        steps.append(step)
        if stage is not None and step["dropped"]:
            dropped_by = stage.alias
        if fails or dropped_by:
            break
    outcome = "failed" if failure else "dropped" if dropped_by else "passed"
    output = _output(row) if outcome == "passed" else None
    return {"steps": steps, "outcome": outcome, "dropped_by": dropped_by, "failure": failure, "output": output}


def _step_json(row: Any, after_step: RecordAfterStep, stage: Stage | None) -> Json:
    step: Json = {"step": after_step.step}
    if stage is not None:
        predicate = None
        if stage.predicate is not None:
            holds = row["applied"] != stage.negate
            predicate = {"alias": stage.predicate_alias, "negate": stage.negate, "held": holds}
        step |= {
            "type": getattr(stage.transformation, "plugin_name", type(stage.transformation).__name__),
            "predicate": predicate,
        }
    dropped = row["dropped"]
    record = None if dropped or row["record"] is None else _record_json(row["record"], after_step)
    return step | {"applied": row["applied"], "dropped": dropped, "failed": False, "record": record}


def _record_json(row: Any, after_step: RecordAfterStep) -> Json:
    return {
        "topic": row["topic"],
        "partition": row["partition"],
        "timestamp": row["timestamp"],
        "key": _part(row["key"], kinds(after_step.record.key)),
        "value": _part(row["value"], kinds(after_step.record.value)),
        "headers": _headers(row["headers"]),
    }


def _part(row: Any, alternatives: Sequence[str]) -> Json:
    kind = alternatives[row["alternative"]] if row["alternative"] >= 0 else "null"
    schema = json.loads(row["schema"] or "null")
    return {"type": kind, "json": row["json"] or "null", "schema": schema}


def _headers(headers: Any) -> list[list[Any]]:
    return [[h["key"], notation(None if h["value"] is None else bytes(h["value"]))] for h in headers]


def _output(row: Any) -> Json:
    values: Mapping[str, Any] = {name: notation(None if row[name] is None else bytes(row[name])) for name in ("key", "value")}
    return {name: row[name] for name in ("topic", "partition", "timestamp")} | {**values, "headers": _headers(row["headers"])}
