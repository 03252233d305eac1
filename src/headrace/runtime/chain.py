"""A task's chain: from the records that are read to those that are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.converters.base import ConverterReader, Writers
from headrace.converters.typed_column import TypedColumn, TypedHeaders
from headrace.record import HEADERS_TYPE, RecordColumns
from headrace.runtime.plan import TaskPlan
from headrace.runtime.schema_usage import USAGE
from headrace.runtime.tolerance import Tolerance, letter_headers, report
from headrace.spark.kafka import ORIGIN, TIMESTAMP_HEADER
from headrace.transforms.chain import INPUT, NO_HEADERS, Compiled, Readers, compile_chain
from headrace.transforms.stages import Stage
from headrace.values.record import appended
from headrace.values.scope import kept
from headrace.values.sql import Sql, call, case, lit, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_SCHEMAS = 64  # of keys, and of values, that a task remembers
WANTED = "wanted:"
"""What comes before what a chain needs for writing: who asks, a colon, and the text; no text of a schema begins so."""
_FEW = 4  # schemas of a batch that are looked for one by one


@dataclass(frozen=True)
class Steps:
    """What happens to a record between reading and writing."""

    connector: str
    task: int
    """`connector`, `task`: who, for dead letters."""
    reading: Readers
    stages: tuple[Stage, ...]
    writing: Writers
    tolerance: Tolerance
    sink: bool = False
    """Records have offsets, and are written to elsewhere."""


class TaskChain:
    """The chain of one task for records of one shape.

    What the converters read decides the plan: schemas that come with the records have to be known first (`learn`).
    """

    def __init__(self, steps: Steps, record: RecordColumns) -> None:
        self._steps, self._record = steps, record
        self._reading = steps.reading
        self._origin = [quoted(ORIGIN + part) for part in record.origin]
        self._known: dict[str, list[str]] = {"key": [], "value": []}
        self._compiled: Compiled | None = None
        used = (getattr(sides, part) for sides in (steps.reading, steps.writing) for part in self._known)
        USAGE.watch(steps.connector, steps.task, used)

    def _asking(self) -> AbstractContextManager[None]:
        return USAGE.asking(self._steps.connector, self._steps.task)

    @property
    def learns(self) -> bool:
        """Whether a batch has to be looked at for new schemas before it can be transformed."""
        return any(self._new(part) is not None for part in self._known) or bool(self.compiled().asks)

    def incoming(self, frame: DataFrame) -> DataFrame:
        """The source's frame as the chain wants it: INPUT, and a column for each part of the origin."""
        from pyspark.sql import functions as F

        record = self._record
        timestamp = F.expr("bigint(NULL)") if record.timestamp is None else F.unix_millis(record.timestamp)
        partition = F.expr("int(NULL)") if record.partition is None else record.partition
        headers = F.expr(f"cast(NULL as {HEADERS_TYPE})") if record.headers is None else record.headers
        offset = F.expr("bigint(NULL)") if record.offset is None else record.offset
        columns = (record.topic, partition, offset, timestamp, record.key, record.value, headers)
        named = [column.alias(name) for name, column in zip(INPUT, columns, strict=True)]
        origin = [column.alias(ORIGIN + part) for part, column in record.origin.items()]
        left = frame if record.dropped is None else frame.where(~record.dropped)
        return left.select(*named, *origin)

    def learn(self, incoming: DataFrame) -> None:
        """Find the schemas of a batch that are not known yet; reads the batch if it can have any.

        One by one at first: a record of a known schema is recognized by comparing bytes, one of an unknown schema is parsed.
        """
        self._forget()  # never those of the batch that is being looked at
        with self._asking():
            if any(self._new(part) is not None for part in self._known):
                self._learn_readings(incoming)
            while (asks := self.compiled().asks) and self._ask(incoming, asks):
                pass

    def _learn_readings(self, incoming: DataFrame) -> None:
        for _ in range(_FEW):
            if not self._learn([self._unknown(incoming).head()]):
                return
        columns = self._unknown(incoming).columns
        found: Any = self._unknown(incoming).selectExpr(*(f"collect_set({part}) AS {part}" for part in columns)).first()
        self._learn([{part: text} for part in columns for text in sorted(found[part])])

    def _ask(self, incoming: DataFrame, asks: Mapping[str, str]) -> bool:
        """Find out what records of a batch need before they can be written; returns whether there was anything."""
        frame = self.compiled().apply(incoming).selectExpr(*(f"collect_set({asks[part]}) AS {part}" for part in asks))
        found: Any = frame.first()
        if not any(found[part] for part in asks):
            return False
        for part, learner in self.compiled().learners.items():
            learner.learn(sorted(found[part]))
        self._compiled = None
        return True

    def _forget(self) -> None:
        if any(len(texts) > _SCHEMAS for texts in self._known.values()):
            self._known = {part: texts[-_SCHEMAS:] for part, texts in self._known.items()}
            self._compiled = None

    def _unknown(self, incoming: DataFrame) -> DataFrame:
        """The texts of schemas that are not known, in columns `key` and `value`, of the records that have one."""
        wanted = {part: sql for part in self._known if (sql := self._new(part)) is not None}
        found = incoming.selectExpr(*(f"{sql} AS {part}" for part, sql in wanted.items()))
        return kept(found, " OR ".join(f"{part} IS NOT NULL" for part in wanted))

    def _learn(self, found: Sequence[Any]) -> bool:
        """Take schemas over; returns whether there were any."""
        texts = [(part, text) for row in found if row is not None for part, text in _items(row) if text is not None]
        for part, text in texts:
            getattr(self._reading, part).look_up([text])
            self._known[part] = [*self._known[part], text]
            self._compiled = None
        return bool(texts)

    def compiled(self) -> Compiled:
        """The chain for the schemas that are known."""
        if self._compiled is None:
            steps = self._steps
            self._compiled = compile_chain(steps.stages, steps.reading, steps.writing, self._known, steps.sink)
        return self._compiled

    def _transformed(self, incoming: DataFrame) -> DataFrame:
        """After the chain: OUTPUT, the origin's columns, and, if a record can fail, what it was read as."""
        compiled = self.compiled()
        originals = [name for name in ("in_key", "in_value", "in_headers", "in_timestamp") if compiled.fails]
        return compiled.apply(incoming, [*self._origin, *originals])

    def letter(self) -> dict[str, Sql]:
        """What a failed record becomes, as columns for Spark's Kafka writer: itself, as it was read, in the dead letter topic.

        If there is none, in the topic that it was to be written to.
        """
        letters, headers = self._steps.tolerance.dead_letters, f"coalesce(in_headers, {NO_HEADERS})"
        if letters and letters.context:
            headers = letter_headers(headers, (self._steps.connector, self._steps.task), self._origin, self._classes())
        return {
            "topic": lit(letters.topic) if letters else "topic",
            "key": _original("in_key", self._record.key_kind),
            "value": _original("in_value", self._record.value_kind),
            "headers": headers,
            "partition": "int(NULL)",
        }

    def _new(self, part: str) -> Sql | None:
        reader: ConverterReader = getattr(self._reading, part)
        return reader.schema_in(f"in_{part}", self._known[part])

    def _classes(self) -> Mapping[str, str]:
        found = {f"transform:{s.alias}": _name(s.transformation) for s in self._steps.stages}
        for part in ("key", "value"):
            found |= {f"input.{part}": _name(getattr(self._reading, part))}
            found |= {f"output.{part}": _name(getattr(self._steps.writing, part))}
        return found | {"output.headers": _name(self._steps.writing.header)}


def source_steps(plan: TaskPlan, record: RecordColumns) -> Steps:
    """What happens to the records of a source."""
    key = plan.source_key_converter or TypedColumn(record.key_kind)
    value = plan.source_value_converter or TypedColumn(record.value_kind)
    reading = Readers(key, value, TypedHeaders())
    return Steps(plan.connector, plan.task, reading, plan.stages, plan.converters, plan.tolerance)


class SourceChain(TaskChain):
    """Between what a source gives and what Spark's Kafka writer takes."""

    def __init__(self, plan: TaskPlan, record: RecordColumns) -> None:
        super().__init__(source_steps(plan, record), record)

    def outgoing(self, incoming: DataFrame) -> DataFrame:
        """The columns of Spark's Kafka writer, the origin's, and `failure` if a record can fail.

        A record that failed has its original key, value and headers, and the dead letter topic if there is one.
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
        """With the timestamp as the last one, as the producer's interceptor wants it (docs/decisions/0003)."""
        if self._record.timestamp is None and compiled.columns["timestamp"] == "in_timestamp":
            return "headers"
        return stamped("headers", "timestamp")


class FeedChain(TaskChain):
    """Between a lane's columns and what a feed hands to its producer (`jvm/java/io/headrace/lanes/Chain.java`)."""

    def __init__(self, steps: Steps, record: RecordColumns, written: Mapping[str, Sql] | None = None) -> None:
        """written: for columns that `lane_columns` gives, how they follow from those of the chain (None: they are the same)."""
        super().__init__(steps, record)
        self._written = written or {}

    def lane_columns(self, columns: DataFrame) -> DataFrame:
        """The chain over `headrace.spark.plane.columns`.

        Columns: topic, partition, timestamp (bigint, ms), key, value, headers, failure (the report of a record that failed, as
        JSON), and, if schemas come with the records, or are asked for, key_schema and value_schema: texts of schemas that the
        chain does not know, or, behind WANTED, of what it needs before it can write the record.

        A record that failed has its original key, value and headers, and the dead letter topic if there is one.
        """
        compiled, incoming = self.compiled(), self.incoming(columns)
        texts = {part: self._new(part) for part in self._known}
        learns = any(texts.values()) or bool(compiled.asks)
        schemas = [f"{sql or 'string(NULL)'} AS new_{part}_schema" for part, sql in texts.items() if learns]
        incoming = incoming.selectExpr("*", *schemas) if schemas else incoming
        self._origin += [f"new_{part}_schema" for part in texts] if schemas else []
        try:
            frame = self._transformed(incoming)
        finally:
            self._origin = self._origin[: len(self._record.origin)]
        names = ("topic", "partition", "timestamp", "key", "value", "headers")
        out: dict[str, Sql] = {name: self._written.get(name, name) for name in names}
        if compiled.fails:
            letter = self.letter() | {"timestamp": "in_timestamp"}
            out = {name: _if_failed(letter[name], sql) for name, sql in out.items()}
        failed = (
            report(self._origin, self._steps.tolerance.messages, ("in_key", "in_value")) if compiled.fails else "string(NULL)"
        )
        out |= {"failure": failed} | ({f"{part}_schema": _needed(part, compiled.asks) for part in texts} if schemas else {})
        return frame.selectExpr(*(f"{sql} AS {name}" for name, sql in out.items()))

    def learn_texts(self, texts: Mapping[str, Iterable[str]]) -> None:
        """Take over texts of schemas that a feed has met, for `key` and `value`, and find out what it needs (`lane_columns`).

        The oldest are forgotten where there are too many. Raises RetriableError if that cannot be done now.
        """
        self._forget()
        with self._asking():
            wanted: dict[str, list[str]] = {}
            for part, new in texts.items():
                asked = [text for text in sorted(new) if text.startswith(WANTED)]
                for text in asked:
                    name, _, needed = text.removeprefix(WANTED).partition(":")
                    wanted.setdefault(name, []).append(needed)
                self._learn([{part: text} for text in sorted(new) if text not in asked and text not in self._known[part]])
            learners = self.compiled().learners if wanted else {}
            for name, needed in wanted.items():
                learners[name].learn(needed)
                self._compiled = None


def _needed(part: str, asks: Mapping[str, str]) -> Sql:
    """What has to be known of a record's key or value: how it is read, and then how it is written.

    What is asked for in the midst of the chain stands with the value.
    """
    names = [name for name in asks if name == part or (part == "value" and name != "key")]
    return call("coalesce", f"new_{part}_schema", *(f"concat({lit(f'{WANTED}{name}:')}, {asks[name]})" for name in names))


def _items(row: Any) -> list[tuple[str, str | None]]:
    return list((row if isinstance(row, dict) else row.asDict()).items())


def _if_failed(letter: Sql, sql: Sql) -> Sql:
    return case([("(failure IS NOT NULL)", letter)], sql)


def stamped(headers: Sql, millis: Sql) -> Sql:
    """Headers with the timestamp as the last one; none (NULL) is the time of writing."""
    return appended(headers, TIMESTAMP_HEADER, f"cast(string({millis}) as binary)")


def _original(column: Sql, kind: str | DataType) -> Sql:
    """What a source gave, as bytes: text in UTF-8, other columns as JSON."""
    if isinstance(kind, str):
        return f"cast({column} as binary)"
    name = kind.simpleString()
    if name == "binary":
        return column
    text = f"to_json({column})" if name.startswith(("struct", "array", "map")) else f"string({column})"
    return f"cast({text} as binary)"


def _name(component: object) -> str:
    return getattr(type(component), "plugin_name", type(component).__name__)
