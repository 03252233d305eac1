"""Compatibility of JSON Schemas: whether data written with one is valid by another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace.json_schema.mapping import is_object, is_union
from headrace.values.recursion import bare
from headrace.values.schema import DECIMAL, Schema

_KINDS = {"int8": "integer", "int16": "integer", "int32": "integer", "int64": "integer", "float32": "number",
          "float64": "number", "boolean": "boolean", "string": "string", "bytes": "string", "struct": "object",
          "array": "array"}  # fmt: skip

_ComparedPairs = list[tuple[Schema, Schema]]
"""The recursive structs that are being compared, and their counterparts."""


def mismatches(reader: Schema, node: Any, data: Schema, numeric: bool = False) -> list[str]:
    """Why data is not valid by a JSON Schema; empty if it is. Unions are not compared.

    reader, node: the JSON Schema as a Connect schema, and as JSON; data: the Connect schema of the data; numeric: decimals are
    written as numbers, which have their scale.
    """
    return list(_Comparison(numeric).check(reader, node, data, "the data", []))


def without_nulls(schema: Schema) -> Schema:
    """A schema whose parts are all required, but for unions and keys: to compare data of which only the types are known."""
    if is_union(schema):
        return schema
    fields = {name: without_nulls(field) for name, field in schema.fields.items()}
    items, values = (part and without_nulls(part) for part in (schema.items, schema.values))
    return schema.same_but(optional=False, fields=fields, items=items, values=values)


def required_paths(reader: Schema, node: Any) -> Iterator[tuple[str, ...]]:
    """The paths of the required properties for which null is not valid, of objects within objects. reader, node: as above."""
    if reader.type != "struct" or not isinstance(node, dict) or is_union(reader):
        return
    for name, inner in reader.fields.items():
        if name in node.get("required", ()) and not inner.optional:
            yield (name,)
        yield from ((name, *path) for path in required_paths(inner, node.get("properties", {}).get(name)))


class _Comparison:
    def __init__(self, numeric: bool) -> None:
        self._numeric = numeric

    def check(self, reader: Schema, node: Any, data: Schema, where: str, compared: _ComparedPairs) -> Iterator[str]:
        """What does not fit in a part of the data. where: its name in messages."""
        pair = bare(reader), bare(data)
        if is_union(reader) or is_union(data) or pair in compared:
            return
        compared = [*compared, pair] if reader.is_recursive else compared
        kinds = _kind(reader), _kind(data)
        if data.optional and not reader.optional:
            yield f"null is no {kinds[0]}, which the registered schema has for {where}"
        if kinds[0] != kinds[1] and kinds != ("number", "integer"):
            yield f"the registered schema has {kinds[0]} for {where}, which is {kinds[1]}"
        elif reader.logical and data.logical and self._unit(reader) != self._unit(data):
            yield f"the registered schema has {self._unit(reader)} for {where}, which is {self._unit(data)}"
        elif reader.type == data.type == "struct":
            yield from self._properties(reader, node if isinstance(node, dict) else {}, data, where, compared)
        elif reader.items is not None and data.items is not None:
            yield from self.check(reader.items, None, data.items, f"an item of {where}", compared)
        elif reader.values is not None and data.values is not None:
            yield from self.check(reader.values, None, data.values, f"a value of {where}", compared)

    def _unit(self, schema: Schema) -> str:
        """What the text or number of a logical type counts."""
        name = (schema.logical or "").rpartition(".")[2]
        return f"{name} with the scale {schema.scale}" if schema.logical == DECIMAL and not self._numeric else name

    def _properties(
        self, reader: Schema, node: dict[str, Any], data: Schema, where: str, compared: _ComparedPairs
    ) -> Iterator[str]:
        properties, fields = reader.members, data.members
        yield from (
            f"the registered schema requires {name}, which is not in {where}"
            for name in node.get("required", ())
            if name not in fields
        )
        for name, field in fields.items():
            if name in properties:
                property_node = node.get("properties", {}).get(name)
                yield from self.check(properties[name], property_node, field, f"{where}.{name}", compared)
            elif node.get("additionalProperties") is False:
                yield f"the registered schema has no property {name}, which is in {where}"


def _kind(schema: Schema) -> str:
    if schema.keys is not None:
        return "object" if is_object(schema) else "array"
    return "decimal" if schema.logical and schema.type == "bytes" else _KINDS[schema.type]
