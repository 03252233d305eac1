"""A task's chain: converts, transforms and converts back records, from source format to destination format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.converters.base import ConverterReader, Writers
from headrace.converters.typed_column import TypedColumn, TypedHeaders
from headrace.errors import ConnectError
from headrace.record import HEADERS_TYPE, RecordColumns
from headrace.runtime.letter_values import as_bytes, type_text
from headrace.runtime.plan import TaskPlan
from headrace.runtime.schema_usage import USAGE
from headrace.runtime.tolerance import KEY_TYPE, RECORD_TOPIC, VALUE_TYPE, Tolerance, letter_headers, report
from headrace.spark import plane
from headrace.spark.kafka import ORIGIN, TIMESTAMP_HEADER
from headrace.sql_functions import F
from headrace.transforms.chain import IN_FAILURE, INPUT, NO_HEADERS, Compiled, Readers, compile_chain
from headrace.transforms.stages import Stage
from headrace.values.record import append_header
from headrace.values.scope import filter_here
from headrace.values.sql import Sql, call, case, lit, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MAX_SCHEMAS = 64  # of keys, and of values, that a chain keeps
WRITER_NEED = "wanted_"
"""Prefix of the members of a need that come from a writer: a schema that has to be registered before the record is written."""
_MAX_SCHEMAS_PER_CHAIN = 32  # of one chain of a feed: generated code for more is too long
_MAX_SCHEMAS_PER_BATCH = 500  # schemas of one batch
_SINGLE_LOOKUPS = 4  # schemas of a batch that are searched one at a time


class TooManySchemasError(ConnectError):
    """A batch has records of more schemas than one plan may have."""


@dataclass(frozen=True)
class Steps:
    """The steps of a record between reading and writing: converters, transforms, error tolerance."""

    connector: str
    """Named in the headers of dead letters, as `task`."""
    task: int
    reading: Readers
    stages: tuple[Stage, ...]
    writing: Writers
    tolerance: Tolerance
    sink: bool = False
    """Whether the records have Kafka offsets and go to a sink."""


class TaskChain:
    """The chain of one task for records of one shape.

    The converters decide the plan: schemas that are sent with the records have to be known first (`learn`).
    """

    def __init__(self, steps: Steps, record: RecordColumns) -> None:
        self._steps, self._record = steps, record
        self._reading = steps.reading
        self._origin = [quoted(ORIGIN + part) for part in record.origin]
        self._schemas: dict[str, list[str]] = {"key": [], "value": []}
        self._compiled: Compiled | None = None
        self.number = 0
        """Number of this chain among those of the same steps."""
        used = (getattr(sides, part) for sides in (steps.reading, steps.writing) for part in self._schemas)
        USAGE.watch(steps.connector, steps.task, used)

    def _asking_registry(self) -> AbstractContextManager[None]:
        return USAGE.asking(self._steps.connector, self._steps.task)

    @property
    def _read_topic(self) -> Sql:
        """The topic that a record was read from; it may be renamed before the chain."""
        return quoted(f"{ORIGIN}topic") if "topic" in self._record.origin else "in_topic"

    @property
    def learns(self) -> bool:
        """Whether a batch has to be searched for new schemas before it can be transformed."""
        return any(self._new_schema(part) is not None for part in self._schemas) or bool(self.compiled().request_columns)

    def incoming(self, frame: DataFrame) -> DataFrame:
        """The source's frame with the columns of INPUT, one for each part of the origin, and perhaps IN_FAILURE."""
        record = self._record
        timestamp = F.expr("bigint(NULL)") if record.timestamp is None else F.unix_millis(record.timestamp)
        partition = F.expr("int(NULL)") if record.partition is None else record.partition
        headers = F.expr(f"cast(NULL as {HEADERS_TYPE})") if record.headers is None else record.headers
        offset = F.expr("bigint(NULL)") if record.offset is None else record.offset
        columns = (record.topic, partition, offset, timestamp, record.key, record.value, headers)
        named = [column.alias(name) for name, column in zip(INPUT, columns, strict=True)]
        origin = [column.alias(ORIGIN + part) for part, column in record.origin.items()]
        if record.failure is not None:
            origin.append(record.failure.alias(IN_FAILURE))
        left = frame if record.dropped is None else frame.where(~record.dropped)
        return left.select(*named, *origin)

    def learn(self, incoming: DataFrame) -> None:
        """Find the unknown schemas of a batch; the batch is read only if it can have any.

        The first few are searched one at a time: a known schema is recognized by comparing bytes, an unknown one is parsed.
        Raises TooManySchemasError.
        """
        self._trim_schemas()  # before the search, so that no schema of this batch is dropped
        self.renew()
        with self._asking_registry():
            if any(self._new_schema(part) is not None for part in self._schemas):
                self._learn_read_schemas(incoming)
            while (columns := self.compiled().request_columns) and self._learn_write_schemas(incoming, columns):
                pass

    def renew(self) -> bool:
        """Refresh cached schemas of the writers that have expired; returns whether one has changed."""
        writing = self._steps.writing
        with self._asking_registry():
            renewed = [writer.renew() for writer in (writing.key, writing.value)]
        if any(renewed):
            self._compiled = None
        return any(renewed)

    def _learn_read_schemas(self, incoming: DataFrame) -> None:
        for _ in range(_SINGLE_LOOKUPS):
            if not self._add_schemas([self._unknown_schemas(incoming).head()]):
                return
        columns = [name for name in self._unknown_schemas(incoming).columns if name != "topic"]
        row: Any = self._unknown_schemas(incoming).selectExpr(*(f"collect_set({part}) AS {part}" for part in columns)).first()
        if (most := max(len(row[part]) for part in columns)) > _MAX_SCHEMAS_PER_BATCH:
            raise TooManySchemasError(
                f"A batch has records of {most} different schemas; one plan covers the whole batch, with at most "
                f"{_MAX_SCHEMAS_PER_BATCH}. Read fewer records per batch: "
                f"consumer.override.max.poll.records={_MAX_SCHEMAS_PER_BATCH}."
            )
        self._add_schemas([{part: text} for part in columns for text in sorted(row[part])])

    def _learn_write_schemas(self, incoming: DataFrame, columns: Mapping[str, str]) -> bool:
        """Register or look up the schemas that records of a batch need before they are written; returns whether there were any.

        In the order of the records: a registry may accept a schema only after its predecessor.
        """
        texts = (
            f"stack({len(columns)}, {', '.join(f'{lit(part)}, {column}' for part, column in columns.items())}) AS (part, text)"
        )
        frame = self.compiled().apply(incoming).selectExpr("monotonically_increasing_id() AS place", texts)
        first = filter_here(frame, "text IS NOT NULL").groupBy("part", "text").min("place").orderBy("min(place)")
        if not (rows := first.collect()):
            return False
        for part, learner in self.compiled().learners.items():
            learner.learn([row["text"] for row in rows if row["part"] == part])
        self._compiled = None
        return True

    def _trim_schemas(self) -> None:
        if any(len(texts) > _MAX_SCHEMAS for texts in self._schemas.values()):
            self._schemas = {part: texts[-_MAX_SCHEMAS:] for part, texts in self._schemas.items()}
            self._compiled = None

    def _unknown_schemas(self, incoming: DataFrame) -> DataFrame:
        """The texts of unknown schemas, in columns `key` and `value`, of the records that have one."""
        new_texts = {part: sql for part in self._schemas if (sql := self._new_schema(part)) is not None}
        texts_frame = incoming.selectExpr(
            f"{self._read_topic} AS topic", *(f"{sql} AS {part}" for part, sql in new_texts.items())
        )
        return filter_here(texts_frame, " OR ".join(f"{part} IS NOT NULL" for part in new_texts))

    def _add_schemas(self, rows: Sequence[Any]) -> bool:
        """Add these schemas to the known ones; returns whether there were any. rows: `key`, `value`, `topic`, each if known."""
        members = [row if isinstance(row, dict) else row.asDict() for row in rows if row is not None]
        texts = [
            (part, text, row.get("topic"))
            for row in members
            for part, text in row.items()
            if part in self._schemas and text is not None
        ]
        for part, text, topic in texts:
            getattr(self._reading, part).look_up([text], topic)
            self._schemas[part] = [*self._schemas[part], text]
            self._compiled = None
        return bool(texts)

    def compiled(self) -> Compiled:
        """The compiled chain for the known schemas."""
        if self._compiled is None:
            steps = self._steps
            self._compiled = compile_chain(
                steps.stages,
                steps.reading,
                steps.writing,
                self._schemas,
                steps.sink,
                chain=self.number,
                failed_before=self._record.failure is not None,
            )
        return self._compiled

    def _transformed(self, incoming: DataFrame, keep: Sequence[str] = ()) -> DataFrame:
        """After the chain: OUTPUT, the origin's columns, the columns of `keep`, and the original record if a record can fail."""
        compiled = self.compiled()
        originals = [f"in_{part}" for part in ("topic", "key", "value", "headers", "timestamp") if compiled.fails]
        return compiled.apply(incoming, [*self._origin, *keep, *originals])

    def letter(self) -> dict[str, Sql]:
        """A failed record as columns for Spark's Kafka writer: the original record, in the dead letter topic.

        Without a dead letter topic, in its destination topic.
        """
        letters, headers = self._steps.tolerance.dead_letters, f"coalesce(in_headers, {NO_HEADERS})"
        if letters and letters.context:
            who = self._steps.connector, self._steps.task
            headers = letter_headers(headers, who, self._origin, self._classes(), self._type_headers())
        return {
            "topic": lit(letters.topic) if letters else "topic",
            "key": as_bytes("in_key", self._record.key_kind),
            "value": as_bytes("in_value", self._record.value_kind),
            "headers": headers,
            "partition": "int(NULL)",
        }

    def _type_headers(self) -> Mapping[str, Sql]:
        """Headers of a source's dead letter with which it can be replayed; Kafka's own headers do not cover them."""
        kinds = {KEY_TYPE: self._record.key_kind, VALUE_TYPE: self._record.value_kind}
        types = {name: lit(type_text(kind)) for name, kind in kinds.items() if not isinstance(kind, str)}
        return types if self._steps.sink or "topic" in self._record.origin else {RECORD_TOPIC: "in_topic", **types}

    def _new_schema(self, part: str) -> Sql | None:
        reader: ConverterReader = getattr(self._reading, part)
        return reader.schema_in(f"in_{part}", self._schemas[part])

    def _classes(self) -> Mapping[str, str]:
        names = {f"transform:{s.alias}": _name(s.transformation) for s in self._steps.stages}
        for part in ("key", "value"):
            names |= {f"input.{part}": _name(getattr(self._reading, part))}
            names |= {f"output.{part}": _name(getattr(self._steps.writing, part))}
        return names | {"input.headers": _name(self._reading.header), "output.headers": _name(self._steps.writing.header)}


def source_steps(plan: TaskPlan, record: RecordColumns) -> Steps:
    """The steps of a source task."""
    key = plan.source_key_converter or TypedColumn(record.key_kind)
    value = plan.source_value_converter or TypedColumn(record.value_kind)
    reading = Readers(key, value, TypedHeaders())
    return Steps(plan.connector, plan.task, reading, plan.stages, plan.converters, plan.tolerance)


class SourceChain(TaskChain):
    """From a source's frame to the columns of Spark's Kafka writer."""

    def __init__(self, plan: TaskPlan, record: RecordColumns) -> None:
        super().__init__(source_steps(plan, record), record)

    def outgoing(self, incoming: DataFrame) -> DataFrame:
        """The columns of Spark's Kafka writer, the origin's, and `failure` if a record can fail.

        A failed record has its original key, value and headers, and the dead letter topic if there is one.
        """
        compiled = self.compiled()
        frame = self._transformed(incoming)
        columns: dict[str, Sql] = {"topic": "topic", "key": "key", "value": "value", "headers": self._headers(compiled)}
        columns["partition"] = "partition"
        if compiled.fails:
            letter = self.letter() | {"headers": stamped(self.letter()["headers"], "in_timestamp")}
            columns = {name: _if_failed(letter[name], sql) for name, sql in columns.items()} | {"failure": "failure"}
        return frame.selectExpr(*(f"{sql} AS {name}" for name, sql in columns.items()), *self._origin)

    def _headers(self, compiled: Compiled) -> Sql:
        """The headers, with the timestamp as the last one, where the producer's interceptor expects it (docs/decisions/0003)."""
        if self._record.timestamp is None and compiled.columns["timestamp"] == "in_timestamp":
            return "headers"
        return stamped("headers", "timestamp")


class FeedChain(TaskChain):
    """From a lane's columns to the records of the feed's producer (`jvm/java/io/headrace/lanes/Chain.java`)."""

    def __init__(self, steps: Steps, record: RecordColumns, written: Mapping[str, Sql] | None = None) -> None:
        """written: SQL of columns of `lane_columns` that differ from the chain's columns of the same names."""
        super().__init__(steps, record)
        self._written = written or {}

    def new_chain(self, number: int) -> FeedChain:
        """A chain of the same steps without schemas. number: the new chain's."""
        chain = copy(self)
        chain.number, chain._compiled = number, None
        chain._schemas = {part: [] for part in self._schemas}
        return chain

    def lane_columns(self, columns: DataFrame) -> DataFrame:
        """The chain over `headrace.spark.plane.columns`.

        Columns: topic, partition, timestamp (bigint, ms), key, value, headers, failure (the report of a record that failed, as
        JSON), and, if schemas come with the records, or are asked for, need: what has to be known of schemas before the record
        can continue, as `learn_need` takes it; NULL if nothing has.

        A record that failed has its original key, value and headers, and the dead letter topic if there is one.
        """
        compiled, incoming = self.compiled(), self.incoming(columns)
        reads = any(self._new_schema(part) is not None for part in self._schemas)
        frame = self._transformed(self._with_unread_schemas(incoming) if reads else incoming, ["unread"] if reads else [])
        names = ("topic", "partition", "timestamp", "key", "value", "headers")
        out: dict[str, Sql] = {name: self._written.get(name, name) for name in names}
        if compiled.fails:
            letter = self.letter() | {"timestamp": "in_timestamp"}
            out = {name: _if_failed(letter[name], sql) for name, sql in out.items()}
        failed = report(self._origin, self._steps.tolerance.messages, ("in_key", "in_value"), sink=self._steps.sink)
        out |= {"failure": failed if compiled.fails else "string(NULL)"}
        if reads or compiled.request_columns:
            out["need"] = call("coalesce", *(["unread"] if reads else []), self._write_needs(compiled.request_columns))
        return frame.selectExpr(*(f"{sql} AS {name}" for name, sql in out.items()))

    def _with_unread_schemas(self, incoming: DataFrame) -> DataFrame:
        """The frame with a column `unread`: the schemas of a record, as JSON, unless the chain knows both."""
        new = {part: sql for part in self._schemas if (sql := self._new_schema(part)) is not None}
        unknown = " OR ".join(f"{sql} IS NOT NULL" for sql in new.values())
        whole = {part: str(getattr(self._reading, part).schema_in(f"in_{part}", ())) for part in new}
        return incoming.selectExpr("*", f"CASE WHEN {unknown} THEN {_object({**whole, 'topic': self._read_topic})} END AS unread")

    def _write_needs(self, columns: Mapping[str, str]) -> Sql:
        """The schemas that a record's writers need, as JSON with the number of the chain; NULL if none."""
        if not columns:
            return "string(NULL)"
        is_wanted = " OR ".join(f"{column} IS NOT NULL" for column in columns.values())
        members = {"chain": str(self.number), **{f"{WRITER_NEED}{part}": column for part, column in columns.items()}}
        return f"CASE WHEN {is_wanted} THEN {_object(members)} END"

    def plan(self, columns: DataFrame) -> Any | str:
        """The plan over `headrace.spark.plane.columns` for all schemas known now (`headrace.spark.plane.plan_of`)."""
        self._compiled = None
        return plane.plan_of(self.lane_columns(columns))

    def drop_compiled(self) -> None:
        """Drop the compiled chain; the next use compiles it again."""
        self._compiled = None

    def literals(self) -> dict[str, str]:
        """The current schemas of the key and value writers, as the literals that a plan contains."""
        return {part: literal() for part, literal in self.compiled().learned_schemas.items()}

    def knows(self, need: Mapping[str, Any]) -> bool:
        """Whether the chain knows the schemas in this need."""
        return all(text in self._schemas[part] for part, text in need.items() if part in self._schemas)

    def outdates_plan(self, need: Mapping[str, Any]) -> bool:
        """Whether this need requires a new plan; literals (`literals`) are replaced within a plan."""
        parts = {name.removeprefix(WRITER_NEED) for name in need if name.startswith(WRITER_NEED)}
        return not self.knows(need) or not parts <= self.compiled().learned_schemas.keys()

    @property
    def is_full(self) -> bool:
        """Whether further schemas belong into another chain."""
        return any(len(texts) >= _MAX_SCHEMAS_PER_CHAIN for texts in self._schemas.values())

    def learn_need(self, need: Mapping[str, Any]) -> None:
        """Learn the schemas of a record: `key` and `value` as read, from `topic`, and those of its writers (prefix WRITER_NEED).

        Raises RetriableError if the registry is not available.
        """
        with self._asking_registry():
            texts = {name.removeprefix(WRITER_NEED): text for name, text in need.items() if name.startswith(WRITER_NEED)}
            learners = self.compiled().learners if texts else {}
            for name, text in texts.items():
                learners[name].learn([text])
            self._add_schemas(
                [
                    {part: need[part], "topic": need.get("topic")}
                    for part in self._schemas
                    if part in need and need[part] not in self._schemas[part]
                ]
            )


def _object(members: Mapping[str, Sql]) -> Sql:
    """JSON of an object, without the members that are NULL."""
    return f"to_json({call('named_struct', *(x for name, sql in members.items() for x in (lit(name), sql)))})"


def _if_failed(letter: Sql, sql: Sql) -> Sql:
    return case([("(failure IS NOT NULL)", letter)], sql)


def stamped(headers: Sql, millis: Sql) -> Sql:
    """Headers with the timestamp as the last one; NULL means the time of writing."""
    return append_header(headers, TIMESTAMP_HEADER, f"cast(string({millis}) as binary)")


def _name(component: object) -> str:
    return getattr(type(component), "plugin_name", type(component).__name__)
