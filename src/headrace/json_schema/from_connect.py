"""Converts Connect schemas to JSON Schemas (`JsonSchemaData.fromConnectSchema`).

Members are in the order in which everit's `Schema.toString` writes them, those of Java's HashMaps in their iteration order: the
registry compares texts.
"""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

from headrace.json_schema import mapping
from headrace.json_schema.mapping import JsonSchemaOptions
from headrace.values.java_hash import hash_order, java_hash, slot_order
from headrace.values.recursion import bare
from headrace.values.schema import DECIMAL, Schema

Node = dict[str, Any]
_NUMBERS = {"int8": "integer", "int16": "integer", "int32": "integer", "int64": "integer", "float32": "number",
            "float64": "number"}  # fmt: skip
_NULL: Node = {"type": "null"}


def from_connect(schema: Schema, options: JsonSchemaOptions) -> str:
    """The text of the JSON Schema for a Connect schema."""
    return json.dumps(_JsonSchemaFromConnect(options).convert(schema, "#"), ensure_ascii=False, separators=(",", ":"))


class _JsonSchemaFromConnect:
    def __init__(self, options: JsonSchemaOptions) -> None:
        self._options = options
        self._enclosing: list[tuple[Schema, str]] = []  # the enclosing recursive structs, and the JSON pointers to them

    def convert(self, schema: Schema, at: str, index: int | None = None, required: bool = False) -> Node:
        """The node of a schema.

        at: its JSON pointer; index: of the field whose type it is; required: without null, even if the schema is optional.
        """
        place: Node = {} if index is None else {mapping.INDEX: index}
        if mapping.is_union(schema):
            first, members = int(schema.optional), enumerate(schema.members.values())
            branches = [self.convert(s.same_but(optional=False), f"{at}/oneOf/{n + first}", n, True) for n, s in members]
            return place | {"oneOf": [_NULL, *branches] if schema.optional else branches}
        if schema.optional and schema.type == "struct":
            return place | {"oneOf": [_NULL, self.convert(schema.same_but(optional=False), f"{at}/oneOf/1")]}
        if schema.is_recursive and schema.type == "struct":
            open_pointer = next((pointer for open_schema, pointer in self._enclosing if open_schema == bare(schema)), None)
            if open_pointer is not None:
                return place | {"$ref": open_pointer}
            self._enclosing.append((bare(schema), at))
            node = self._node(schema, place, at)
            self._enclosing.pop()
            return node
        if schema.optional and not required:
            return place | {"oneOf": [_NULL, self._node(schema, {}, f"{at}/oneOf/1")]}
        return self._node(schema, place, at)

    def _node(self, schema: Schema, place: Node, at: str) -> Node:
        before, kind, after = self._kind(schema, at)
        common = {"title": schema.name, "description": schema.doc, "default": self._default(schema)}
        properties = kind | self._properties(schema) | place
        return (
            before
            | {name: value for name, value in common.items() if value is not None}
            | {name: properties[name] for name in hash_order(properties)}
            | after
        )

    def _properties(self, schema: Schema) -> Node:
        properties: Node = {} if schema.version is None else {mapping.VERSION: schema.version}
        schema_properties = {k: v for k, v in (schema.parameters or {}).items() if not k.startswith(mapping.NAMESPACE)}
        return properties | (
            {mapping.PARAMETERS: {name: schema_properties[name] for name in hash_order(schema_properties)}}
            if schema_properties
            else {}
        )

    def _default(self, schema: Schema) -> Any:
        if schema.default is None or schema.logical != DECIMAL or not self._options.numeric_decimals:
            return schema.default
        unscaled = int.from_bytes(base64.b64decode(schema.default), signed=True)
        return unscaled / 10**schema.scale if schema.scale > 0 else unscaled * 10**-schema.scale

    def _kind(self, schema: Schema, at: str) -> tuple[Node, Node, Node]:
        """The members at the beginning, the properties of Connect, and the members at the end."""
        kind = schema.type
        if kind in _NUMBERS:
            return {"type": _NUMBERS[kind]}, {mapping.TYPE: kind}, {}
        if kind == "bytes":
            numeric = schema.name == DECIMAL and self._options.numeric_decimals
            return {"type": "number" if numeric else "string"}, {mapping.TYPE: "bytes"}, {}
        if mapping.is_enum(schema):
            return {"enum": self._symbols(schema)}, {}, {}
        if schema.items is not None:
            return {"type": "array"}, {}, {"items": self.convert(schema.items, f"{at}/items")}
        if schema.keys is not None and schema.values is not None:
            return self._map(schema.keys, schema.values, mapping.is_object(schema), at)
        if kind == "struct":
            inner = enumerate(schema.members.items())
            nodes = {name: self.convert(field, f"{at}/properties/{_token(name)}", n) for n, (name, field) in inner}
            closed = {} if self._options.additional_properties else {"additionalProperties": False}
            return {"type": "object"} | closed, {}, _properties(nodes)
        return {"type": kind}, {}, {}

    def _map(self, keys: Schema, values: Schema, is_object: bool, at: str) -> tuple[Node, Node, Node]:
        if is_object:
            value_schema = self.convert(values, f"{at}/additionalProperties")
            return {"type": "object"}, {mapping.TYPE: "map"}, {"additionalProperties": value_schema}
        inner = f"{at}/items/properties"
        pair = {"key": self.convert(keys, f"{inner}/key", 0), "value": self.convert(values, f"{inner}/value", 1)}
        entry = {"type": "object"} | _properties(pair)
        return {"type": "array"}, {mapping.TYPE: "map"}, {"items": entry}

    def _symbols(self, schema: Schema) -> list[str | None]:
        prefix = self._options.enum + "."
        names = [key.removeprefix(prefix) for key in schema.parameters or {} if key.startswith(prefix)]
        symbols = [None if name == mapping.NO_VALUE else name for name in names]
        return [symbols[place] for place in slot_order([0 if symbol is None else java_hash(symbol) for symbol in symbols])]


def _token(name: str) -> str:
    """A name as a token of a JSON pointer in a URI fragment."""
    return quote(name.replace("~", "~0").replace("/", "~1"))


def _properties(nodes: Node) -> Node:
    return {"properties": {name: nodes[name] for name in hash_order(nodes)}} if nodes else {}
