"""Handling of records that fail in a chain: `errors.*` (Kafka's `RetryWithToleranceOperator` and dead letter queue).

In a compiled chain only plugins in Java are retried (`errors.retry.timeout`); other errors are final. Sources have a dead letter
queue, too, with the same keys as sinks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headrace.connect_config.settings import ConnectorSettings
from headrace.errors import ConnectError, HeadraceError
from headrace.values.sql import Sql, call, case, concat, lit

ERROR_HEADERS = "__connect.errors."
"""Prefix of the headers that describe why a record failed (KIP-298)."""
RECORD_TOPIC, KEY_TYPE, VALUE_TYPE = "record.topic", "record.key.type", "record.value.type"
"""Headrace's own headers, after ERROR_HEADERS: a source record's topic before the chain, and the types of its key and value
(`headrace.runtime.letter_values`), with which it can be replayed.
"""
_STAGES = {"key": "KEY_CONVERTER", "value": "VALUE_CONVERTER", "headers": "HEADER_CONVERTER"}


@dataclass(frozen=True)
class DeadLetters:
    """The dead letter topic."""

    topic: str
    replication_factor: int
    context: bool
    """`errors.deadletterqueue.context.headers.enable`: whether headers describe the failure."""


@dataclass(frozen=True)
class Tolerance:
    """What becomes of failed records."""

    all: bool
    """`errors.tolerance=all`: failed records are skipped, and the task continues."""
    log: bool
    """`errors.log.enable`."""
    messages: bool
    """`errors.log.include.messages`: what is logged has more of the record than where it is."""
    dead_letters: DeadLetters | None
    """None writes none."""
    retry: Mapping[str, int] = field(default_factory=dict)
    """In ms, for the host of plugins: `timeout`, how long a plugin that throws a RetriableException is retried, and `delay`, the
    longest pause between retries.
    """


NO_TOLERANCE = Tolerance(all=False, log=False, messages=False, dead_letters=None)
"""Kafka's default: the first failed record fails the task."""


@dataclass(frozen=True)
class FailedRecord:
    """A failed record."""

    origin: Mapping[str, str | None]
    """Where it is: topic, partition and offset, or what the source has instead."""
    step: str
    """`transform:<alias>`, `input.value` …"""
    java_class: str
    message: str
    cause: str | None
    """The exception behind it, as text; None for none."""
    record: Mapping[str, str | None]
    """What may be logged of it."""

    @classmethod
    def parse(cls, report: str) -> FailedRecord:
        """Parse the text of `report`."""
        fields = json.loads(report)
        failure = fields.pop("failure")
        record = fields.pop("record", {})
        return cls(fields, failure["step"], failure["class"], failure.get("message") or "", failure.get("cause"), record)

    @property
    def place(self) -> str:
        """The origin and the step in words: `topic=orders, partition=0, offset=3, at transform 'cast'`."""
        kind, _, name = self.step.partition(":")
        step = f"at transform '{name}'" if name else f"at {_where(self.step)}" if kind else ""
        return ", ".join([f"{part}={value}" for part, value in self.origin.items()] + [step])

    def error(self) -> ConnectError:
        """The error of a task without tolerance, with Kafka's sentence, the record and the cause."""
        cause = RecordError(f"{self.message} ({self.place})", self.java_class)
        if self.cause:
            java_class, _, message = self.cause.partition(": ")
            cause.__cause__ = RecordError(message, java_class)
        error = ConnectError(f"Tolerance exceeded in error handler: record {self.place}")
        error.__cause__ = cause
        return error


class RecordError(HeadraceError):
    """The error of a step of a chain for one record."""

    def __init__(self, message: str, java_class: str) -> None:
        super().__init__(message)
        self.java_class = java_class  # type: ignore[misc]


def _where(step: str) -> str:
    direction, _, part = step.partition(".")
    part = "headers" if part == "headers" else f"the {part}"
    return f"{'reading' if direction == 'input' else 'writing'} {part}"


def tolerance(settings: ConnectorSettings) -> Tolerance:
    """The tolerance of a connector's configuration."""
    topic = (settings.dlq_topic or "").strip()
    letters = DeadLetters(topic, settings.dlq_replication_factor, settings.dlq_headers) if topic else None
    tolerates = settings.errors_tolerance.lower() == "all"
    retry = {"timeout": settings.errors_retry_timeout_ms, "delay": settings.errors_retry_delay_max_ms}
    return Tolerance(tolerates, settings.errors_log_enable, settings.errors_log_messages, letters, retry)


def report(origin: Sequence[str], messages: bool, record: tuple[str, str] = ("key", "value"), *, sink: bool = False) -> Sql:
    """SQL of the report of a failed record, as JSON; NULL for other records.

    origin: the frame's columns with the origin of a record; messages: more of it is logged: key and value, which are in the
    columns `record`, of a sink's record only its timestamp, as by Kafka's LogReporter.
    """
    members = {_part(column): f"string({column})" for column in origin} | {"failure": "failure"}
    if messages:
        key, value = record
        members["record"] = _struct(
            {"record_timestamp": "string(in_timestamp)"} if sink else {"key": _readable(key), "value": _readable(value)}
        )
    return case([("(failure IS NOT NULL)", f"to_json({_struct(members)}, map('ignoreNullFields', 'false'))")])


def _struct(members: Mapping[str, Sql]) -> Sql:
    return call("named_struct", *(x for name, sql in members.items() for x in (lit(name), sql)))


def _part(column: Sql) -> str:
    """The part of the origin that a column, quoted or not, has."""
    return column.strip("`").removeprefix("__origin_")


def _readable(column: Sql) -> Sql:
    """Bytes as text for a log; base64 if they are not UTF-8."""
    return case([(f"is_valid_utf8(string({column}))", f"string({column})")], f"base64({column})")


def letter_headers(
    headers: Sql, who: tuple[str, int], origin: Sequence[str], classes: Mapping[str, str], more: Mapping[str, Sql]
) -> Sql:
    """Headers of a dead letter with Connect's context (`DeadLetterQueueReporter.populateContextHeaders`).

    who: connector and task; classes: step → class of the transformation or converter; more: headrace's own headers.
    """
    connector, task = who
    origin_values = {_part(column): f"string({column})" for column in origin}
    stages = [(f"(failure.step LIKE '%.{part}')", lit(stage)) for part, stage in _STAGES.items()]
    executing = [(f"(failure.step = {lit(step)})", lit(name)) for step, name in classes.items()]
    trace = concat(
        "failure.class", lit(": "), "failure.message", f"coalesce(concat({lit(chr(10) + 'Caused by: ')}, failure.cause), '')"
    )
    context = {
        "topic": origin_values.get("topic", "NULL"),
        "partition": origin_values.get("partition", "NULL"),
        "offset": origin_values.get("offset", "NULL"),
        "connector.name": lit(connector),
        "task.id": lit(str(task)),
        "stage": case(stages, lit("TRANSFORMATION")),
        "class.name": case(executing),
        "exception.class.name": "failure.class",
        "exception.message": "failure.message",
        "exception.stacktrace": trace,
        **more,
    }
    added = [
        f"named_struct('key', {lit(ERROR_HEADERS + name)}, 'value', cast(string({sql}) as binary))"
        for name, sql in context.items()
    ]
    return f"concat({headers}, array({', '.join(added)}))"
