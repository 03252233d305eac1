"""What the types of a `.proto` file are, as headrace's parser and as protoc has them, in one form."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto

from headrace.protobuf.model import Enum, Field, File, Message
from headrace.protobuf.tokens import ProtoToken, unquoted

_LABELS = {1: "optional", 2: "required", 3: "repeated"}
_Types = dict[str, Any]


def types_of(file: File) -> _Types:
    """The types of a parsed file by their full names, in the order of the file; names of types without packages."""
    return _types(file.messages, file.enums)


def _types(messages: tuple[Message, ...], enums: tuple[Enum, ...]) -> _Types:
    types: _Types = {enum.name: list(enum.symbols.items()) for enum in enums}
    for message in messages:
        fields = sorted(_field(field) for field in message.fields)
        types[message.name] = fields, list(message.oneofs), [inner.short for inner in message.messages]
        types |= _types(message.messages, message.enums)
    return types


def _field(field: Field) -> tuple[Any, ...]:
    type_ = field.type.rpartition(".")[2]
    return (field.number, field.name, type_, field.label, field.map_key, field.oneof, field.packed, repr(field.default))


def types_of_descriptor(file: FileDescriptorProto) -> _Types:
    """The types of protoc's descriptor, in the form of `types_of`. Fields that are groups are left out, as the parser does."""
    return _described(list(file.message_type), list(file.enum_type), file.package, file.syntax != "proto3")


def _described(messages: list[DescriptorProto], enums: list[EnumDescriptorProto], scope: str, is_proto2: bool) -> _Types:
    prefix = f"{scope}." if scope else ""
    types: _Types = {prefix + enum.name: [(value.name, value.number) for value in enum.value] for enum in enums}
    for message in messages:
        name, maps = prefix + message.name, {inner.name: inner for inner in message.nested_type if inner.options.map_entry}
        optional = {field.oneof_index for field in message.field if field.proto3_optional}
        fields = [_described_field(field, message, maps, is_proto2) for field in message.field if field.type != field.TYPE_GROUP]
        nested = [inner for inner in message.nested_type if inner.name not in maps]
        oneofs = [oneof.name for index, oneof in enumerate(message.oneof_decl) if index not in optional]
        types[name] = sorted(fields), oneofs, [inner.name for inner in nested]
        types |= _described(nested, list(message.enum_type), name, is_proto2)
    return types


def _described_field(
    field: FieldDescriptorProto, message: DescriptorProto, maps: dict[str, DescriptorProto], is_proto2: bool
) -> tuple[Any, ...]:
    type_, label, key, oneof = _type(field), _LABELS[field.label], None, None
    if type_ in maps:
        (key, type_), label = map(_type, maps[type_].field), ""
    if field.HasField("oneof_index") and not field.proto3_optional:
        oneof, label = message.oneof_decl[field.oneof_index].name, ""
    elif label == "optional" and not (is_proto2 or field.proto3_optional):
        label = ""
    packed = field.options.packed if field.options.HasField("packed") else None
    return (field.number, field.name, type_, label, key, oneof, packed, repr(_default(field)))


def _type(field: FieldDescriptorProto) -> str:
    return field.type_name.rpartition(".")[2] or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()


def _default(field: FieldDescriptorProto) -> Any:
    text = field.default_value
    if not field.HasField("default_value"):
        return None
    match _type(field) if not field.type_name else "":
        case "string" | "":
            return text
        case "bytes":
            return unquoted(ProtoToken("string", f'"{text}"', 0))
        case "bool":
            return text == "true"
        case "float" | "double":
            return float(text)
        case _:
            return int(text)
