"""Cast: casts fields, or the whole key or value, to another type."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.types import invalid, trim
from headrace.config.validators import Lambda
from headrace.errors import ConfigError
from headrace.transforms import casting
from headrace.transforms.base import PartTransformation, java_split, key_and_value, replace_null_option
from headrace.transforms.column_lineage import Influence, RecordLineage
from headrace.values.compile_context import CompileContext
from headrace.values.record import ConnectRecord, copy_struct, members, struct
from headrace.values.schema import SchemaBuilderError
from headrace.values.sql import NEVER, Sql, all_of, lit
from headrace.values.value import COPIED, Case, OpenStruct, TypedValue, Value, combined, mapped, or_null

TYPES = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string")
"""The target types of a cast."""
_OTHER_TYPES = ("bytes", "array", "map", "struct")


def _parse_spec(spec: list[str]) -> dict[str | None, str]:
    """Field → type; None is the whole value. Raises ConfigError with Kafka's message, which names the option `renames`."""
    casts: dict[str | None, str] = {}
    for item in spec:
        parts = java_split(item, ":")
        if not 1 <= len(parts) <= 2:
            raise invalid("renames", spec, f"Invalid rename mapping: {item}")
        field = trim(parts[0]) if len(parts) == 2 else None
        casts[field] = _type(trim(parts[-1]))
    if None in casts and len(spec) > 1:
        raise ConfigError(
            "Cast transformations that specify a type to cast the entire value to may only specify a single cast in their spec"
        )
    return casts


def _type(text: str) -> str:
    kind = text.lower()
    if kind in TYPES:
        return kind
    if kind in _OTHER_TYPES:
        raise ConfigError(
            f"Cast transformation does not support casting to {text.upper()}; supported types are [{', '.join(TYPES).upper()}]"
        )
    wrong = f"java.lang.IllegalArgumentException: No enum constant org.apache.kafka.connect.data.Schema.Type.{text.upper()}"
    raise ConfigError.invalid(f"Invalid type found in casting spec: {text}", wrong)


def _valid_spec(_name: str, spec: list[str] | None) -> None:
    if not spec:
        raise ConfigError("Must specify at least one field to cast.")
    _parse_spec(spec)


@key_and_value("org.apache.kafka.connect.transforms.Cast")
class Cast(PartTransformation):
    """Casts fields, or the whole key or value, to another type: numbers, booleans and texts to each other, bytes to text."""

    examples = (
        Example({"spec": "id:string,price:float64"}, {"value": {"id": 7, "price": "1.5"}}, {"value": {"id": "7", "price": 1.5}}),
        Example({"spec": "int32"}, {"value": "42"}, {"value": 42}),
    )

    spec: dict[str | None, str] = option(
        "spec",
        Type.LIST,
        convert=_parse_spec,
        importance=Importance.HIGH,
        validator=Lambda(_valid_spec, "list of colon-delimited pairs, e.g. foo:bar,abc:xyz"),
        doc="List of fields and the type to cast them to of the form field1:type,field2:type to cast fields of Maps "
        "or Structs. A single type to cast the entire value. Valid types are int8, int16, int32, int64, float32, "
        "float64, boolean, and string. Note that binary fields can only be cast to string.",
    )
    replace_null_with_default: bool = replace_null_option()

    @property
    def whole(self) -> str | None:
        """The type of a cast of the whole key or value, as `int8` … `string`; None if fields are cast."""
        return self.spec.get(None)

    @property
    def casts(self) -> dict[str, str]:
        """Field → type."""
        return {field: kind for field, kind in self.spec.items() if field is not None}

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """Each field that is cast comes from itself."""
        part = record[self.target]
        if self.whole is not None:
            return record.with_part(self.target, part.by(Influence.TRANSFORMATION))
        return record.with_part(self.target, part.changed(self.casts, Influence.TRANSFORMATION))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Cast; null stays null."""
        context, value = record.context, getattr(record, self.target)
        if self.whole is not None:
            return replace(record, **{self.target: mapped(value, partial(self._to_integer, context, self.whole))})
        cases = [a for a in value if a.value.kind == "null"]
        structs = []
        for a in value:
            schema = a.value.schema
            if schema is not None and schema.type != "struct":  # Kafka lists the schema's fields before it checks the value
                context.fail(all_of(a.when, f"NOT {a.value.is_null()}"), lit("Cannot list fields on non-struct type"))
                cases.append(a)
            else:
                structs.append(a)
        for when, _, opened in members(context, tuple(structs), "cast types", null_passes=True):
            with context.where(when):
                changed = self._map(context, opened) if opened.schema is None else self._struct(context, opened)
            cases.append(Case(when, struct(changed)))
        return replace(record, **{self.target: combined(cases)})

    def _map(self, context: CompileContext, opened: OpenStruct) -> OpenStruct:
        for name, kind in self.casts.items():
            if opened.untouched is not None and opened.untouched_when is None and name not in opened.fields:
                opened = opened.with_field(name, casting.json_member(context, opened.untouched, name, kind))
                continue
            cast = mapped(opened.get(name), lambda when, typed, kind=kind: casting.cast(context, when, typed, kind))
            opened = opened.with_field(name, or_null(cast))
        return replace(opened, capacity=COPIED)

    def _struct(self, context: CompileContext, opened: OpenStruct) -> OpenStruct:
        assert opened.schema
        changed = copy_struct(context, None, opened, self.replace_null_with_default)
        for name, kind in self.casts.items():
            if name in changed.fields:
                cast = mapped(
                    changed.fields[name], lambda when, typed, kind=kind: casting.with_schema(context, when, typed, kind)
                )
                changed = changed.with_field(name, cast)
        return replace(changed, schema=opened.schema.with_fields({}).same_but(optional=opened.schema.optional))

    def _to_integer(self, context: CompileContext, kind: str, when: Sql | None, typed: TypedValue) -> TypedValue | Value:
        if typed.kind == "null":
            return typed
        if typed.schema is None:
            return casting.cast(context, when, typed, kind)
        null = typed.is_null()
        present = all_of(when, f"(NOT {null})")  # of null, Kafka does not look at the schema
        cast = casting.with_schema(context, present, typed, kind)
        old = typed.schema
        assert cast.schema
        if old.logical and old.default is not None:  # Kafka keeps the name, and then checks the default by the name's class
            context.fail(present, lit("Invalid default value"), SchemaBuilderError.java_class)
        same = cast.schema.same_but(name=old.name, version=old.version, doc=old.doc, parameters=old.parameters)
        if not old.optional or null == NEVER:
            return replace(cast, schema=same)
        return Case(null, typed), Case(f"(NOT {null})", replace(cast, schema=same))
