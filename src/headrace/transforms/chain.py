"""A connector's chain, compiled: converters, transformations and predicates as one pass of Spark SQL.

The frame that comes in has the columns of INPUT; `Compiled.apply` adds those of OUTPUT. Nothing runs here.
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
OUTPUT = ("topic", "partition", "timestamp", "key", "value", "headers", "failure", "dropped")
"""The record as it is to be written, in the types of INPUT; failure: struct<step,class,message,cause> (strings), NULL if nothing
failed; dropped: whether a filter took it out."""

NO_HEADERS = f"cast(array() as {HEADERS_TYPE})"
"""An empty list of headers."""


@dataclass(frozen=True)
class Converters(Writers):
    """Those of a connector's keys, values and headers."""

    key: Converter
    value: Converter
    header: HeaderConverter


@dataclass(frozen=True)
class Readers:
    """What reads a connector's keys, values and headers: its converters, or none where the source gives typed columns."""

    key: ConverterReader
    value: ConverterReader
    header: HeaderReader


@dataclass(frozen=True)
class Seen:
    """A record after a step: `applied` is when the step was, for a stage with a predicate."""

    step: str
    record: ConnectRecord
    alive: Sql | None
    applied: Sql | None = None


@dataclass(frozen=True)
class Compiled:
    """A chain, ready for any frame."""

    scope: Scope
    columns: Mapping[str, Sql]
    fails: bool
    """Whether a record can fail at all."""
    seen: tuple[Seen, ...] = field(default=())
    """The record after it was read and after every stage, for those who want to show it (expressions over the columns that
    `scope` adds).
    """
    known: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    """For `key` and `value`, what gives the literal of what is known for writing (`CompileContext.ask`)."""
    asks: Mapping[str, str] = field(default_factory=dict)
    """The columns that are there beside OUTPUT, by what asks: texts of what has to be known before a record can be written."""
    learners: Mapping[str, Learner] = field(default_factory=dict)
    """Who has asked, by the same names."""

    def apply(self, frame: DataFrame, keep: Sequence[str] = ()) -> DataFrame:
        """The frame's records after the chain: columns `keep` of the frame, then OUTPUT.

        Those that are asked for, too. Records that a filter took out are gone, unless the chain was compiled to show them.
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
) -> Compiled:
    """Compile a chain.

    schemas: for "key" and "value" the schema texts that records may carry (`Converter.schema_in`); sink: the record has an
    offset, as a sink's has; show: records that a filter takes out are kept; chain: see CompileContext.
    """
    scope = Scope()
    run = CompileContext(scope, chain)
    record = _read(run, reading, writing, schemas or {}, sink)
    seen = [Seen("input", record, run.alive)]
    for stage in stages if show else join_java_stages(stages):
        if run.incomplete:
            break
        record, applied = _staged(run, stage, record, show)
        seen.append(Seen(f"transform:{stage.alias}", record, run.alive, applied))
    dropped, run.topic = record.dropped, record.topic
    if writing.topic_prefix:
        run.topic = scope.bind(concat(lit(writing.topic_prefix), record.topic))
    with run.step("output.headers"):
        registered = [part for part in ("key", "value") if getattr(writing, part).registers]
        run.headers = scope.bind(without_schema_ids(record.headers, registered))
    with run.step("output.key"):
        key = scope.bind(writing.key.write(run, record.key))
    with run.step("output.value"):
        value = scope.bind(writing.value.write(run, record.value))
    values = (record.topic, record.partition, record.timestamp, key, value, run.headers, run.failure(), dropped or "true")
    columns: dict[str, Sql] = dict(zip(OUTPUT, values, strict=True))
    asked = {part: sql for part, sql in run.asked.items() if part in run.learners or not run.incomplete}
    asks = {part: f"{part}_wanted" for part in asked}
    columns |= {asks[part]: sql for part, sql in asked.items()}
    learners = {part: run.learners.get(part) or getattr(writing, part) for part in asked}
    known = {part: run.known[part] for part in asked if part in run.known}
    return Compiled(scope, columns, bool(run.failures), tuple(seen), known, asks, learners)


def _read(
    run: CompileContext, reading: Converters | Readers, writing: Writers, schemas: Mapping[str, Sequence[str]], sink: bool
) -> ConnectRecord:
    with run.step("input.key"):
        key = reading.key.read(run, "in_key", schemas.get("key", ()))
    with run.step("input.value"):
        value = reading.value.read(run, "in_value", schemas.get("value", ()))
    with run.step("input.headers"):
        headers = reading.header.read(run, f"coalesce({run.headers}, {NO_HEADERS})")
    offset = "in_offset" if sink else None
    return ConnectRecord(
        run, "in_topic", "in_partition", offset, "in_timestamp", key, value, headers, writing.header
    ).with_bound_columns()


def _staged(run: CompileContext, stage: Stage, record: ConnectRecord, show: bool) -> tuple[ConnectRecord, Sql | None]:
    """The record after a stage, and when the stage was applied (None: always)."""
    applies: Sql | None = None
    with run.step(f"transform:{stage.alias}"):
        if stage.predicate is not None:
            holds = stage.predicate.test(record)
            applies = run.scope.bind(f"(NOT {holds})" if stage.negate else holds)
        with run.only(applies):
            changed = stage.transformation.apply(replace(record, dropped=NEVER))
    merged = _merged(applies, changed, record).with_bound_columns()
    if changed.dropped != NEVER:
        taken = all_of(run.alive, applies, changed.dropped)
        merged = replace(merged, dropped=run.scope.bind(_or(record.dropped, taken)))
        if not show:
            run.scope.keep(negated(taken) or "true")
        run.drop(all_of(applies, changed.dropped))
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
