"""Plans for writing Connect's payload as a Protobuf message, for `ProtobufType.java`."""

from __future__ import annotations

from headrace.errors import DataError
from headrace.protobuf import mapping
from headrace.protobuf.mapping import ProtobufOptions
from headrace.protobuf.model import Enum, Field, Message
from headrace.protobuf.to_connect import Plan
from headrace.protobuf.types import Types
from headrace.protobuf.well_known import WRAPPERS
from headrace.values.schema import DECIMAL, Schema

_FITS = {
    "int8": ("int32", "sint32", "sfixed32"), "int16": ("int32", "sint32", "sfixed32"), "int32": ("int32", "sint32", "sfixed32"),
    "int64": ("int64", "uint32", "fixed32", "uint64", "sint64", "fixed64", "sfixed64"), "float32": ("float",),
    "float64": ("double",), "boolean": ("bool",), "string": ("string",), "bytes": ("bytes",),
}  # fmt: skip


def writing_plan(schema: Schema, types: Types, name: str, options: ProtobufOptions) -> tuple[Plan, list[int]]:
    """The plan for writing the payload of a Connect schema as the message with this full name, and the message's indexes.

    Raises DataError if the message cannot hold the data.
    """
    if schema.type != "struct":
        return {"t": "wrapper", "i": {"t": WRAPPERS[name]}}, types.indexes(name)
    indexes = types.indexes(name)
    return _MessagePlans(types, options).message(schema, types.message(indexes)), indexes


class _MessagePlans:
    def __init__(self, types: Types, options: ProtobufOptions) -> None:
        self._types, self._options = types, options
        self._enclosing: list[tuple[Schema, str]] = []  # the enclosing recursive structs, and the names of their messages

    def message(self, schema: Schema, message: Message) -> Plan:
        """The plan of a struct."""
        if not schema.is_recursive:
            return self._message(schema, message)
        pair = Schema("struct", name=schema.name, fields=schema.fields), message.name
        if pair in self._enclosing:
            return {"t": "ref", "n": self._enclosing.index(pair)}
        self._enclosing.append(pair)
        plan = self._message(schema, message) | {"n": len(self._enclosing) - 1}
        self._enclosing.pop()
        return plan

    def _message(self, schema: Schema, message: Message) -> Plan:
        fields = {field.name: field for field in message.fields}
        plans: list[Plan] = []
        for name, inner in schema.members.items():
            if mapping.is_union(inner):
                members = [self._field(m, s, fields, message) | {"p": True} for m, s in inner.members.items()]
                plans.append({"n": name, "u": members})
            else:
                plans.append(self._field(name, inner, fields, message))
        written = {mapping.scrubbed(name, self._options) for name in schema.members}
        if missing := [field.name for field in message.fields if field.label == "required" and field.name not in written]:
            problem = f"The Protobuf message {message.name} requires {', '.join(missing)}, which Connect's schema does not have"
            raise DataError(problem)
        return {"t": "message", "f": plans}

    def _field(self, name: str, schema: Schema, fields: dict[str, Field], message: Message) -> Plan:
        field = fields.get(mapping.scrubbed(name, self._options))
        if field is None:
            raise DataError(f"Cannot find field with name {name} in the Protobuf message {message.name}")
        plan: Plan = {"n": name, "no": field.number}
        type_ = self._types.of(field, message)
        entries = mapping.entry_of(field, type_)
        if schema.keys is not None and schema.values is not None:
            if field.map_key is not None:
                pair = (Field("key", 1, field.map_key), Field("value", 2, field.type))
            elif entries is not None:
                pair = (entries.fields[0], entries.fields[1])
            else:
                raise self._mismatch(name, schema, field)
            keys = self._typed(schema.keys, pair[0], entries or message)
            values = self._typed(schema.values, pair[1], entries or message)
            is_object = schema.keys.type == "string"
            return plan | {"e": {"k": keys, "v": values, "o": is_object, "all": field.map_key is not None}}
        repeated = field.label == "repeated"
        if repeated != (schema.items is not None) or field.map_key is not None:
            raise self._mismatch(name, schema, field)
        plan["type"] = self._typed(schema.items or schema, field, message)
        if repeated:
            packable = (field.type in mapping.SCALARS and field.type not in ("string", "bytes")) or isinstance(type_, Enum)
            plan |= {"r": True, "pk": packable and (field.packed if field.packed is not None else not message.is_proto2)}
        else:
            plan["q"] = field.label == "required"
            plan["p"] = message.is_proto2 or field.label == "optional" or field.oneof is not None
        return plan

    @staticmethod
    def _mismatch(name: str, schema: Schema, field: Field) -> DataError:
        label = f"{field.label} " if field.label else ""
        kind = f"map<{field.map_key}, {field.type}>" if field.map_key else f"{label}{field.type}"
        return DataError(f"The Protobuf message has {kind} for the field {name}, which is {schema.type.upper()} in Connect")

    def _typed(self, schema: Schema, field: Field, message: Message) -> Plan:
        type_ = self._types.of(field, message)
        if type_ is None:
            if schema.type not in _FITS or field.type not in _FITS[schema.type]:
                raise self._mismatch(field.name, schema, field)
            return {"t": field.type}
        if isinstance(type_, Enum):
            if schema.type not in ("string", "int32"):
                raise self._mismatch(field.name, schema, field)
            return mapping.enum_plan(type_, schema.type == "int32")
        if type_.name in WRAPPERS and schema.type in _FITS:
            if WRAPPERS[type_.name] not in _FITS[schema.type]:
                raise self._mismatch(field.name, schema, field)
            return {"t": "wrapper", "i": {"t": WRAPPERS[type_.name]}}
        logical = mapping.LOGICAL.get(type_.name)
        if logical is not None and schema.name == logical:
            return {"t": mapping.PLANS[logical]} | ({"scale": schema.scale} if logical == DECIMAL else {})
        if schema.type != "struct":
            raise self._mismatch(field.name, schema, field)
        return self.message(schema, type_)


def index_bytes(indexes: list[int]) -> bytes:
    """The encoded indexes before a message: zigzag varints; one byte 0 for the first message."""
    if indexes == [0]:
        return b"\0"
    encoded = bytearray()
    for number in (len(indexes), *indexes):
        zigzag = number << 1
        while zigzag > 0x7F:
            encoded.append(zigzag & 0x7F | 0x80)
            zigzag >>= 7
        encoded.append(zigzag)
    return bytes(encoded)
