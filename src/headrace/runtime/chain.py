"""A task's chain: from the records that are read to those that are written."""

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
from headrace.transforms.chain import INPUT, NO_HEADERS, Compiled, Readers, compile_chain
from headrace.transforms.stages import Stage
from headrace.values.record import appended
from headrace.values.scope import filter_here
from headrace.values.sql import Sql, call, case, lit, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCHEMAS = 64  # of keys, and of values, that a task remembers
WANTED = "wanted_"
"""What comes before the name of what asks for something, in what a record needs before it can be written."""
_FULL = 32  # schemas that one chain of a feed knows: code for more is long
_MOST_AT_ONCE = 500  # schemas of one batch
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
        self.number = 0
        """Which of the chains of the same steps."""
        used = (getattr(sides, part) for sides in (steps.reading, steps.writing) for part in self._known)
        USAGE.watch(steps.connector, steps.task, used)

    def _asking(self) -> AbstractContextManager[None]:
        return USAGE.asking(self._steps.connector, self._steps.task)

    @property
    def learns(self) -> bool:
        """Whether a batch has to be looked at for new schemas before it can be transformed."""
        return any(self._new(part) is not None for part in self._known) or bool(self.compiled().request_columns)

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
        self.renew()
        with self._asking():
            if any(self._new(part) is not None for part in self._known):
                self._learn_readings(incoming)
            while (columns := self.compiled().request_columns) and self._ask(incoming, columns):
                pass

    def renew(self) -> bool:
        """Look again at what is known for writing, as far as its time is over; returns whether something else holds now."""
        writing = self._steps.writing
        with self._asking():
            renewed = [writer.renew() for writer in (writing.key, writing.value)]
        if any(renewed):
            self._compiled = None
        return any(renewed)

    def _learn_readings(self, incoming: DataFrame) -> None:
        for _ in range(_FEW):
            if not self._learn([self._unknown(incoming).head()]):
                return
        columns = self._unknown(incoming).columns
        row: Any = self._unknown(incoming).selectExpr(*(f"collect_set({part}) AS {part}" for part in columns)).first()
        if (most := max(len(row[part]) for part in columns)) > _MOST_AT_ONCE:
            raise ConnectError(
                f"A batch has records of {most} different schemas, and one plan is made for all of it, which may have "
                f"{_MOST_AT_ONCE}: have it read fewer records at once (consumer.override.max.poll.records={_MOST_AT_ONCE})."
            )
        self._learn([{part: text} for part in columns for text in sorted(row[part])])

    def _ask(self, incoming: DataFrame, columns: Mapping[str, str]) -> bool:
        """Find out what records of a batch need before they can be written; returns whether there was anything.

        In the order of the records: a registry may take a schema only after the one before.
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

    def _forget(self) -> None:
        if any(len(texts) > _SCHEMAS for texts in self._known.values()):
            self._known = {part: texts[-_SCHEMAS:] for part, texts in self._known.items()}
            self._compiled = None

    def _unknown(self, incoming: DataFrame) -> DataFrame:
        """The texts of schemas that are not known, in columns `key` and `value`, of the records that have one."""
        new_texts = {part: sql for part in self._known if (sql := self._new(part)) is not None}
        texts_frame = incoming.selectExpr(*(f"{sql} AS {part}" for part, sql in new_texts.items()))
        return filter_here(texts_frame, " OR ".join(f"{part} IS NOT NULL" for part in new_texts))

    def _learn(self, rows: Sequence[Any]) -> bool:
        """Take schemas over; returns whether there were any."""
        texts = [(part, text) for row in rows if row is not None for part, text in _items(row) if text is not None]
        for part, text in texts:
            getattr(self._reading, part).look_up([text])
            self._known[part] = [*self._known[part], text]
            self._compiled = None
        return bool(texts)

    def compiled(self) -> Compiled:
        """The chain for the schemas that are known."""
        if self._compiled is None:
            steps = self._steps
            self._compiled = compile_chain(steps.stages, steps.reading, steps.writing, self._known, steps.sink, chain=self.number)
        return self._compiled

    def _transformed(self, incoming: DataFrame, keep: Sequence[str] = ()) -> DataFrame:
        """After the chain: OUTPUT, the origin's columns, those to keep, and, if a record can fail, what it was read as."""
        compiled = self.compiled()
        originals = [f"in_{part}" for part in ("topic", "key", "value", "headers", "timestamp") if compiled.fails]
        return compiled.apply(incoming, [*self._origin, *keep, *originals])

    def letter(self) -> dict[str, Sql]:
        """What a failed record becomes, as columns for Spark's Kafka writer: itself, as it was read, in the dead letter topic.

        If there is none, in the topic that it was to be written to.
        """
        letters, headers = self._steps.tolerance.dead_letters, f"coalesce(in_headers, {NO_HEADERS})"
        if letters and letters.context:
            who = self._steps.connector, self._steps.task
            headers = letter_headers(headers, who, self._origin, self._classes(), self._as_given())
        return {
            "topic": lit(letters.topic) if letters else "topic",
            "key": as_bytes("in_key", self._record.key_kind),
            "value": as_bytes("in_value", self._record.value_kind),
            "headers": headers,
            "partition": "int(NULL)",
        }

    def _as_given(self) -> Mapping[str, Sql]:
        """What a letter of a source has to say so that it can be read again: Kafka's headers have no place for it."""
        kinds = {KEY_TYPE: self._record.key_kind, VALUE_TYPE: self._record.value_kind}
        types = {name: lit(type_text(kind)) for name, kind in kinds.items() if not isinstance(kind, str)}
        return types if self._steps.sink or "topic" in self._record.origin else {RECORD_TOPIC: "in_topic", **types}

    def _new(self, part: str) -> Sql | None:
        reader: ConverterReader = getattr(self._reading, part)
        return reader.schema_in(f"in_{part}", self._known[part])

    def _classes(self) -> Mapping[str, str]:
        names = {f"transform:{s.alias}": _name(s.transformation) for s in self._steps.stages}
        for part in ("key", "value"):
            names |= {f"input.{part}": _name(getattr(self._reading, part))}
            names |= {f"output.{part}": _name(getattr(self._steps.writing, part))}
        return names | {"output.headers": _name(self._steps.writing.header)}


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

    def another(self, number: int) -> FeedChain:
        """A chain of the same steps, with a number of its own, that knows no schemas yet."""
        chain = copy(self)
        chain.number, chain._compiled = number, None
        chain._known = {part: [] for part in self._known}
        return chain

    def lane_columns(self, columns: DataFrame) -> DataFrame:
        """The chain over `headrace.spark.plane.columns`.

        Columns: topic, partition, timestamp (bigint, ms), key, value, headers, failure (the report of a record that failed, as
        JSON), and, if schemas come with the records, or are asked for, need: what has to be known of schemas before the record
        can continue, as `learn_need` takes it; NULL if nothing has.

        A record that failed has its original key, value and headers, and the dead letter topic if there is one.
        """
        compiled, incoming = self.compiled(), self.incoming(columns)
        reads = any(self._new(part) is not None for part in self._known)
        frame = self._transformed(self._with_unread(incoming) if reads else incoming, ["unread"] if reads else [])
        names = ("topic", "partition", "timestamp", "key", "value", "headers")
        out: dict[str, Sql] = {name: self._written.get(name, name) for name in names}
        if compiled.fails:
            letter = self.letter() | {"timestamp": "in_timestamp"}
            out = {name: _if_failed(letter[name], sql) for name, sql in out.items()}
        failed = (
            report(self._origin, self._steps.tolerance.messages, ("in_key", "in_value")) if compiled.fails else "string(NULL)"
        )
        out |= {"failure": failed}
        if reads or compiled.request_columns:
            out["need"] = call("coalesce", *(["unread"] if reads else []), self._unwritten(compiled.request_columns))
        return frame.selectExpr(*(f"{sql} AS {name}" for name, sql in out.items()))

    def _with_unread(self, incoming: DataFrame) -> DataFrame:
        """With a column `unread`: the schemas of a record, as JSON, if the chain does not know both."""
        new = {part: sql for part in self._known if (sql := self._new(part)) is not None}
        unknown = " OR ".join(f"{sql} IS NOT NULL" for sql in new.values())
        whole = {part: str(getattr(self._reading, part).schema_in(f"in_{part}", ())) for part in new}
        return incoming.selectExpr("*", f"CASE WHEN {unknown} THEN {_object(whole)} END AS unread")

    def _unwritten(self, request_columns: Mapping[str, str]) -> Sql:
        """What has to be known before a record can be written, as JSON with the number of the chain."""
        if not request_columns:
            return "string(NULL)"
        is_wanted = " OR ".join(f"{column} IS NOT NULL" for column in request_columns.values())
        members = {"chain": str(self.number), **{f"{WANTED}{part}": column for part, column in request_columns.items()}}
        return f"CASE WHEN {is_wanted} THEN {_object(members)} END"

    def plan(self, columns: DataFrame) -> Any | str:
        """The plan over `headrace.spark.plane.columns`, with all that is known now (`headrace.spark.plane.plan_of`)."""
        self._compiled = None
        return plane.plan_of(self.lane_columns(columns))

    def forget(self) -> None:
        """Forget what was compiled; it is compiled again when it is needed."""
        self._compiled = None

    def literals(self) -> dict[str, str]:
        """What is known for writing keys and values now, as it stands in a plan."""
        return {part: known() for part, known in self.compiled().learned_schemas.items()}

    def knows(self, need: Mapping[str, Any]) -> bool:
        """Whether it knows the schemas of a record."""
        return all(text in self._known[part] for part, text in need.items() if part in self._known)

    def outdates_plan(self, need: Mapping[str, Any]) -> bool:
        """Whether a plan has to be made again to know this: not for what stands in it as a literal (`literals`)."""
        parts = {name.removeprefix(WANTED) for name in need if name.startswith(WANTED)}
        return not self.knows(need) or not parts <= self.compiled().learned_schemas.keys()

    @property
    def is_full(self) -> bool:
        """Whether further schemas are better known by another chain."""
        return any(len(texts) >= _FULL for texts in self._known.values())

    def learn_need(self, need: Mapping[str, Any]) -> None:
        """Find out what a record needs: `key` and `value`, its schemas, or, behind WANTED, what it needs before it is written.

        Raises RetriableError if that cannot be done now.
        """
        with self._asking():
            texts = {name.removeprefix(WANTED): text for name, text in need.items() if name.startswith(WANTED)}
            learners = self.compiled().learners if texts else {}
            for name, text in texts.items():
                learners[name].learn([text])
            self._learn([{part: need[part]} for part in self._known if part in need and need[part] not in self._known[part]])


def _object(members: Mapping[str, Sql]) -> Sql:
    """JSON of an object, without the members that are NULL."""
    return f"to_json({call('named_struct', *(x for name, sql in members.items() for x in (lit(name), sql)))})"


def _items(row: Any) -> list[tuple[str, str | None]]:
    return list((row if isinstance(row, dict) else row.asDict()).items())


def _if_failed(letter: Sql, sql: Sql) -> Sql:
    return case([("(failure IS NOT NULL)", letter)], sql)


def stamped(headers: Sql, millis: Sql) -> Sql:
    """Headers with the timestamp as the last one; none (NULL) is the time of writing."""
    return appended(headers, TIMESTAMP_HEADER, f"cast(string({millis}) as binary)")


def _name(component: object) -> str:
    return getattr(type(component), "plugin_name", type(component).__name__)
