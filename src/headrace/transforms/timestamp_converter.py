"""TimestampConverter: converts a timestamp, in a field or the whole value, between numbers, texts and Connect's date types."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import ValidString
from headrace.errors import ConfigError
from headrace.transforms.base import PartTransformation, key_and_value, replace_null_option
from headrace.transforms.column_lineage import Influence, RecordLineage
from headrace.transforms.date_pattern import date_pattern
from headrace.values.compile_context import DATA, CompileContext
from headrace.values.record import ConnectRecord, copy_struct, members, nulls, struct
from headrace.values.schema import DATE, TIME, TIMESTAMP, Schema
from headrace.values.sql import Sql, all_of, call, case, lit
from headrace.values.value import COPIED, Case, TypedValue, combined, mapped, or_null


def _or_none(text: str) -> str | None:
    return text or None


@key_and_value("org.apache.kafka.connect.transforms.TimestampConverter")
class TimestampConverter(PartTransformation):
    """Converts a timestamp, in a field or the whole value, between numbers, texts and Connect's date types."""

    examples = (
        Example(
            {"field": "at", "target.type": "string", "format": "yyyy-MM-dd HH:mm"},
            {"value": {"at": 1577934240000}},
            {"value": {"at": "2020-01-02 03:04"}},
        ),
        Example(
            {"field": "at", "target.type": "unix", "format": "yyyy-MM-dd", "unix.precision": "seconds"},
            {"value": {"at": "2020-01-02"}},
            {"value": {"at": 1577923200}},
        ),
    )

    field: str | None = option(
        "field",
        Type.STRING,
        "",
        convert=_or_none,
        importance=Importance.HIGH,
        doc="The field containing the timestamp, or empty if the entire value is a timestamp",
    )
    target_type: str = option(
        "target.type",
        Type.STRING,
        validator=ValidString("string", "unix", "Date", "Time", "Timestamp"),
        importance=Importance.HIGH,
        doc="The desired timestamp representation: string, unix, Date, Time, or Timestamp",
    )
    format: str | None = option(
        "format",
        Type.STRING,
        "",
        convert=_or_none,
        doc="A SimpleDateFormat-compatible format for the timestamp. Used to generate the output when type=string or "
        "used to parse the input if the input is a string.",
    )
    unix_precision: str = option(
        "unix.precision",
        Type.STRING,
        "milliseconds",
        validator=ValidString("nanoseconds", "microseconds", "milliseconds", "seconds"),
        importance=Importance.LOW,
        doc="The desired Unix precision for the timestamp: seconds, milliseconds, microseconds, or nanoseconds. Used "
        "to generate the output when type=unix or used to parse the input if the input is a Long.Note: This SMT "
        "will cause precision loss during conversions from, and to, values with sub-millisecond components.",
    )
    replace_null_with_default: bool = replace_null_option()

    def check(self) -> None:
        """Refuse a format that is missing or that SimpleDateFormat refuses."""
        if self.target_type == "string" and self.format is None:
            raise ConfigError("TimestampConverter requires format option to be specified when using string timestamps")
        if self.format is not None:
            try:
                date_pattern(self.format)
            except ValueError as error:
                problem = (
                    "TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: " + self.format
                )
                raise ConfigError.invalid(problem, f"java.lang.IllegalArgumentException: {error}") from None

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The field, or the whole key or value, comes from itself."""
        part, how = record[self.target], Influence.TRANSFORMATION
        return record.with_part(self.target, part.by(how) if self.field is None else part.changed([self.field], how))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Convert the field, or the whole key or value; null stays null."""
        context, value = record.context, getattr(record, self.target)
        if self.field is None:
            return replace(record, **{self.target: mapped(value, partial(self._converted, context))})
        cases = [Case(a.when, self._null(a.value)) for a in value if a.value.kind == "null"]
        for a in nulls(value):
            if a.value.kind != "null":  # Kafka lists the schema's fields before it checks the value
                context.fail(all_of(a.when, a.value.is_null()), lit("Cannot list fields on non-struct type"))
        for when, _, opened in members(context, value, "converting timestamp formats", null_passes=True):
            with context.where(when):
                if opened.schema is None:
                    changed = replace(opened, capacity=COPIED).with_field(
                        self.field, or_null(mapped(opened.get(self.field), partial(self._converted, context)))
                    )
                else:
                    changed = copy_struct(context, None, opened, self.replace_null_with_default, keep_schema=True)
                    if self.field in changed.fields:
                        field = mapped(changed.fields[self.field], partial(self._converted, context))
                        changed = changed.with_field(self.field, field)
            cases.append(Case(when, struct(changed)))
        return replace(record, **{self.target: combined(cases)})

    def _converted(self, context: CompileContext, when: Sql | None, typed: TypedValue) -> TypedValue:
        if typed.kind == "null" and typed.schema is None:
            return typed
        schema = typed.schema
        if schema is not None and schema.name in (DATE, TIME, TIMESTAMP) and typed.kind != "date":
            # Cast of a whole value keeps the name of its schema
            why = f"Expected {schema.name.rpartition('.')[2]} to be a java.util.Date, but found class {typed.java}"
            context.fail(all_of(when, f"(NOT {typed.is_null()})"), lit(why))
            typed = TypedValue("date", "cast(NULL as bigint)", schema)
        source = _source(typed)
        if source is None:
            if typed.schema is None:
                message, java_class = f"TimestampConverter does not support class {typed.java} objects as timestamps", DATA
            else:
                message = f"Schema {typed.schema.described} does not correspond to a known timestamp type format"
                java_class = "org.apache.kafka.connect.errors.ConnectException"
            context.fail(when, lit(message), java_class)
            return typed
        kind, sql, target = _TARGETS[self.target_type]
        millis = context.scope.bind(case([(when, self._millis(context, when, typed, source))]))
        optional = typed.schema is not None and typed.schema.optional
        result = None if typed.schema is None else target.same_but(optional=optional)
        if (source, self.target_type) == ("string", "string"):  # Kafka's format keeps the time zone of the text
            return TypedValue(kind, call("headrace_date_again", typed.sql, lit(self.format)), result)
        return TypedValue(kind, self._unix(millis) if self.target_type == "unix" else self._text(sql, millis), result)

    def _millis(self, context: CompileContext, when: Sql | None, typed: TypedValue, source: str) -> Sql:
        """Milliseconds since the epoch; NULL for null."""
        if source == "date":
            return typed.sql
        if source == "unix":
            factor, divides = _PRECISIONS[self.unix_precision]
            number = call("headrace_decimal_long", typed.sql) if typed.kind == "huge" else typed.sql
            return f"({number} div {factor}L)" if divides else _saturated(number, factor)
        not_null = f"({typed.sql} IS NOT NULL)"
        if self.format is None:
            message = 'Cannot invoke "java.text.SimpleDateFormat.parse(String)" because "config.format" is null'
            context.fail(all_of(when, not_null), lit(message), "java.lang.NullPointerException")
            return "cast(NULL as bigint)"
        millis = context.scope.bind(case([(when, call("headrace_date_parse", typed.sql, lit(self.format)))]))
        message = call(
            "concat", lit("Could not parse timestamp: value ("), typed.sql, lit(f") does not match pattern ({self.format})")
        )
        cause = call("concat", lit('java.text.ParseException: Unparseable date: "'), typed.sql, lit('"'))
        context.fail(all_of(when, not_null, f"({millis} IS NULL)"), message, cause=cause)
        return millis

    def _unix(self, millis: Sql) -> Sql:
        factor, divides = _PRECISIONS[self.unix_precision]
        return _saturated(millis, factor) if divides else f"({millis} div {factor}L)"

    def _null(self, typed: TypedValue) -> TypedValue:
        """Null, with the schema of a converted value."""
        schema = typed.schema
        if schema is None or self.field is None or self.field not in schema.members:
            return typed
        fields = dict(schema.members)
        fields[self.field] = _TARGETS[self.target_type][2].same_but(optional=fields[self.field].optional)
        return replace(typed, schema=schema.same_but(fields=fields))

    def _text(self, sql: str, millis: Sql) -> Sql:
        return sql.format(ms=millis, format=lit(self.format))


_DAY = "86400000L"
_FIRST_DAY = f"{-(2**63) // 86_400_000 * 86_400_000 + 86_400_000}L"
_MAX_LONG = 2**63 - 1
_TARGETS = {
    "string": ("string", "headrace_date_format({ms}, {format})", Schema("string")),
    "unix": ("int64", "", Schema("int64")),
    # The first day of the range of a 64-bit number of milliseconds is incomplete: such a date fails when written, as in Kafka.
    "Date": ("date", f"({{ms}} - pmod(greatest({{ms}}, {_FIRST_DAY}), {_DAY}))", Schema("int32", name=DATE, version=1)),
    "Time": ("date", f"pmod({{ms}}, {_DAY})", Schema("int32", name=TIME, version=1)),
    "Timestamp": ("date", "{ms}", Schema("int64", name=TIMESTAMP, version=1)),
}
"""Kind, expression and schema of each target."""
_PRECISIONS = {
    "seconds": (1000, False),
    "milliseconds": (1, False),
    "microseconds": (1000, True),
    "nanoseconds": (1_000_000, True),
}
"""The factor between a unit and milliseconds, and whether a number is divided by it."""


def _source(typed: TypedValue) -> str | None:
    """The form of the timestamp: "date", "unix", "string", or None for a value that is no timestamp."""
    return {"date": "date", "int64": "unix", "huge": "unix", "string": "string"}.get(typed.kind)


def _saturated(number: Sql, factor: int) -> Sql:
    """A product, limited to the range of a long (java.util.concurrent.TimeUnit)."""
    if factor == 1:
        return number
    limit = _MAX_LONG // factor
    bounds = [(f"({number} > {limit}L)", lit(_MAX_LONG)), (f"({number} < -{limit}L)", lit(-_MAX_LONG - 1))]
    return case(bounds, f"({number} * {factor}L)")
