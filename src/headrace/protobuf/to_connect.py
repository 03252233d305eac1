"""Converts Protobuf messages to Connect schemas and plans for reading (`ProtobufData.toConnectSchema`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.protobuf import mapping
from headrace.protobuf.mapping import ProtobufOptions
from headrace.protobuf.model import Enum, Field, Message
from headrace.protobuf.types import Types
from headrace.protobuf.well_known import WRAPPERS
from headrace.registry.reading import Reading
from headrace.values.schema import DATE, DECIMAL, TIMESTAMP, Schema

Plan = dict[str, Any]
"""The input of `ProtobufType.java`: `t`, the type, and its arguments."""


def to_connect(types: Types, options: ProtobufOptions, indexes: Sequence[int] = (0,), version: int | None = None) -> Reading:
    """How messages with these indexes are read. version: of the schema in the registry. Raises DataError."""
    message = types.message(indexes)
    if message.name in WRAPPERS and options.wrapper_raw:
        scalar = WRAPPERS[message.name]
        return Reading(Schema(mapping.SCALARS[scalar], version=version), {"t": "wrapper", "i": {"t": scalar}})
    schema, plan = _ProtobufToConnect(types, options).message(message)
    return Reading(schema.same_but(version=version), plan)


class _ProtobufToConnect:
    def __init__(self, types: Types, options: ProtobufOptions) -> None:
        self._types, self._options = types, options
        self._enclosing: list[str] = []  # messages that are being converted; "" for the struct of a oneof
        self._referenced: set[str] = set()  # recursive messages

    def message(self, message: Message) -> tuple[Schema, Plan]:
        """Schema and plan of a message."""
        connect_name = message.name if self._options.enhanced else message.short
        if message.name in self._enclosing:
            self._referenced.add(message.name)
            levels_up = len(self._enclosing) - self._enclosing.index(message.name)
            return Schema("struct", name=connect_name, levels_up=levels_up), {"t": "ref", "n": message.name}
        self._enclosing.append(message.name)
        fields: dict[str, Schema] = {}
        plans: list[Plan] = []
        for place, oneof in enumerate(message.oneofs):
            members = [field for field in message.fields if field.oneof == oneof]
            if self._options.flatten_unions:
                for field in members:
                    fields[field.name], plan = self._field(field, message)
                    plans.append(plan | {"n": field.name, "g": place, "p": True})
            else:
                name = f"{oneof}_{place}" if self._options.union_index else oneof
                fields[name], plan = self._union(oneof, members, message)
                plans.append(plan | {"n": name})
        for field in message.fields:
            if field.oneof is None:
                fields[field.name], plan = self._field(field, message)
                plans.append(plan | {"n": field.name} | self._absent(field, message))
        self._enclosing.pop()
        named = {"n": message.name} if message.name in self._referenced else {}
        plan = {"t": "message", "f": plans} | named
        return Schema("struct", name=connect_name, fields=fields), plan

    def _union(self, oneof: str, members: Sequence[Field], message: Message) -> tuple[Schema, Plan]:
        self._enclosing.append("")
        fields = {field.name: self._field(field, message) for field in members}
        self._enclosing.pop()
        if self._options.general_sums:
            name, parameters = oneof, {mapping.GENERAL_UNION: oneof}
        else:
            full = f"{message.name}.{oneof}" if self._options.enhanced else oneof
            name, parameters = f"{mapping.UNION}.{full}", None
        schema = Schema("struct", True, name, fields={n: s for n, (s, _) in fields.items()}, parameters=parameters)
        return schema, {"u": [plan | {"n": n} for n, (_, plan) in fields.items()]}

    def _field(self, field: Field, message: Message) -> tuple[Schema, Plan]:
        options = self._options
        schema, plan = self._typed(field, message)
        if field.label == "repeated" and schema.type != "map":
            schema = Schema("array", True, items=schema.same_but(optional=True))
            plan |= {"r": True}
        if field.oneof is not None:
            optional = True
        elif options.optional_nullables:
            optional = self._has_optional_keyword(field, message)
        else:
            optional = not options.wrapper_nullables
        parameters = dict(schema.parameters or {})
        if field.oneof is not None and options.wrapper_nullables and plan.get("type", {}).get("t") == "wrapper":
            parameters[mapping.WRAPPER] = "true"
        parameters[mapping.TAG] = str(field.number)
        described = schema.same_but(optional=schema.optional or optional, parameters=parameters)
        return described, {"no": field.number} | plan

    @staticmethod
    def _has_optional_keyword(field: Field, message: Message) -> bool:
        return field.label == "optional" and field.oneof is None and field.map_key is None

    def _absent(self, field: Field, message: Message) -> Plan:
        """The members of a field's plan for a message without the field."""
        if field.label == "required":
            return {"q": True}
        type_ = self._types.of(field, message)
        if isinstance(type_, Message):
            return {"z": self._options.struct_for_nulls and mapping.LOGICAL.get(type_.name) != DATE}  # no day is a zero
        tracks_presence = self._has_optional_keyword(field, message) and (not message.is_proto2 or self._options.optional_proto2)
        is_null = tracks_presence and not self._options.struct_for_nulls
        return {"p": is_null} | ({} if field.default is None else {"d": mapping.default_plan(field)})

    def _typed(self, field: Field, message: Message) -> tuple[Schema, Plan]:
        """The schema of one value of a field, and the members of the field's plan for reading it."""
        if field.map_key is not None:
            keys = Field("key", 1, field.map_key)
            entry = mapping.entry_name(field.name)
            return self._map(f"{message.name}.{entry}", entry, keys, Field("value", 2, field.type), message)
        if field.type in mapping.SCALARS:
            return self._scalar(field, message)
        type_ = self._types.of(field, message)
        if isinstance(type_, Enum):
            return self._enum(type_), {"type": mapping.enum_plan(type_, self._options.int_enums)}
        assert type_ is not None
        entries = mapping.entry_of(field, type_)
        if entries is not None:
            key, value = entries.fields
            return self._map(entries.name, entries.short, key, value, entries)
        if type_.name in WRAPPERS and self._options.unwraps:
            scalar = WRAPPERS[type_.name]
            return Schema(mapping.SCALARS[scalar], True), {"type": {"t": "wrapper", "i": {"t": scalar}}}
        if type_.name in mapping.LOGICAL:
            return self._logical(mapping.LOGICAL[type_.name], field)
        schema, plan = self.message(type_)
        return schema.same_but(optional=True), {"type": plan}

    def _scalar(self, field: Field, message: Message) -> tuple[Schema, Plan]:
        kind = field.type
        connect = field.params.get(mapping.CONNECT_TYPE)
        if mapping.SCALARS[kind] == "int32" and connect in ("int8", "int16"):
            return Schema(connect), {"type": {"t": kind, "c": connect}}
        typed = kind not in ("int32", "int64") and mapping.SCALARS[kind] in ("int32", "int64")
        schema = Schema(mapping.SCALARS[kind], parameters={mapping.TYPE: kind} if typed else None)
        is_loose = kind == "string" and message.is_proto2  # which does not ask for valid UTF-8
        return schema, {"type": {"t": kind, "loose": True} if is_loose else {"t": kind}}

    def _enum(self, enum: Enum) -> Schema:
        prefix = self._options.enum
        parameters = {prefix: enum.short} | {f"{prefix}.{symbol}": str(number) for symbol, number in enum.symbols.items()}
        name = enum.name if self._options.enhanced else enum.short
        return Schema("int32" if self._options.int_enums else "string", True, name, parameters=parameters)

    def _map(self, full: str, short: str, key: Field, value: Field, scope: Message) -> tuple[Schema, Plan]:
        keys, key_plan = self._field(key, scope)
        values, value_plan = self._field(value, scope)
        name = mapping.map_name(full if self._options.enhanced else short)
        plan = {"k": key_plan["type"], "v": value_plan["type"], "o": keys.type == "string"}
        return Schema("map", True, name, keys=keys, values=values), {"e": plan}

    @staticmethod
    def _logical(name: str, field: Field) -> tuple[Schema, Plan]:
        if name != DECIMAL:
            return Schema("int64" if name == TIMESTAMP else "int32", True, name, 1), {"type": {"t": mapping.PLANS[name]}}
        scale, precision = (field.params.get(key, "") for key in ("scale", "precision"))
        number = int(scale) if scale.lstrip("-").isdigit() else 0
        parameters = {"scale": str(number)} | ({mapping.PRECISION: str(int(precision))} if precision.isdigit() else {})
        return Schema("bytes", True, DECIMAL, 1, parameters=parameters), {"type": {"t": "decimal", "scale": number}}
