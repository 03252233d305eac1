"""MaskField: masks fields with the empty value of their type (0, false, the empty text), or with a replacement."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from functools import partial

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import NonEmptyString, ValidList
from headrace.transforms.base import PartTransformation, key_and_value, replace_null_option
from headrace.transforms.column_lineage import Influence, RecordLineage
from headrace.values.compile_context import CompileContext
from headrace.values.java_integers import exponent_of, long_value
from headrace.values.kinds import NUMBERS
from headrace.values.payload import narrowed
from headrace.values.record import ConnectRecord, copy_struct, members, struct
from headrace.values.sql import Sql, all_of, case, lit
from headrace.values.value import COPIED, Case, TypedValue, combined, mapped, or_null


@key_and_value("org.apache.kafka.connect.transforms.MaskField")
class MaskField(PartTransformation):
    """Masks fields with the empty value of their type (0, false, the empty text), or with a replacement."""

    examples = (
        Example({"fields": "card"}, {"value": {"id": 7, "card": "4111"}}, {"value": {"id": 7, "card": ""}}),
        Example({"fields": "card", "replacement": "****"}, {"value": {"card": "4111"}}, {"value": {"card": "****"}}),
    )

    fields: tuple[str, ...] = option(
        "fields",
        Type.LIST,
        convert=tuple,
        validator=ValidList(empty_ok=False),
        importance=Importance.HIGH,
        doc="Names of fields to mask.",
    )
    replacement: str | None = option(
        "replacement",
        Type.STRING,
        None,
        validator=NonEmptyString(),
        importance=Importance.LOW,
        doc="Custom value replacement, that will be applied to all 'fields' values (numeric or non-empty string values only).",
    )
    replace_null_with_default: bool = replace_null_option()

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The fields are masked."""
        part = record[self.target]
        return record.with_part(self.target, part.changed(self.fields, Influence.MASKED))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Mask the fields; null stays null."""
        context, cases = record.context, []
        for when, _, opened in members(context, getattr(record, self.target), "mask fields", null_passes=False):
            changed = (
                replace(opened, capacity=COPIED)
                if opened.schema is None
                else copy_struct(context, when, opened, self.replace_null_with_default, keep_schema=True)
            )
            with context.where(when):
                for name in self.fields:
                    if opened.schema is None:
                        changed = changed.with_field(name, or_null(mapped(opened.get(name), partial(self._masked, context))))
                    elif name in changed.fields:
                        changed = changed.with_field(name, mapped(changed.fields[name], partial(self._masked, context)))
            cases.append(Case(when, struct(changed)))
        return replace(record, **{self.target: combined(cases)})

    def _masked(self, context: CompileContext, when: Sql | None, typed: TypedValue) -> TypedValue:
        if typed.kind == "null":
            return typed
        masked = _empty(typed) if self.replacement is None else self._replaced(context, all_of(when, _not_null(typed)), typed)
        if masked is None:
            text = f"Cannot mask value of type: class {typed.java}"
            if self.replacement is not None:
                text = f"Cannot mask value of type class {typed.java} with custom replacement."
            context.fail(all_of(when, _not_null(typed)), lit(text))
            return typed
        kind = "int64" if typed.kind == "huge" else typed.kind
        sql = masked if typed.schema is None else case([(_not_null(typed), masked)])
        return TypedValue(kind, sql, typed.schema)

    def _replaced(self, context: CompileContext, when: Sql | None, typed: TypedValue) -> Sql | None:
        assert self.replacement is not None
        if typed.kind == "string":
            return lit(self.replacement)
        if typed.kind not in (*NUMBERS, "huge", "decimal"):
            return None
        number = _number(self.replacement)
        if number is None:
            what = "number" if typed.kind == "decimal" else "a number"  # two sentences of Kafka's
            context.fail(when, lit(f"Unable to convert {self.replacement} (class java.lang.String) to {what}"))
            return _empty(typed)
        if typed.kind == "decimal":
            return lit(str(number))
        if typed.kind in ("float32", "float64"):
            return f"{'float' if typed.kind == 'float32' else 'double'}({lit(float(number))})"
        return narrowed(lit(long_value(number)), "int64" if typed.kind == "huge" else typed.kind)


def _number(text: str) -> Decimal | None:
    """What Java's BigDecimal reads; None if it reads nothing: unlike Python it has no NaN, no infinity and no underscores."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,10})?", text):
        return None
    number = Decimal(text)
    exponent = int(re.split("[eE]", text)[-1]) if re.search("[eE]", text) else 0
    return number if all(-(2**31) <= of < 2**31 for of in (exponent, -exponent_of(number))) else None


def _empty(typed: TypedValue) -> Sql | None:
    """The empty value of the kind, None if it has none."""
    empty_values = {
        "boolean": "false",
        "float32": "float(0)",
        "float64": "double(0)",
        "string": "''",
        "decimal": "'0'",
        "date": "0L",
    }
    if typed.kind == "map" and typed.schema is not None and typed.schema.keys is not None and typed.schema.keys.type != "string":
        return "'[]'"  # JsonConverter writes such a map as a list of pairs
    empty_values |= {"list": "'[]'", "map": "'{}'", "huge": "0L", "int8": "0L", "int16": "0L", "int32": "0L", "int64": "0L"}
    return empty_values.get(typed.kind)


def _not_null(typed: TypedValue) -> Sql | None:
    return None if typed.schema is None or typed.opened else f"({typed.sql} IS NOT NULL)"
