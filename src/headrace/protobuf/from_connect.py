"""Converts Connect schemas to texts of `.proto` files (`ProtobufData.fromConnectSchema`), in the form of `ProtobufSchema`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from headrace.errors import DataError
from headrace.protobuf import mapping
from headrace.protobuf.mapping import ProtobufOptions
from headrace.protobuf.well_known import WRAPPERS
from headrace.values.java_hash import hash_order
from headrace.values.schema import DECIMAL, Schema

_MESSAGES = {logical: message for message, logical in mapping.LOGICAL.items()}
_TYPES = {"int8": "int32", "int16": "int32", "int32": "int32", "int64": "int64", "float32": "float", "float64": "double",
          "boolean": "bool", "string": "string", "bytes": "bytes"}  # fmt: skip
_WRAPPER_OF = {scalar: name for name, scalar in WRAPPERS.items()}
_WRAPPERS_FILE = """syntax = "proto3";
package google.protobuf;

option java_package = "com.google.protobuf";
option java_outer_classname = "WrappersProto";
option java_multiple_files = true;
option go_package = "google.golang.org/protobuf/types/known/wrapperspb";
option cc_enable_arenas = true;
option objc_class_prefix = "GPB";
option csharp_namespace = "Google.Protobuf.WellKnownTypes";

""" + "".join(f"message {name.rpartition('.')[2]} {{\n  {scalar} value = 1;\n}}\n" for name, scalar in WRAPPERS.items())


def from_connect(schema: Schema, options: ProtobufOptions) -> tuple[str, str]:
    """The text of the file for a Connect schema, and the full name of its message. Raises DataError."""
    if schema.type != "struct":
        if schema.type not in _TYPES:
            raise DataError(f"Unsupported root schema of type {schema.type.upper()}")
        return _WRAPPERS_FILE, _WRAPPER_OF[_TYPES[schema.type]]
    package, name = mapping.split_name(schema.name or f"{mapping.DEFAULT_NAME}1", options)
    conversion = _ProtobufFromConnect(options, 0 if schema.name else 1)
    message = conversion.message(name, schema)
    head = 'syntax = "proto3";\n' + (f"package {package};\n" if package else "")
    imports = "".join(f'import "{name}";\n' for name in conversion.imports)
    text = head + (f"\n{imports}" if imports else "") + f"\n{message.text()}"
    return text, f"{package}.{name}" if package else name


def _numbers(schema: Schema) -> Iterator[int]:
    """The field numbers of a struct's fields, in turn; 0 for a union, whose members have theirs.

    A field that has none, as one that a transform adds, gets the first that no field has; so does one whose number a field before
    it has, as Flatten brings the fields of several structs together.
    """
    members = [member for union in schema.fields.values() if mapping.is_union(union) for member in union.fields.values()]
    taken = {_tag(member) for member in members}
    all_tags = taken | {_tag(inner) for inner in schema.fields.values()}
    free = (number for number in count(1) if number not in all_tags)
    for inner in schema.fields.values():
        tag = _tag(inner)
        number = 0 if mapping.is_union(inner) else tag if tag and tag not in taken else next(free)
        taken.add(number)
        yield number


def _tag(schema: Schema) -> int:
    return int((schema.parameters or {}).get(mapping.TAG) or 0)


@dataclass
class _MessageText:
    """The text of a message, under construction."""

    name: str
    fields: list[str] = field(default_factory=list)
    oneofs: dict[str, list[str]] = field(default_factory=dict)
    messages: dict[str, _MessageText] = field(default_factory=dict)
    enums: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The message in the syntax of a file."""
        oneofs = [f"oneof {name} {{\n{_indented(''.join(members))}}}\n" for name, members in self.oneofs.items() if members]
        nested = [*(message.text() for message in self.messages.values()), *self.enums.values()]
        groups = [group for group in (self.fields, oneofs, nested) if group]
        return f"message {self.name} {{" + "".join("\n" + _indented("".join(group)) for group in groups) + "}\n"


class _ProtobufFromConnect:
    def __init__(self, options: ProtobufOptions, unnamed: int) -> None:
        self._options, self._unnamed = options, unnamed
        self.imports: list[str] = []

    def message(self, name: str, schema: Schema) -> _MessageText:
        """The message of a struct."""
        message = _MessageText(name)
        for (field_name, inner), number in zip(schema.fields.items(), _numbers(schema), strict=True):
            self._add(message, message.fields, inner, field_name, number)
        return message

    def _add(
        self, message: _MessageText, into: list[str], schema: Schema, field_name: str, tag: int, oneof: bool = False
    ) -> None:
        name, label = mapping.scrubbed(field_name, self._options), "" if oneof else self._label(schema)
        if schema.items is not None:
            schema = schema.items
        if mapping.is_union(schema):
            self._union(message, schema)
            return
        params: dict[str, str] = {}
        type_ = self._type(schema, name, params, oneof)
        if schema.type == "struct" and not schema.levels_up and type_ not in (message.name, *message.messages):
            message.messages[type_] = self.message(type_, schema)
        elif schema.keys is not None and schema.values is not None:
            if type_ in message.messages:
                raise DataError(f'Invalid protobuf schema definition: "{type_}" is already defined, by another map of this name')
            entry = message.messages[type_] = _MessageText(type_)
            self._add(entry, entry.fields, schema.keys, "key", 1)
            self._add(entry, entry.fields, schema.values, "value", 2)
        elif mapping.is_enum(schema):
            self._enum(message, schema)
        else:
            location = mapping.LOCATIONS.get(type_, "google/protobuf/wrappers.proto" if type_ in WRAPPERS else None)
            if location is not None and location not in self.imports:
                self.imports.append(location)
        into.append(f"{label}{type_} {name} = {tag}{_meta(params)};\n")

    def _label(self, schema: Schema) -> str:
        if schema.type in ("array", "map"):
            return "repeated "
        return "optional " if self._options.optional_nullables and schema.optional else ""

    def _union(self, message: _MessageText, schema: Schema) -> None:
        if self._options.general_sums:
            name = (schema.parameters or {}).get(mapping.GENERAL_UNION, "")
        else:
            name = self._short((schema.name or "").removeprefix(f"{mapping.UNION}."))
        members = message.oneofs.setdefault(name, [])
        for member, inner in schema.fields.items():
            tag = (inner.parameters or {}).get(mapping.TAG)
            if tag is None:
                problem = f"The field {member} of the union {schema.name} has no parameter {mapping.TAG}, its number in Protobuf"
                raise DataError(problem)
            self._add(message, members, inner, member, int(tag), oneof=True)

    def _enum(self, message: _MessageText, schema: Schema) -> None:
        name, prefix = self._short(schema.name), self._options.enum + "."
        if name not in message.enums:
            parameters = schema.parameters or {}
            symbols = [(key.removeprefix(prefix), number) for key, number in parameters.items() if key.startswith(prefix)]
            lines = "".join(f"{symbol} = {int(number)};\n" for symbol, number in symbols)
            message.enums[name] = f"enum {name} {{\n{_indented(lines)}}}\n"

    def _type(self, schema: Schema, name: str, params: dict[str, str], oneof: bool) -> str:
        parameters = schema.parameters or {}
        if schema.name in _MESSAGES:
            if schema.name == DECIMAL:
                decimal_params = {"precision": parameters.get(mapping.PRECISION), "scale": parameters.get("scale")}
                params.update({key: value for key, value in decimal_params.items() if value is not None})
            return _MESSAGES[schema.name]
        if schema.type == "array":
            raise DataError(f"Array cannot be nested: the field {name} has arrays in an array, which Protobuf has not")
        if schema.type == "map":
            return mapping.entry_name(self._short(schema.name))
        if schema.type == "struct":
            short = self._short(schema.name)
            return short + "Message" if short == name else short
        enum = parameters.get(mapping.GENERAL_ENUM) or parameters.get(mapping.ENUM)
        if enum is not None:
            return enum
        if schema.type in ("int8", "int16"):
            params[mapping.CONNECT_TYPE] = schema.type
        scalar = _TYPES[schema.type]
        if schema.type in ("int32", "int64"):
            scalar = parameters.get(mapping.TYPE, scalar)
        wrapped = self._options.wrapper_nullables and schema.optional and (not oneof or parameters.get(mapping.WRAPPER) == "true")
        return self._wrapper(schema.type, scalar) if wrapped else scalar

    @staticmethod
    def _wrapper(kind: str, scalar: str) -> str:
        if kind == "int64":
            unsigned = {"uint32": "uint32", "fixed32": "uint32", "uint64": "uint64", "fixed64": "uint64"}
            return _WRAPPER_OF[unsigned.get(scalar, "int64")]
        return _WRAPPER_OF[_TYPES[kind]]

    def _short(self, name: str | None) -> str:
        if not name:
            self._unnamed += 1
            name = f"{mapping.DEFAULT_NAME}{self._unnamed}"
        return mapping.scrubbed(name.rpartition(".")[2], self._options)


def _meta(params: dict[str, str]) -> str:
    """The option `confluent.field_meta` with facts that Protobuf lacks. Key and value are in the order that Confluent writes."""
    if not params:
        return ""
    entries = []
    for key in hash_order(params):
        lines = [f'key: "{key}"', f'value: "{params[key]}"']
        first, second = reversed(lines) if key in ("precision", "scale") else lines
        entries.append(f"{{\n{_indented(f'{first},{chr(10)}{second}')}}}")
    listed = _indented(",\n".join(entries))
    return f" [(confluent.field_meta) = {{\n{_indented(f'params: [{chr(10)}{listed}]')}}}]"


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.removesuffix("\n").split("\n"))
