"""Protobuf schemas that clients register as a FileDescriptorProto in base64; Confluent's registry returns them as text."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping

_SCALARS = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32", 8: "bool", 9: "string",
            12: "bytes", 13: "uint32", 15: "sfixed32", 16: "sfixed64", 17: "sint32", 18: "sint64"}  # fmt: skip
_GROUP = 10
_LABELS = {1: "optional ", 2: "required ", 3: "repeated "}
_FIELD_META = 1088
"""The number of the extension `confluent.field_meta`."""
_MAX_DEPTH = 100  # of messages, Protobuf's limit


def as_text(schema: str) -> str:
    """The text of a `.proto` file; a FileDescriptorProto in base64 is converted to text, with those of its options that decide
    how data is read or written.
    """
    try:
        return "".join(_file(_Descriptor(base64.b64decode(schema, validate=True))))
    except ValueError:
        return schema


class _Descriptor:
    """A message of `descriptor.proto`: the values of its fields by their numbers. Methods raise ValueError for invalid data."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._fields: dict[int, list[int | bytes]] = {}
        while self._at < len(data):
            tag = self._varint()
            self._fields.setdefault(tag >> 3, []).append(self._value(tag & 7))

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._bytes(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _bytes(self, size: int) -> bytes:
        data = self._data[self._at : self._at + size]
        if len(data) < size:
            raise ValueError("the data ends early")
        self._at += size
        return data

    def _value(self, wire_type: int) -> int | bytes:
        if wire_type == 0:
            return self._varint()
        sizes = {1: 8, 5: 4}
        if wire_type != 2 and wire_type not in sizes:
            raise ValueError(f"wire type {wire_type}")
        return self._bytes(sizes[wire_type] if wire_type in sizes else self._varint())

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def number(self, number: int, default: int = 0) -> int:
        """The number in a field."""
        value = self._fields.get(number, [default])[-1]
        if not isinstance(value, int):
            raise ValueError(f"field {number} is no number")
        return value

    def texts(self, number: int) -> list[str]:
        """The texts in a repeated field."""
        return [data.decode() for data in self._all_bytes(number)]

    def text(self, number: int) -> str:
        """The text in a field."""
        return (self.texts(number) or [""])[-1]

    def messages(self, number: int) -> list[_Descriptor]:
        """The messages in a repeated field."""
        return [_Descriptor(data) for data in self._all_bytes(number)]

    def _all_bytes(self, number: int) -> Iterator[bytes]:
        for value in self._fields.get(number, ()):
            if not isinstance(value, bytes):
                raise ValueError(f"field {number} is a number")
            yield value


def _file(file: _Descriptor) -> Iterator[str]:
    syntax = file.text(12) or "proto2"
    yield f'edition = "{file.number(14)}";\n' if syntax == "editions" else f'syntax = "{syntax}";\n'
    if 2 in file:
        yield f"package {file.text(2)};\n"
    yield from (f'import "{name}";\n' for name in file.texts(3))
    for message in file.messages(4):
        yield from _message(message, syntax == "proto2", 0)
    for enum in file.messages(5):
        yield from _enum(enum)


def _message(message: _Descriptor, is_proto2: bool, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise ValueError("messages nested too deep")
    yield f"message {message.text(1)} {{\n"
    nested = message.messages(3)
    maps = {entry.text(1): entry.messages(2) for entry in nested if any(options.number(7) for options in entry.messages(7))}
    oneofs: dict[int, list[str]] = {index: [] for index, _ in enumerate(message.messages(8))}
    fields = [field for field in message.messages(2) if field.number(5) != _GROUP]  # whose messages are among those nested
    for field in fields:
        is_optional = bool(field.number(17))
        if 9 in field and not is_optional:
            oneofs.setdefault(field.number(9), []).append(_field(field, maps, ""))
        else:
            label = field.number(4, 1)
            yield _field(field, maps, _LABELS.get(label, "") if is_proto2 or is_optional or label == 3 else "")
    optional = {field.number(9) for field in fields if field.number(17)}  # of proto3, each in a oneof of its own
    for index, oneof in enumerate(message.messages(8)):
        if index not in optional:
            yield f"oneof {oneof.text(1)} {{\n{''.join(oneofs[index])}}}\n"
    for inner in nested:
        if inner.text(1) not in maps:
            yield from _message(inner, is_proto2, depth + 1)
    for enum in message.messages(4):
        yield from _enum(enum)
    yield "}\n"


def _field(field: _Descriptor, maps: Mapping[str, list[_Descriptor]], label: str) -> str:
    name = f"{field.text(1)} = {field.number(3)}{_options(field)};\n"
    entry = maps.get(_type(field).rpartition(".")[2])
    if entry is None:
        return f"{label}{_type(field)} {name}"
    if len(entry) != 2:
        raise ValueError("a map without key and value")
    return f"map<{_type(entry[0])}, {_type(entry[1])}> {name}"


def _type(field: _Descriptor) -> str:
    type_ = field.number(5)
    if type_ not in _SCALARS and 6 not in field:
        raise ValueError(f"a field of type {type_}")
    return field.text(6) or _SCALARS[type_]


def _options(field: _Descriptor) -> str:
    settings: list[str] = []
    if 7 in field:
        type_, default = _SCALARS.get(field.number(5)), field.text(7)
        if type_ == "string":
            default = _quoted(default)
        settings.append(f'default = "{default}"' if type_ == "bytes" else f"default = {default}")
    for options in field.messages(8):
        settings += [f"packed = {'true' if options.number(2) else 'false'}"] if 2 in options else []
        for pair in (pair for meta in options.messages(_FIELD_META) for pair in meta.messages(2)):
            settings.append(f"(confluent.field_meta).params = {{ key: {_quoted(pair.text(1))} value: {_quoted(pair.text(2))} }}")
    return f" [{', '.join(settings)}]" if settings else ""


def _quoted(text: str) -> str:
    escaped = "".join(f"\\{ord(char):03o}" if char < " " or char in '"\\' else char for char in text)
    return f'"{escaped}"'


def _enum(enum: _Descriptor) -> Iterator[str]:
    yield f"enum {enum.text(1)} {{\n"
    for value in enum.messages(2):
        number = value.number(2)
        yield f"{value.text(1)} = {number - (1 << 64) if number >> 63 else number};\n"
    yield "}\n"
