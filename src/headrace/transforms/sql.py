"""Sql: sets parts of a record, or fields of them, by Spark SQL expressions over the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import NonEmptyString
from headrace.errors import ConfigError
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation
from headrace.transforms.column_lineage import ColumnLineage, ColumnOrigin, Influence, RecordLineage
from headrace.transforms.record_parts import PARTS, fit_to, with_field, with_parts
from headrace.values.compile_context import CompileContext
from headrace.values.expressions import Expression, ExpressionResult, evaluate
from headrace.values.field_path import field_path
from headrace.values.record import ConnectRecord, members, nulls, struct
from headrace.values.sql_references import references, sole_reference
from headrace.values.value import Case, Value, combined

_COLUMNS_DOC = (
    "It sees <code>topic</code> (STRING), <code>partition</code> (INT), <code>offset</code> (BIGINT, NULL for a source), "
    "<code>timestamp</code> (TIMESTAMP), <code>headers</code> (ARRAY&lt;STRUCT&lt;key: STRING, value: BINARY&gt;&gt;), and "
    "<code>key</code> and <code>value</code>: VARIANT for schemaless data (<code>value:a.b::bigint</code>), STRUCT for data "
    "with a schema (<code>value.a.b</code>; of records with several schemas one with all their fields, NULL where a record has "
    "none), else STRING, BINARY, BOOLEAN or a number."
)
_FIELD_DOC = (
    " A single field is set by an option of its own: <code>{0}.total</code> sets the field <code>total</code> and leaves the "
    "others as they are, <code>{0}.a.b</code> the field <code>b</code> of <code>a</code>; backticks enclose a name that "
    "has dots."
)


def _expression(part: str, doc: str) -> Any:
    return option(part, Type.STRING, None, validator=NonEmptyString(), importance=Importance.HIGH, doc=doc)


@plugin("headrace.transforms.Sql", Kind.TRANSFORMATION)
class Sql(Transformation):
    """Sets the key, value, topic, partition, timestamp or headers, or single fields, by Spark SQL expressions over the record.

    All expressions see the input record, as those of an SQL `UPDATE` do. A record for which an expression fails (a cast of a
    value that does not fit, say), fails; Spark's `try_` functions give NULL instead. `value` sets the value, `value.<field>` one
    field.
    """

    examples = (
        Example(
            {"value.total": "value:price::double * value:n::int"},
            {"value": {"price": 1.5, "n": 2}},
            {"value": {"price": 1.5, "n": 2, "total": 3.0}},
        ),
        Example({"topic": "concat('eu-', topic)"}, {"topic": "orders", "value": 1}, {"topic": "eu-orders"}),
    )

    key = _expression("key", "The new key. " + _COLUMNS_DOC + _FIELD_DOC.format("key"))
    value = _expression(
        "value",
        "The new value: VARIANT, ARRAY, MAP and STRUCT give JSON data without schema, but STRUCT gives a Connect struct if the "
        "value had a schema; NULL gives null. It sees what <code>key</code> sees." + _FIELD_DOC.format("value"),
    )
    topic = _expression("topic", "The new topic, a STRING.")
    partition = _expression("partition", "The new partition, an integer; NULL leaves the choice to the producer.")
    timestamp = _expression(
        "timestamp",
        "The new timestamp: a TIMESTAMP or DATE, or an integer, ms since the epoch; NULL, or one before the epoch, gives the "
        "time of writing.",
    )
    headers = _expression(
        "headers",
        "The new headers, all of them: an ARRAY of STRUCTs of two fields, STRING and BINARY or STRING, or a MAP of the same.",
    )

    def check(self) -> None:
        """Set `parts`, the expressions of whole parts, and `fields`: part → path → option and expression.

        Raises ConfigError for a path with an empty step, for a part that is set both as a whole and by fields, and if nothing is
        set.
        """
        self.parts: dict[str, str] = {name: self[name] for name in PARTS if self[name] is not None}
        self.fields: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {"key": {}, "value": {}}
        for name, text in self.originals.items():
            part, dot, path = name.partition(".")
            if part in self.fields and dot:
                self.fields[part][self._path(name, path, text)] = (name, text)
        for part, fields in self.fields.items():
            if part in self.parts and fields:
                raise ConfigError.invalid(
                    part, self.parts[part], f"It excludes {next(iter(fields.values()))[0]}; set one of them"
                )
        self.routes = "by record" if "topic" in self.parts else "no"
        if not self.parts and not any(self.fields.values()):
            raise ConfigError(f"No expression configured: set one of {', '.join(PARTS)}, key.<field> or value.<field>")

    def _path(self, name: str, path: str, text: Any) -> tuple[str, ...]:
        steps = field_path(path)
        if not steps or not all(steps):
            raise ConfigError.invalid(name, text, "The path has an empty step")
        if not str(text).strip():
            raise ConfigError.invalid(name, text, "String must be non-empty")
        return steps

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """Each part or field comes from the columns that its expression refers to."""
        texts = {(part,): text for part, text in self.parts.items()}
        texts |= {(part, *path): text for part, fields in self.fields.items() for path, (_, text) in fields.items()}
        changed = record
        for (part, *path), text in texts.items():
            changed = changed.with_part(part, changed[part].put(tuple(path), _expression_lineage(record, text)))
        return changed

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Evaluate all expressions over the input record, then set the parts and fields."""
        expressions = {part: Expression(self.prefix + part, text, fit=fit_to(part)) for part, text in self.parts.items()}
        for part, fields in self.fields.items():
            for path, (name, text) in fields.items():
                expressions[f"{part}.{path}"] = Expression(self.prefix + name, text)
        results = evaluate(record, expressions)
        changed = with_parts(record, {part: results[part] for part in self.parts})
        for part, fields in self.fields.items():
            if fields:
                edits = {path: results[f"{part}.{path}"] for path in fields}
                changed = replace(changed, **{part: _set_fields(record.context, getattr(record, part), edits)})
        return changed


def _expression_lineage(record: RecordLineage, text: str) -> ColumnLineage:
    if column := sole_reference(text):
        return record.at(column)
    origins = (record.at(column).by(Influence.TRANSFORMATION).origins for column in references(text))
    return ColumnLineage(frozenset[ColumnOrigin]().union(*origins))


def _set_fields(context: CompileContext, value: Value, edits: Mapping[tuple[str, ...], ExpressionResult]) -> Value:
    """A map or struct with fields set; null stays null."""
    cases = [*nulls(value)]
    for when, _, opened in members(context, value, "SQL expression", null_passes=True):
        with context.where(when):
            for path, result in edits.items():
                opened = with_field(context, opened, path, result)
        cases.append(Case(when, struct(opened)))
    return combined(cases)
