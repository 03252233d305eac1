"""Compiles a connector's chain: converters, transformations and predicates become one pass of Spark SQL.

The input frame has the columns of INPUT; `Compiled.apply` adds those of OUTPUT. No Spark job runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headrace.converters.base import Converter, ConverterReader, HeaderConverter, HeaderReader, Writers, without_schema_ids
from headrace.record import HEADERS_TYPE
from headrace.transforms.java import join_java_stages
from headrace.transforms.stages import Stage
from headrace.values.compile_context import CompileContext, Learner
from headrace.values.record import ConnectRecord
from headrace.values.scope import Scope
from headrace.values.sql import NEVER, Sql, all_of, case, concat, lit, negated
from headrace.values.value import choose

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

INPUT = ("in_topic", "in_partition", "in_offset", "in_timestamp", "in_key", "in_value", "in_headers")
"""string; int; bigint; bigint, ms since the epoch or NULL; binary; binary; array<struct<key:string,value:binary>> or NULL."""
IN_FAILURE = "in_failure"
"""A further column of the input where records may have failed before the chain; like `failure` of OUTPUT."""
OUTPUT = ("topic", "partition", "timestamp", "key", "value", "headers", "failure", "dropped")
"""The record to write, in the types of INPUT; failure: struct<step,class,message,cause> (strings), NULL if no step failed;
dropped: whether a filter has dropped it."""

NO_HEADERS = f"cast(array() as {HEADERS_TYPE})"
"""An empty list of headers."""


@dataclass(frozen=True)
class Converters(Writers):
    """The converters of a connector's keys, values and headers."""

    key: Converter
    value: Converter
    header: HeaderConverter


@dataclass(frozen=True)
class Readers:
    """The readers of a connector's keys, values and headers: its converters, or `TypedColumn` where the source has typed
    columns.
    """

    key: ConverterReader
    value: ConverterReader
    header: HeaderReader


@dataclass(frozen=True)
class RecordAfterStep:
    """A record after a step."""

    step: str
    """`input`, or `transform:` and the alias."""
    record: ConnectRecord
    reached_when: Sql | None
    """The condition that the record has come this far: no step has failed or dropped it. None: always."""
    applied: Sql | None = None
    """The condition under which a stage with a predicate is applied; None: always."""


@dataclass(frozen=True)
class Compiled:
    """A compiled chain, which can be applied to any frame with the columns of INPUT."""

    scope: Scope
    """Adds the columns that the expressions refer to, and drops what filters drop."""
    columns: Mapping[str, Sql]
    """OUTPUT and `request_columns`, as expressions over what `scope` adds."""
    fails: bool
    """Whether a record can fail at all."""
    steps: tuple[RecordAfterStep, ...] = field(default=())
    """The record after it was read and after every stage, for a preview: expressions over the columns that `scope` adds."""
    learned_schemas: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """For `key` and `value`: returns the literal of the schemas learned for writing (`CompileContext.request_schema`)."""
    request_columns: Mapping[str, str] = field(default_factory=dict)
    """Columns besides OUTPUT, by requester: the schema that has to be learned before a record can be written, as text, or NULL.
    """
    learners: Mapping[str, Learner] = field(default_factory=dict)
    """The requesters of `request_columns`, by the same names."""

    def apply(self, frame: DataFrame, keep: Sequence[str] = ()) -> DataFrame:
        """The frame's records after the chain: columns `keep` of the frame, then OUTPUT.

        `request_columns` too. Records that a filter has dropped are left out, unless the chain was compiled with `show`.
        """
        columns = [f"{sql} AS {name}" for name, sql in self.columns.items()]
        return self.scope.apply(frame).selectExpr(*keep, *columns)


def compile_chain(
    stages: Sequence[Stage],
    reading: Converters | Readers,
    writing: Writers,
    schemas: Mapping[str, Sequence[str]] | None = None,
    sink: bool = False,
    show: bool = False,
    chain: int = 0,
    failed_before: bool = False,
) -> Compiled:
    """Compile a chain.

    schemas: for "key" and "value" the schema texts that records may carry (`Converter.schema_in`); sink: records have offsets;
    show: records that a filter drops stay in the result; chain: see CompileContext;
    failed_before: the input has the column IN_FAILURE.
    """
    scope = Scope()
    context = CompileContext(scope, chain)
    if failed_before:
        context.fail_before(IN_FAILURE)
    record = _read(context, reading, writing, schemas or {}, sink)
    steps = [RecordAfterStep("input", record, context.reached_when)]
    for stage in stages if show else join_java_stages(stages):
        if context.incomplete:
            break
        record, applied = _apply_stage(context, stage, record, show)
        steps.append(RecordAfterStep(f"transform:{stage.alias}", record, context.reached_when, applied))
    dropped, context.topic = record.dropped, record.topic
    if writing.topic_prefix:
        context.topic = scope.bind(concat(lit(writing.topic_prefix), record.topic))
    with context.step("output.headers"):
        registered = [part for part in ("key", "value") if getattr(writing, part).registers]
        context.headers = scope.bind(without_schema_ids(record.headers, registered))
    with context.step("output.key"):
        key = scope.bind(writing.key.write(context, record.key))
    with context.step("output.value"):
        value = scope.bind(writing.value.write(context, record.value))
    values = (record.topic, record.partition, record.timestamp, key, value, context.headers, context.failure(), dropped or "true")
    columns: dict[str, Sql] = dict(zip(OUTPUT, values, strict=True))
    requests = {part: sql for part, sql in context.schema_requests.items() if part in context.learners or not context.incomplete}
    request_columns = {part: f"{part}_schema_request" for part in requests}
    columns |= {request_columns[part]: sql for part, sql in requests.items()}
    learners = {part: context.learners.get(part) or getattr(writing, part) for part in requests}
    learned_schemas = {part: context.learned_schemas[part] for part in requests if part in context.learned_schemas}
    return Compiled(scope, columns, bool(context.failures), tuple(steps), learned_schemas, request_columns, learners)


def _read(
    context: CompileContext, reading: Converters | Readers, writing: Writers, schemas: Mapping[str, Sequence[str]], sink: bool
) -> ConnectRecord:
    with context.step("input.key"):
        key = reading.key.read(context, "in_key", schemas.get("key", ()))
    with context.step("input.value"):
        value = reading.value.read(context, "in_value", schemas.get("value", ()))
    with context.step("input.headers"):
        headers = reading.header.read(context, f"coalesce({context.headers}, {NO_HEADERS})")
    offset = "in_offset" if sink else None
    return ConnectRecord(
        context, "in_topic", "in_partition", offset, "in_timestamp", key, value, headers, writing.header
    ).with_bound_columns()


def _apply_stage(context: CompileContext, stage: Stage, record: ConnectRecord, show: bool) -> tuple[ConnectRecord, Sql | None]:
    """The record after a stage, and the condition under which the stage is applied (None: always)."""
    applies: Sql | None = None
    with context.step(f"transform:{stage.alias}"):
        if stage.predicate is not None:
            holds = context.scope.bind(stage.predicate.test(record))
            applies = f"(NOT {holds})" if stage.negate else holds
        with context.where(applies):
            changed = stage.transformation.apply(replace(record, dropped=NEVER))
    merged = _merged(applies, changed, record).with_bound_columns()
    if changed.dropped != NEVER:
        filtered = all_of(context.reached_when, applies, changed.dropped)
        merged = replace(merged, dropped=context.scope.bind(_or(record.dropped, filtered)))
        if not show:
            context.scope.filter_rows(negated(filtered) or "true")
        context.drop(all_of(applies, changed.dropped))
    return merged, applies


def _or(old: Sql | None, new: Sql | None) -> Sql:
    if new is None or old is None:
        return "true"
    return new if old == NEVER else f"({old} OR {new})"


def _merged(applies: Sql | None, new: ConnectRecord, old: ConnectRecord) -> ConnectRecord:
    """`new` where the stage applies, `old` elsewhere."""

    def merged(a: Sql, b: Sql) -> Sql:
        return a if a == b else case([(applies, a)], b)

    return replace(
        new,
        topic=merged(new.topic, old.topic),
        partition=merged(new.partition, old.partition),
        timestamp=merged(new.timestamp, old.timestamp),
        headers=merged(new.headers, old.headers),
        key=choose(applies, new.key, old.key),
        value=choose(applies, new.value, old.value),
        dropped=old.dropped,
    )
