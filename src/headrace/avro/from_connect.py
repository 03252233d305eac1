"""Converts Connect schemas to Avro schemas (`AvroData.fromConnectSchema`), in the form and order of Avro's `Schema.toString`."""

from __future__ import annotations

import base64
from typing import Any

from headrace.avro import mapping
from headrace.avro.mapping import AvroOptions
from headrace.errors import DataError
from headrace.values import json_text
from headrace.values.recursion import bare
from headrace.values.schema import DECIMAL, Schema

_TYPES = {"int8": "int", "int16": "int", "int32": "int", "int64": "long", "float32": "float", "float64": "double",
          "boolean": "boolean", "string": "string", "bytes": "bytes"}  # fmt: skip


def from_connect(schema: Schema | None, options: AvroOptions) -> str:
    """The text of the Avro schema for a Connect schema; None: for schemaless data. Raises DataError."""
    node = mapping.ANYTHING_SCHEMA if schema is None else _AvroFromConnect(options).convert(schema, "")
    return json_text.encode(node).decode()


class _AvroFromConnect:
    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._unnamed = 0
        self._written: list[tuple[Schema, str]] = []  # converted structs, and their names
        self._enclosing: list[str] = []  # names of the records that are being converted
        self._definitions: dict[str, Any] = {}  # what defines a type, by its full name; None while it is being converted

    def convert(self, schema: Schema, space: str, required: bool = False) -> Any:
        """The node of a schema. space: the enclosing namespace; required: without null, even if the schema is optional."""
        if mapping.is_union(schema):
            return self._union(schema, space)
        node = self._base(schema, space)
        if not schema.optional or required:
            return node
        return [node, "null"] if schema.default is not None and schema.type != "struct" else ["null", node]

    def _base(self, schema: Schema, space: str) -> Any:
        if schema.type == "struct":
            return self._record(bare(schema) if schema.is_recursive else schema.same_but(optional=False), space)
        if mapping.is_enum(schema) and (self._options.enhanced or self._options.general_sums):
            return self._enum(schema, space)
        if mapping.is_fixed(schema) and (node := self._fixed(schema, space)) is not None:
            return node
        if schema.type == "array" and schema.items:
            node = {"type": "array", "items": self.convert(schema.items, space)}
        elif schema.type == "map" and schema.values:
            node = self._map(schema, space)
        else:
            node = {"type": _TYPES[schema.type], **_digits(schema)}
        node |= self._properties(schema)
        return node if len(node) > 1 else node["type"]

    def _properties(self, schema: Schema) -> dict[str, Any]:
        """The facts that Avro schemas lack, as properties, in the order in which `AvroData` adds them."""
        properties: dict[str, Any] = {}
        parameters = dict(schema.parameters or {})
        if self._options.meta_data:
            if schema.doc is not None:
                properties["connect.doc"] = schema.doc
            if schema.version is not None:
                properties["connect.version"] = schema.version
            avro_properties = {
                k: v for k, v in parameters.items() if self._options.discard_type_doc or k != mapping.FIELD_DEFAULT
            }
            if avro_properties:
                properties["connect.parameters"] = avro_properties
            if schema.default is not None and (self._options.discard_type_doc or mapping.FIELD_DEFAULT not in parameters):
                properties["connect.default"] = avro_default(schema, schema.default, self._options)
            if schema.name is not None:
                properties["connect.name"] = schema.name
            if schema.type in ("int8", "int16"):
                properties["connect.type"] = schema.type
        if schema.name in mapping.LOGICAL:
            properties["logicalType"] = mapping.LOGICAL[schema.name]
        elif schema.logical == DECIMAL:
            properties["logicalType"] = "decimal"
        return properties | {key: value for key, value in parameters.items() if key.startswith("avro")}

    def _name(self, name: str | None, space: str) -> tuple[str, dict[str, Any]]:
        """The full name of a type, and the members `name` and `namespace` of its definition."""
        if name is None:
            self._unnamed += 1
            name = mapping.DEFAULT_NAME + (str(self._unnamed) if self._unnamed > 1 else "")
        full = mapping.scrubbed_type(name, self._options)
        namespace, _, short = full.rpartition(".")
        self._definitions.setdefault(full, None)
        return full, {"name": short} | ({"namespace": namespace} if namespace != space else {})

    def _definition(self, full: str, node: dict[str, Any], space: str) -> Any:
        """The node that defines a named type, or a reference to it, if it is defined already.

        As with `AvroData`, the first definition is the one that is kept, with its default, parameters and so on. Raises
        DataError for a type that has this name and other data: `AvroData` would write it as the first, which nothing can read.
        """
        facts = _data_facts(node, space)
        if self._definitions[full] is None:
            self._definitions[full] = facts
            return node
        if self._definitions[full] != facts:
            raise DataError(f"Can't redefine: {full}: two parts of the Connect schema have this name and are not the same")
        return self._reference(full, space)

    def _written_name(self, schema: Schema, space: str) -> str | None:
        full = next((name for written, name in self._written if written == schema), None)
        return None if full is None else self._reference(full, space)

    @staticmethod
    def _reference(full: str, space: str) -> str:
        namespace, _, short = full.rpartition(".")
        return short if namespace == space else full

    def _record(self, schema: Schema, space: str) -> Any:
        written_name = self._written_name(schema, space)
        if written_name is not None:
            return written_name
        if schema.is_recursive and schema.name is not None:
            enclosing = mapping.scrubbed_type(schema.name, self._options)
            if enclosing in self._enclosing:  # as AvroData: a transform has changed the struct around it
                return self._reference(enclosing, space)
        full, named = self._name(schema.name, space)
        parameters = schema.parameters or {}
        doc = parameters.get("connect.record.doc" if self._options.discard_type_doc else mapping.RECORD_DOC)
        self._written.append((schema, full))
        self._enclosing.append(full)
        fields = [self._field(name, inner, schema, full.rpartition(".")[0]) for name, inner in schema.members.items()]
        self._enclosing.pop()
        document = {} if doc is None else {"doc": doc}
        return self._definition(
            full, {"type": "record", **named, **document, "fields": fields, **self._properties(schema)}, space
        )

    def _field(self, name: str, schema: Schema, parent: Schema, space: str) -> dict[str, Any]:
        discards = self._options.discard_type_doc
        doc = schema.doc if discards else (parent.parameters or {}).get(mapping.FIELD_DOC + name)
        field: dict[str, Any] = {"name": mapping.scrubbed(name, self._options), "type": self.convert(schema, space)}
        if doc is not None:
            field["doc"] = doc
        if schema.default is not None:
            if not _has_entries(schema, schema.default, self._options):
                field["default"] = avro_default(schema, schema.default, self._options)
        elif schema.optional:
            field["default"] = None
        return field

    def _map(self, schema: Schema, space: str) -> dict[str, Any]:
        assert schema.keys is not None and schema.values is not None
        if mapping.has_text_keys(schema, self._options):
            return {"type": "map", "values": self.convert(schema.values, space)}
        entry = schema.name or f"{mapping.NAMESPACE}.{mapping.MAP_ENTRY}"
        full, named = self._name(entry, space)
        inner = full.rpartition(".")[0]
        fields = [
            self._field(name, entry_schema, schema, inner)
            for name, entry_schema in (("key", schema.keys), ("value", schema.values))
        ]
        mark = {"connect.internal.type": mapping.MAP_ENTRY} if schema.name else {}
        items = self._definition(full, {"type": "record", **named, "fields": fields, **mark}, space)
        return {"type": "array", "items": items}

    def _enum(self, schema: Schema, space: str) -> Any:
        parameters, prefix = schema.parameters or {}, self._options.enum + "."
        symbols = [key.removeprefix(prefix) for key in parameters if key.startswith(prefix)]
        full, named = self._name(parameters.get(self._options.enum) or schema.name, space)
        short = named["name"]
        doc = parameters.get("connect.enum.doc" if self._options.discard_type_doc else mapping.ENUM_DOC + short)
        default = parameters.get(mapping.ENUM_DEFAULT + short)
        node: dict[str, Any] = {"type": "enum", **named} | ({} if doc is None else {"doc": doc}) | {"symbols": symbols}
        node |= {} if default is None or self._options.discard_type_doc else {"default": default}
        return self._definition(full, node | self._properties(schema), space)

    def _fixed(self, schema: Schema, space: str) -> Any:
        """The node of a fixed type; None for a decimal that has to be written as bytes.

        All decimals have one name in Connect: `AvroData` fails at the second one that has other digits.
        """
        digits, parameters = _digits(schema), schema.parameters or {}
        if digits and mapping.PRECISION not in parameters:  # Avro's default, 64, is more than most sizes hold
            return None
        full, named = self._name(schema.name, space)
        node = {"type": "fixed", **named, "size": int(parameters[mapping.FIXED_SIZE]), **digits, **self._properties(schema)}
        if digits and self._definitions[full] not in (None, _data_facts(node, space)):
            return None
        return self._definition(full, node, space)

    def _union(self, schema: Schema, space: str) -> list[Any]:
        branches = [self.convert(inner, space, required=True) for inner in schema.members.values()]
        kinds = [json_text.encode(_named(branch, space)) for branch in branches]
        if duplicate := next((kind.decode() for kind in kinds if kinds.count(kind) > 1), None):
            raise DataError(f"Duplicate in union: {duplicate}: two branches of the Connect schema become this type of Avro")
        return ["null", *branches] if schema.optional else branches


def _digits(schema: Schema) -> dict[str, int]:
    """The scale and the precision of a decimal."""
    if schema.logical != DECIMAL:
        return {}
    precision = (schema.parameters or {}).get(mapping.PRECISION, mapping.PRECISION_DEFAULT)
    return {"scale": schema.scale, "precision": int(precision)}


def _data_facts(node: dict[str, Any], space: str) -> dict[str, Any]:
    """The facts of a named type that say what its data is; its parts are names, where they have some. space: around it."""
    full = mapping.full_name(node, space)
    facts = {key: node[key] for key in ("type", "symbols", "size", "scale", "precision") if key in node} | {"name": full}
    inner = full.rpartition(".")[0]
    fields = {field["name"]: _named(field["type"], inner, logical=True) for field in node.get("fields", ())}
    return facts | {"fields": list(fields.items())}


def _named(node: Any, space: str, logical: bool = False) -> Any:
    """The type of a node; named types are their full names. space: the enclosing namespace; logical: with the logical type and
    the scale of a decimal, which the branches of a union do not differ by.
    """
    if isinstance(node, list):
        return [_named(branch, space, logical) for branch in node]
    if isinstance(node, str):
        return node if node in _TYPES.values() or node == "null" else mapping.resolved_name(node, space)
    if node["type"] in mapping.NAMED:
        return mapping.full_name(node, space)
    inner = next((node[key] for key in ("items", "values") if key in node), None)
    if inner is not None:
        return node["type"], _named(inner, space, logical)
    return (node["type"], node["logicalType"], node.get("scale")) if logical and "logicalType" in node else node["type"]


def _has_entries(schema: Schema, value: Any, options: AvroOptions) -> bool:
    """Whether a default has an entry of a map that is written as records: its form, lists, is no default of an Avro field, so
    that `AvroData` has it as `connect.default` only.
    """
    if not value:
        return False
    if schema.type == "struct":
        return any(_has_entries(inner, value.get(name), options) for name, inner in schema.members.items())
    if schema.items is not None:
        return any(_has_entries(schema.items, item, options) for item in value)
    if schema.values is None:
        return False
    if not mapping.has_text_keys(schema, options):
        return True
    return any(_has_entries(schema.values, item, options) for item in value.values())


def avro_default(schema: Schema, value: Any, options: AvroOptions) -> Any:
    """A default in the form of Connect's payload in Avro's JSON form."""
    if value is None:
        return None
    if schema.type == "bytes":
        data = base64.b64decode(value)
        if schema.logical == DECIMAL and mapping.is_fixed(schema):  # its digits may be fewer than the type's bytes
            size = int((schema.parameters or {})[mapping.FIXED_SIZE])
            data = int.from_bytes(data, signed=True).to_bytes(max(size, len(data)), signed=True)
        return data.decode("latin-1")
    if schema.type == "array" and schema.items:
        return [avro_default(schema.items, item, options) for item in value]
    if schema.type == "map" and schema.values and schema.keys:
        if mapping.has_text_keys(schema, options):
            return {key: avro_default(schema.values, item, options) for key, item in value.items()}
        pairs = value.items() if isinstance(value, dict) else value
        return [[avro_default(schema.keys, k, options), avro_default(schema.values, v, options)] for k, v in pairs]
    if schema.type != "struct":
        return value
    if mapping.is_union(schema):
        return next((avro_default(schema.fields[n], v, options) for n, v in value.items() if v is not None), None)
    return {mapping.scrubbed(n, options): avro_default(s, value.get(n), options) for n, s in schema.fields.items()}
