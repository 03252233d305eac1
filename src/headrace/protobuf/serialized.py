"""Protobuf schemas that clients register as a FileDescriptorProto in base64; Confluent's registry returns them as text."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

_SCALARS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32", 8: "bool", 9: "string",
            12: "bytes", 13: "uint32", 15: "sfixed32", 16: "sfixed64", 17: "sint32", 18: "sint64"}  # fmt: skip
_REPEATED = 3
_Message = dict[int, list[Any]]


def as_text(schema: str) -> str:
    """The text of a `.proto` file; a FileDescriptorProto in base64 is converted to text, without its options."""
    try:
        descriptor = _decoded(base64.b64decode(schema, validate=True))
    except (ValueError, binascii.Error, IndexError):
        return schema
    return "".join(_file(descriptor))


def _decoded(data: bytes) -> _Message:
    message: _Message = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            value: Any = varint()
        elif tag & 7 == 2:
            size = varint()
            value, at = data[at : at + size], at + size
        else:
            raise ValueError("no FileDescriptorProto")
        message.setdefault(tag >> 3, []).append(value)
    return message


def _text(message: _Message, number: int) -> str:
    return message.get(number, [b""])[-1].decode()


def _is_set(message: _Message, number: int) -> bool:
    """Whether a flag is present and true; some libraries also write false ones."""
    return bool(message.get(number, [0])[-1])


def _inner(message: _Message, number: int) -> list[_Message]:
    return [_decoded(data) for data in message.get(number, ())]


def _file(file: _Message) -> Iterator[str]:
    yield f'syntax = "{_text(file, 12) or "proto2"}";\n'
    if 2 in file:
        yield f"package {_text(file, 2)};\n"
    yield from (f'import "{name.decode()}";\n' for name in file.get(3, ()))
    for message in _inner(file, 4):
        yield from _message(message)
    for enum in _inner(file, 5):
        yield from _enum(enum)


def _message(message: _Message) -> Iterator[str]:
    yield f"message {_text(message, 1)} {{\n"
    nested = _inner(message, 3)
    maps = {_text(entry, 1): _inner(entry, 2) for entry in nested if any(_is_set(options, 7) for options in _inner(entry, 7))}
    oneofs = [_text(oneof, 1) for oneof in _inner(message, 8)]
    members: dict[str, list[str]] = {}
    for field in _inner(message, 2):
        optional = _is_set(field, 17)
        if 9 in field and not optional:
            members.setdefault(oneofs[field[9][-1]], []).append(_field(field, maps, ""))
        else:
            yield _field(field, maps, "optional " if optional else "repeated " if field.get(4, [1])[-1] == _REPEATED else "")
    for name, fields in members.items():
        yield f"oneof {name} {{\n{''.join(fields)}}}\n"
    for inner in nested:
        if _text(inner, 1) not in maps:
            yield from _message(inner)
    for enum in _inner(message, 4):
        yield from _enum(enum)
    yield "}\n"


def _field(field: _Message, maps: dict[str, list[_Message]], label: str) -> str:
    name = f"{_text(field, 1)} = {field[3][-1]};\n"
    entry = maps.get(_type(field).rpartition(".")[2])
    return f"map<{_type(entry[0])}, {_type(entry[1])}> {name}" if entry else f"{label}{_type(field)} {name}"


def _type(field: _Message) -> str:
    return _text(field, 6) or _SCALARS[field[5][-1]]


def _enum(enum: _Message) -> Iterator[str]:
    yield f"enum {_text(enum, 1)} {{\n"
    for value in _inner(enum, 2):
        number = value.get(2, [0])[-1]
        yield f"{_text(value, 1)} = {number - (1 << 64) if number >> 63 else number};\n"
    yield "}\n"
