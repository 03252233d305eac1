"""Converts JSON Schemas to Connect schemas (`JsonSchemaData.toConnectSchema`)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from headrace.errors import DataError
from headrace.json_schema import mapping
from headrace.json_schema.mapping import JsonSchemaOptions
from headrace.registry.reading import parsed_schema
from headrace.values.java_hash import hash_order
from headrace.values.recursion import with_references
from headrace.values.schema import DECIMAL, Schema

_WHAT = "The JSON Schema"
_NUMBERS = ("int8", "int16", "int32", "int64", "float32", "float64", "bytes")
_OBJECT = ("properties", "additionalProperties", "required", "minProperties", "maxProperties", "patternProperties",
           "dependencies", "propertyNames")  # fmt: skip
_ARRAY = ("items", "minItems", "maxItems", "uniqueItems", "additionalItems", "contains")
_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_STRING = ("minLength", "maxLength", "pattern", "format")


@dataclass(frozen=True)
class _SchemaNode:
    """A schema, and the document to which its references are relative."""

    value: Any
    document: Any


def to_connect(
    text: str, options: JsonSchemaOptions, version: int | None = None, references: Mapping[str, str] | None = None
) -> Schema:
    """The Connect schema for a JSON Schema.

    version: of the schema in the registry; references: the texts of referenced schemas, by name. Raises DataError.
    """
    document = parsed_schema(text, _WHAT)
    documents = {name: parsed_schema(reference_text, _WHAT) for name, reference_text in (references or {}).items()}
    return with_references(_JsonSchemaToConnect(options, documents).whole(_SchemaNode(document, document), version))


class _JsonSchemaToConnect:
    def __init__(self, options: JsonSchemaOptions, documents: Mapping[str, Any]) -> None:
        self._options, self._documents = options, documents
        self._enclosing: dict[int, int] = {}  # schemas that are being converted, and the number of structs that enclose each
        self._recursive: set[int] = set()  # recursive schemas
        self._level = 0  # number of structs that enclose the schema that is being converted
        self._unions = 0

    def whole(self, node: _SchemaNode, version: int | None) -> Schema:
        """The schema of a document."""
        return self._convert_document(node, "#", False, version)

    def _convert_document(self, node: _SchemaNode, reference: str, forced: bool, version: int | None) -> Schema:
        """The schema of a node to which references may point."""
        self._enclosing[id(node.value)] = self._level
        schema = self.convert(node, forced, version)
        del self._enclosing[id(node.value)]
        if id(node.value) in self._recursive and schema.type != "struct":
            problem = f"The JSON Schema contains itself ({reference}), and is of type {schema.type.upper()}: only objects may"
            raise DataError(problem)
        return schema

    def convert(self, node: _SchemaNode, forced: bool = False, version: int | None = None) -> Schema:
        """The schema of a node. forced: the schema is optional; version: default for a node without version."""
        value = node.value
        if not isinstance(value, dict):
            raise DataError(f"Unsupported JSON Schema {json.dumps(value)}: Connect has no type for any data")
        if "$ref" in value:
            return self._convert_reference(value["$ref"], node, forced, version)
        kinds = [*_kinds(value)]
        if len(kinds) > 1:
            return self._all_of([_SchemaNode(kind, node.document) for kind in kinds], forced, version)
        if not kinds:
            raise DataError(f"Unsupported JSON Schema {json.dumps(value)}: it has no type")
        kind = kinds[0]
        for word in ("oneOf", "anyOf"):
            if word in kind:
                return self._union([_SchemaNode(inner, node.document) for inner in kind[word]], value, forced, version)
        if "allOf" in kind:
            branches = [_SchemaNode(inner, node.document) for inner in kind["allOf"]]
            if len(branches) == 1 and self._options.flatten_unions:
                return self.convert(branches[0])
            return self._all_of(branches, forced, version)
        return self._with_properties(self._typed(kind, node.document), value, forced, version)

    def _convert_reference(self, reference: str, node: _SchemaNode, forced: bool, version: int | None) -> Schema:
        target = self._target(reference, node.document)
        level = self._enclosing.get(id(target.value))
        if level is None:
            return self._convert_document(target, reference, forced, version)
        self._recursive.add(id(target.value))
        if level == self._level:
            raise DataError(f"The JSON Schema contains itself ({reference}) and nothing else")
        nulls = any(_is_null(branch) for word in ("oneOf", "anyOf") for branch in target.value.get(word, ()))
        return Schema("struct", forced or nulls, levels_up=self._level - level)

    def _target(self, reference: str, document: Any) -> _SchemaNode:
        name, _, pointer = reference.partition("#")
        if name:
            target = self._documents.get(reference, self._documents.get(name))
            if target is None:
                matching = (inner for inner in _inner(document) if inner.get("$id", inner.get("id")) in (name, reference))
                target = next(matching, None)
            if target is None:
                raise DataError(f"The JSON Schema refers to {reference}, which is not among its references")
            document = target
        value = document
        if pointer and not pointer.startswith("/"):
            anchors = (inner for inner in _inner(document) if pointer in (inner.get("$anchor"), inner.get("$id", "")[1:]))
            value = next(anchors, None)
        for part in pointer.split("/")[1:] if pointer.startswith("/") else ():
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(value, list):
                value = value[int(key)] if key.isdecimal() and int(key) < len(value) else None
            else:
                value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            raise DataError(f"The JSON Schema refers to {reference}, which it does not have")
        return _SchemaNode(value, document)

    def _typed(self, node: Mapping[str, Any], document: Any) -> Schema:
        kind, connect = node.get("type"), node.get(mapping.TYPE)
        if "enum" in node or "const" in node:
            return self._enum(node["enum"] if "enum" in node else [node["const"]])
        if kind == "boolean":
            return Schema("boolean")
        if kind in ("integer", "number"):
            if connect is not None and connect not in _NUMBERS:
                raise DataError(f"Unsupported type {connect}")
            return Schema(connect or ("int64" if kind == "integer" else "float64"))
        if kind == "string":
            return Schema("bytes" if connect == "bytes" else "string")
        if kind == "array":
            return self._array(node, document)
        if kind == "object":
            return self._object(node, document)
        raise DataError(f"Unsupported JSON Schema type {kind}")

    def _enum(self, symbols: list[Any]) -> Schema:
        enum, parameters = self._options.enum, {self._options.enum: ""}
        for place, value in enumerate(symbols):
            symbol = mapping.NO_VALUE if value is None else value if isinstance(value, str) else json.dumps(value)
            parameters[f"{enum}.{symbol}"] = str(place) if self._options.general_sums else symbol
        return Schema("string", parameters=parameters)

    def _array(self, node: Mapping[str, Any], document: Any) -> Schema:
        items = node.get("items")
        if items is None or isinstance(items, list):
            raise DataError("Array schema did not specify the items type")
        entry = items.get("properties") if isinstance(items, dict) else None
        if node.get(mapping.TYPE) == "map" and entry is not None:
            if missing := [name for name in ("key", "value") if name not in entry]:
                raise DataError(f"A map is an array of objects with key and value, and one has no {missing[0]}")
            keys, values = (self.convert(_SchemaNode(entry[name], document)) for name in ("key", "value"))
            return Schema("map", keys=keys, values=values)
        return Schema("array", items=self.convert(_SchemaNode(items, document)))

    def _object(self, node: Mapping[str, Any], document: Any) -> Schema:
        if node.get(mapping.TYPE) == "map":
            values = self.convert(_SchemaNode(node.get("additionalProperties"), document))
            return Schema("map", keys=Schema("string"), values=values)
        properties, required = node.get("properties") or {}, node.get("required") or ()
        places: dict[str, int] = {}  # two properties may have one place: one of them was added without an index, for instance
        for name in hash_order(properties):
            index = properties[name].get(mapping.INDEX) if isinstance(properties[name], dict) else None
            if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
                raise DataError(f"The {mapping.INDEX} of the property {name} is {json.dumps(index)}, no integer")
            places[name] = len(places) if index is None else index
        self._level += 1
        fields = {
            name: self._field(_SchemaNode(properties[name], document), name in required)
            for name in sorted(places, key=lambda name: places[name])
        }
        self._level -= 1
        return Schema("struct", fields=fields)

    def _field(self, node: _SchemaNode, required: bool) -> Schema:
        return self.convert(node, self._options.optional_for_nonrequired and not required)

    def _union(self, branches: list[_SchemaNode], node: Mapping[str, Any], forced: bool, version: int | None) -> Schema:
        if len(branches) == 1 and self._options.flatten_unions:
            return self.convert(branches[0])
        non_null = [branch for branch in branches if not _is_null(branch.value)]
        if len(branches) == 2 and len(non_null) == 1:
            return self.convert(non_null[0], True, version)
        name, parameters, field = mapping.ONE_OF, None, f"{mapping.ONE_OF}.field."
        if self._options.general_sums:
            name = f"connect_union_{self._unions}"
            parameters, field, self._unions = {mapping.GENERAL_UNION: name}, "connect_union_field_", self._unions + 1
        self._level += 1
        fields = {f"{field}{n}": self.convert(branch, True) for n, branch in enumerate(non_null)}
        self._level -= 1
        schema = Schema("struct", len(non_null) < len(branches), name, fields=fields, parameters=parameters)
        return self._with_properties(schema, node, forced, version)

    def _all_of(self, branches: list[_SchemaNode], forced: bool, version: int | None) -> Schema:
        fields: dict[str, tuple[_SchemaNode, bool]] = {}
        for branch in branches:
            self._collect(branch, fields, [])
        if fields:
            self._level += 1
            members = {name: self._field(inner, required) for name, (inner, required) in fields.items()}
            self._level -= 1
            return Schema("struct", forced, fields=members)

        def first(*words: str) -> _SchemaNode | None:
            return next((b for b in reversed(branches) if isinstance(b.value, dict) and any(w in b.value for w in words)), None)

        def of_type(*kinds: str) -> _SchemaNode | None:
            return next((b for b in reversed(branches) if isinstance(b.value, dict) and _plain(b.value) in kinds), None)

        combined, text, number = first("oneOf", "anyOf", "allOf"), of_type("string"), of_type("integer", "number")
        if combined is not None:
            return self.convert(combined, forced, version)
        if first("const") is not None and (text or number):
            return self.convert(text or number or branches[0], forced, version)
        enum = first("enum")
        if enum is not None and (text or number):
            return self.convert(enum if text is not None else number or enum, forced, version)
        typed = number if text is not None and number is not None else text or number or first("$ref")
        if typed is None:
            raise DataError(f"Unsupported criterion allOf for {json.dumps([branch.value for branch in branches])}")
        return self.convert(typed, forced, version)

    def _collect(self, node: _SchemaNode, fields: dict[str, tuple[_SchemaNode, bool]], visited: list[int]) -> None:
        """Add the properties of a part of an allOf to `fields`, and whether they are required."""
        value = node.value
        if not isinstance(value, dict) or id(value) in visited:
            return
        visited.append(id(value))
        if "$ref" in value:
            self._collect(self._target(value["$ref"], node.document), fields, visited)
            return
        for inner in value.get("allOf", ()):
            self._collect(_SchemaNode(inner, node.document), fields, visited)
        properties = value.get("properties") or {}
        for name in hash_order(properties):
            fields[name] = _SchemaNode(properties[name], node.document), name in (value.get("required") or ())

    def _with_properties(self, schema: Schema, node: Mapping[str, Any], forced: bool, version: int | None) -> Schema:
        """The schema with the node's title, description, default and properties `connect.…`."""
        own_version = node.get(mapping.VERSION)
        parameters = dict(schema.parameters or {}) | (node.get(mapping.PARAMETERS) or {})
        described = schema.same_but(
            name=schema.name or node.get("title"),
            version=own_version if own_version is not None else version,
            doc=node.get("description"),
            parameters=parameters or None,
        )
        if node.get("default") is not None:
            union = mapping.is_union(described)
            default = (_union_default if union else _default)(described, node["default"])
            described = described.same_but(default=default)
        return described.same_but(optional=described.optional or forced)


def _kinds(node: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas that a node combines, all of which hold: of a type, of an enum, or of a combination such as oneOf."""
    kind = node.get("type")
    if isinstance(kind, list):
        if len(kind) > 1:
            shared = {name: value for name, value in node.items() if name not in ("type", "title", "description", "default")}
            yield {"anyOf": [{**(shared if type_name != "null" else {}), "type": type_name} for type_name in kind]}
            return
        kind = next(iter(kind), None)
    for word in ("oneOf", "anyOf", "allOf", "enum", "const"):
        if word in node:
            yield {word: node[word]}
    if kind is None:
        groups = {"object": _OBJECT, "array": _ARRAY, "number": _NUMBER, "string": _STRING}
        kind = next((name for name, words in groups.items() if any(word in node for word in words)), None)
    if kind is not None:
        keywords = {name: value for name, value in node.items() if name not in ("oneOf", "anyOf", "allOf", "enum", "const")}
        yield {**keywords, "type": kind}


def _plain(node: Mapping[str, Any]) -> Any:
    return None if "enum" in node or "const" in node else node.get("type")


def _is_null(node: Any) -> bool:
    return isinstance(node, dict) and node.get("type") == "null"


def _inner(node: Any) -> Iterator[dict[str, Any]]:
    """A schema and every nested schema."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _inner(value)
    if isinstance(node, list):
        for value in node:
            yield from _inner(value)


_UNION_DEFAULTS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (bool, ("boolean",)), (int, ("int8", "int16", "int32", "int64")), (float, ("float32", "float64")),
    (str, ("string",)), (list, ("array",)),
)  # fmt: skip


def _union_default(schema: Schema, value: Any) -> Any:
    """A default of a union's struct: in the first field that it fits; None for an object, and for one that fits none."""
    types = next((types for kind, types in _UNION_DEFAULTS if isinstance(value, kind)), ())
    chosen = next((name for name, inner in schema.fields.items() if inner.type in types), None)
    if chosen is None:
        return None
    return {name: _default(inner, value) if name == chosen else None for name, inner in schema.fields.items()}


def _default(schema: Schema, value: Any) -> Any:
    """A default in the JSON form of Connect's payload."""
    if schema.logical == DECIMAL and isinstance(value, (int, float)):
        unscaled = int(Decimal(str(value)).scaleb(schema.scale))
        return base64.b64encode(unscaled.to_bytes((8 + (unscaled + (unscaled < 0)).bit_length()) // 8, signed=True)).decode()
    if schema.type == "struct" and isinstance(value, dict) and not mapping.is_union(schema):
        return {name: None if value.get(name) is None else _default(s, value[name]) for name, s in schema.fields.items()}
    if schema.items is not None and isinstance(value, list):
        return [None if item is None else _default(schema.items, item) for item in value]
    if schema.type.startswith("int") and isinstance(value, float) and value.is_integer():  # 1.0 is an integer in JSON Schema
        return int(value)
    return float(value) if schema.type in ("float32", "float64") and isinstance(value, (int, float)) else value
