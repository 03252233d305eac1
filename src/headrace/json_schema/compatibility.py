"""Compatibility of JSON Schemas: whether data written with one is valid by another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace.json_schema.mapping import is_object, is_union
from headrace.values.recursion import bare
from headrace.values.schema import Schema

_KINDS = {"int8": "integer", "int16": "integer", "int32": "integer", "int64": "integer", "float32": "number",
          "float64": "number", "boolean": "boolean", "string": "string", "bytes": "string", "struct": "object",
          "array": "array"}  # fmt: skip

_ComparedPairs = list[tuple[Schema, Schema]]
"""The recursive structs that are being compared, and their counterparts."""


def mismatches(reader: Schema, node: Any, data: Schema) -> list[str]:
    """Why data is not valid by a JSON Schema; empty if it is. Unions are not compared.

    reader, node: the JSON Schema as a Connect schema, and as JSON; data: the Connect schema of the data.
    """
    return list(_check(reader, node, data, "the data", []))


def _check(reader: Schema, node: Any, data: Schema, where: str, compared: _ComparedPairs) -> Iterator[str]:
    pair = bare(reader), bare(data)
    if is_union(reader) or is_union(data) or pair in compared:
        return
    compared = [*compared, pair] if reader.is_recursive else compared
    kinds = _kind(reader), _kind(data)
    if data.optional and not reader.optional:
        yield f"null is no {kinds[0]}, which the newest schema has for {where}"
    if kinds[0] != kinds[1] and kinds != ("number", "integer"):
        yield f"the newest schema has {kinds[0]} for {where}, which is {kinds[1]}"
    elif reader.type == data.type == "struct":
        yield from _properties(reader, node if isinstance(node, dict) else {}, data, where, compared)
    elif reader.items is not None and data.items is not None:
        yield from _check(reader.items, None, data.items, f"an item of {where}", compared)
    elif reader.values is not None and data.values is not None:
        yield from _check(reader.values, None, data.values, f"a value of {where}", compared)


def _properties(reader: Schema, node: dict[str, Any], data: Schema, where: str, compared: _ComparedPairs) -> Iterator[str]:
    properties, fields = reader.members, data.members
    yield from (
        f"the newest schema requires {name}, which is not in {where}" for name in node.get("required", ()) if name not in fields
    )
    for name, field in fields.items():
        if name in properties:
            yield from _check(properties[name], node.get("properties", {}).get(name), field, f"{where}.{name}", compared)
        elif node.get("additionalProperties") is False:
            yield f"the newest schema has no property {name}, which is in {where}"


def _kind(schema: Schema) -> str:
    if schema.keys is not None:
        return "object" if is_object(schema) else "array"
    return "decimal" if schema.logical and schema.type == "bytes" else _KINDS[schema.type]
