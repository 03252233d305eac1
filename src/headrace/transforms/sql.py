"""Sql: sets parts of a record, or fields of them, by Spark SQL expressions over the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.config import ConfigDef, Importance, Option, Type
from headrace.config.example import Example
from headrace.config.validators import NonEmptyString
from headrace.errors import ConfigError
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation
from headrace.transforms.column_lineage import ColumnLineage, ColumnOrigin, Influence
from headrace.transforms.record_parts import PARTS, fit_to, with_field, with_parts
from headrace.values.expressions import Expression, ExpressionResult, evaluate
from headrace.values.field_path import field_path
from headrace.values.record import members, nulls, struct
from headrace.values.sql_references import references, sole_reference
from headrace.values.value import Case, Value, combined

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord

_SEES = (
    "It sees <code>topic</code> (STRING), <code>partition</code> (INT), <code>offset</code> (BIGINT, NULL for a source), "
    "<code>timestamp</code> (TIMESTAMP), <code>headers</code> (ARRAY&lt;STRUCT&lt;key: STRING, value: BINARY&gt;&gt;), and "
    "<code>key</code> and <code>value</code>: VARIANT for schemaless data (<code>value:a.b::bigint</code>), STRUCT for data "
    "with a schema (<code>value.a.b</code>), else STRING, BINARY, BOOLEAN or a number."
)
_FIELD = (
    " A single field is set by an option of its own: <code>{0}.total</code> sets the field <code>total</code> and leaves the "
    "others as they are, <code>{0}.a.b</code> the field <code>b</code> of <code>a</code>; backticks enclose a name that "
    "has dots."
)


@plugin("headrace.transforms.Sql", Kind.TRANSFORMATION)
class Sql(Transformation):
    """Sets the key, value, topic, partition, timestamp or headers, or single fields, by Spark SQL expressions over the record.

    All expressions see the record as it came in, as those of an SQL `UPDATE` do. A record of which one fails (a cast that does
    not fit, say), fails; the `try_` functions of Spark give NULL instead. `value` sets the value, `value.<field>` a field of it.
    """

    examples = (
        Example(
            {"value.total": "value:price::double * value:n::int"},
            {"value": {"price": 1.5, "n": 2}},
            {"value": {"price": 1.5, "n": 2, "total": 3.0}},
        ),
        Example({"topic": "concat('eu-', topic)"}, {"topic": "orders", "value": 1}, {"topic": "eu-orders"}),
    )

    @classmethod
    def definition(cls) -> ConfigDef:
        """An option for each part; those of fields (`value.<field>`) are read besides."""
        docs = {
            "key": "The new key. " + _SEES + _FIELD.format("key"),
            "value": "The new value: VARIANT, ARRAY, MAP and STRUCT give JSON data without schema, but STRUCT gives a Connect "
            "struct if the value had a schema; NULL gives null. It sees what <code>key</code> sees." + _FIELD.format("value"),
            "topic": "The new topic, a STRING.",
            "partition": "The new partition, an integer; NULL leaves the choice to the producer.",
            "timestamp": "The new timestamp: a TIMESTAMP or DATE, or an integer, ms since the epoch.",
            "headers": "The new headers, all of them: an ARRAY of STRUCTs of two fields, STRING and BINARY or STRING, or a MAP "
            "of the same.",
        }
        assert tuple(docs) == PARTS
        return ConfigDef(
            Option(name, Type.STRING, None, validator=NonEmptyString(), importance=Importance.HIGH, doc=doc)
            for name, doc in docs.items()
        )

    def __init__(self, props: Mapping[str, str]) -> None:
        self._props = dict(props)
        super().__init__(props)

    def configure(self) -> None:
        """`parts`: expressions of whole parts; `fields`: part → path → option and expression."""
        self.parts: dict[str, str] = {name: self.settings[name] for name in PARTS if self.settings[name] is not None}
        self.fields: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {"key": {}, "value": {}}
        for option, text in self._props.items():
            part, dot, path = option.partition(".")
            if part in self.fields and dot:
                self.fields[part][self._path(option, path, text)] = (option, text)
        for part, fields in self.fields.items():
            if part in self.parts and fields:
                raise ConfigError.invalid(
                    part, self.parts[part], f"It excludes {next(iter(fields.values()))[0]}; set one of them"
                )
        self.routes = "by record" if "topic" in self.parts else "no"
        if not self.parts and not any(self.fields.values()):
            raise ConfigError(f"No expression configured: set one of {', '.join(PARTS)}, key.<field> or value.<field>")

    def _path(self, option: str, path: str, text: Any) -> tuple[str, ...]:
        steps = field_path(path)
        if not steps or not all(steps):
            raise ConfigError.invalid(option, text, "The path has an empty step")
        if not str(text).strip():
            raise ConfigError.invalid(option, text, "String must be non-empty")
        return steps

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """Each part or field is made of the columns that its expression names."""
        made = {(part,): text for part, text in self.parts.items()}
        made |= {(part, *path): text for part, fields in self.fields.items() for path, (_, text) in fields.items()}
        changed = record
        for (part, *path), text in made.items():
            changed = changed.with_part(part, changed[part].put(tuple(path), _of_expression(record, text)))
        return changed

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Evaluate all expressions, then set what they are for."""
        expressions = {part: Expression(self.prefix + part, text, fit=fit_to(part)) for part, text in self.parts.items()}
        for part, fields in self.fields.items():
            for path, (option, text) in fields.items():
                expressions[f"{part}.{path}"] = Expression(self.prefix + option, text)
        found = evaluate(record, expressions)
        changed = with_parts(record, {part: found[part] for part in self.parts})
        for part, fields in self.fields.items():
            if fields:
                edits = {path: found[f"{part}.{path}"] for path in fields}
                changed = replace(changed, **{part: _edited(record.run, getattr(record, part), edits)})
        return changed


def _of_expression(record: RecordLineage, text: str) -> ColumnLineage:
    if column := sole_reference(text):
        return record.at(column)
    origins = (record.at(column).by(Influence.TRANSFORMATION).origins for column in references(text))
    return ColumnLineage(frozenset[ColumnOrigin]().union(*origins))


def _edited(run: CompileContext, value: Value, edits: Mapping[tuple[str, ...], ExpressionResult]) -> Value:
    """A map or struct with fields set; null stays null."""
    found = [*nulls(value)]
    for when, _, table in members(run, value, "SQL expression", null_passes=True):
        with run.only(when):
            for path, result in edits.items():
                table = with_field(run, table, path, result)
        found.append(Case(when, struct(table)))
    return combined(found)
