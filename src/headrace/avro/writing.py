"""Plans for writing Connect's payload as bytes of an Avro schema, for `AvroPut.java`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from headrace.avro import mapping
from headrace.avro.from_connect import from_connect
from headrace.avro.mapping import AvroOptions
from headrace.avro.to_connect import collect
from headrace.errors import DataError
from headrace.values.recursion import bare
from headrace.values.schema import DECIMAL, Schema

Plan = dict[str, Any]
_PRIMITIVES = ("boolean", "int", "long", "float", "double", "string", "bytes")
_FITS = {"int8": ("int",), "int16": ("int",), "int32": ("int",), "int64": ("long",), "float32": ("float",),
         "float64": ("double",), "boolean": ("boolean",), "string": ("string", "enum"), "bytes": ("bytes", "fixed"),
         "struct": ("record",), "map": ("map", "array"), "array": ("array",)}  # fmt: skip
_WIDER = {"int8": ("long", "float", "double"), "int16": ("long", "float", "double"), "int32": ("long", "double"),
          "float32": ("double",)}  # fmt: skip
"""Avro's types that have every number of the type of Connect, too."""
_UNITS = ("date", "time-", "timestamp-", "local-timestamp-")
"""What the names of logical types with a unit of time begin with."""


def writing_plan(schema: Schema | None, avro: str, options: AvroOptions, references: Sequence[str] = ()) -> Plan:
    """The plan for writing the payload of a Connect schema (None: schemaless data) with an Avro schema.

    references: the texts of the schemas that it references. Raises DataError if the Avro schema cannot hold the data.
    """
    if schema is None:
        return {"t": "any"}
    names: dict[str, Any] = {}
    node = json.loads(avro)
    for text_node in (*map(json.loads, references), node):
        collect(text_node, "", names)
    plan = _AvroPlans(options, names, lambda: _is_written_as(schema, avro, options)).plan(schema, node, "", "the data")
    return plan | {"t": "raw"} if plan["t"] == "bytes" else plan


def _is_written_as(schema: Schema, avro: str, options: AvroOptions) -> bool:
    try:
        return from_connect(schema, options) == avro
    except DataError:
        return False


def _is_wider(schema: Schema, kind: str, node: Any) -> bool:
    """Whether a number is written as one of a larger type, which has no unit of its own."""
    return kind in _WIDER.get(schema.type, ()) and schema.logical is None and not _logical(node)


def _logical(node: Any) -> str:
    """The logical type of a node, "" for none."""
    return str(node.get("logicalType") or "").lower() if isinstance(node, dict) else ""


def _require_unit(schema: Schema, node: Any, where: str) -> None:
    """Raise DataError if a date or time would be written as the same number of another unit."""
    expected, logical = mapping.LOGICAL.get(schema.logical or ""), _logical(node)
    if expected and logical.startswith(_UNITS) and logical.removeprefix("local-") != expected:
        raise DataError(f"The Avro schema has {logical} for {where}, whose data is {expected}")


def _scales(schema: Schema, node: Any) -> Plan:
    """The scales of a decimal that is written with another scale than its data has: the data's, and the one written."""
    if schema.logical != DECIMAL or _logical(node) != "decimal":
        return {}
    written = node["scale"] if isinstance(node.get("scale"), int) else 0
    return {} if written == schema.scale else {"from": schema.scale, "to": written}


class _AvroPlans:
    def __init__(self, options: AvroOptions, names: dict[str, Any], is_own: Callable[[], bool]) -> None:
        """is_own: whether the Avro schema is the one that the Connect schema is converted to."""
        self._options, self._names, self._is_own = options, names, cache(is_own)
        self._enclosing: list[tuple[Schema, str]] = []  # the enclosing recursive structs, and the names of their records

    def plan(self, schema: Schema, node: Any, space: str, where: str) -> Plan:
        """The plan for a part of the data. where: its name in messages."""
        node, space, kind, name = self._resolved(node, space)
        if kind == "union":
            return self._union(schema, node, space, where)
        fits = kind in _FITS[schema.type] or _is_wider(schema, kind, node)
        if not fits or (kind == "array" and schema.type == "map" and self._is_map(schema)):
            raise DataError(f"The Avro schema has {kind} for {where}, which is {schema.type.upper()} in Connect's schema")
        _require_unit(schema, node, where)
        if kind in _PRIMITIVES:
            return {"t": "single" if (kind, schema.type) == ("double", "float32") else kind} | _scales(schema, node)
        if kind == "fixed":
            decimal = {"decimal": True} | _scales(schema, node) if schema.logical == DECIMAL else {}
            return {"t": "fixed", "n": node["size"]} | decimal
        if kind == "enum":
            return {"t": "enum", "s": node["symbols"]}
        if kind == "map" and schema.values:
            return {"t": "map", "i": self.plan(schema.values, node["values"], space, f"a value of {where}")}
        if kind == "array" and schema.items:
            return {"t": "array", "i": self.plan(schema.items, node["items"], space, f"an item of {where}")}
        if kind == "array":
            return self._pairs(schema, node["items"], space, where)
        record = self._recursive if schema.is_recursive else self._record
        return record(schema, node, name or "", where)

    def _recursive(self, schema: Schema, node: Any, name: str, where: str) -> Plan:
        """The plan of a struct with a recursive schema."""
        pair = bare(schema), name
        if pair in self._enclosing:
            return {"t": "ref", "n": self._enclosing.index(pair)}
        outer = any(record_name == name for _, record_name in self._enclosing)
        self._enclosing.append(pair)
        try:
            return self._record(schema, node, name, where) | {"n": len(self._enclosing) - 1}
        except DataError as error:
            if not outer:
                raise
            problem = f"{error}; a transform has changed the outermost {name} only: give it another name (SetSchemaMetadata)"
            return {"t": "refused", "n": problem}
        finally:
            self._enclosing.pop()

    def _is_wider(self, schema: Schema, branch: Any, space: str) -> bool:
        resolved, _, kind, _ = self._resolved(branch, space)
        return _is_wider(schema, kind, resolved)

    def _is_map(self, schema: Schema) -> bool:
        return mapping.has_text_keys(schema, self._options)

    def _resolved(self, node: Any, space: str) -> tuple[Any, str, str, str | None]:
        """The definition of a node, its enclosing namespace, its type and its full name."""
        if isinstance(node, list):
            return node, space, "union", None
        if isinstance(node, str) and node not in (*_PRIMITIVES, "null"):
            full = mapping.resolved_name(node, space)
            if full not in self._names:
                raise DataError(f"The Avro schema names {node}, which it does not define")
            node, space = self._names[full]
        if isinstance(node, str):
            return node, space, node, None
        kind = node["type"]
        if kind in mapping.NAMED:
            return node, space, kind, mapping.full_name(node, space)
        return (node, space, kind, None) if isinstance(kind, str) and kind in (*_PRIMITIVES, "null", "array", "map") else (
            self._resolved(kind, space)
        )  # fmt: skip

    def _union(self, schema: Schema, node: list[Any], space: str, where: str) -> Plan:
        if mapping.is_union(schema):
            return self._struct_union(schema, node, space, where)
        null = node.index("null") if "null" in node else -1
        problem: DataError | None = None
        for place in sorted(range(len(node)), key=lambda place: self._is_wider(schema, node[place], space)):
            if node[place] != "null":
                try:
                    plan = self.plan(schema, node[place], space, where)
                except DataError as error:
                    problem = problem or error
                    continue
                return {"t": "optional", "n": null, "x": place, "i": plan}
        raise problem or DataError(f"The Avro schema has nothing but null for {where}")

    def _struct_union(self, schema: Schema, node: list[Any], space: str, where: str) -> Plan:
        """The plan of a union's struct, whose fields may be named otherwise than this schema's branches: other converters and
        options name them, and `generalized.sum.type.support` by the places in the schema that was read.
        """
        places = [place for place, branch in enumerate(node) if self._resolved(branch, space)[0] != "null"]
        branches = []
        for number, (field, inner) in enumerate(schema.members.items()):
            place = places[number] if self._is_own() else self._branch_of(field, inner, node, space)
            if place is None:
                raise DataError(f"The Avro schema has no branch {field} for {where}")
            branches.append([field, place, self.plan(inner, node[place], space, f"{where}.{field}")])
        return {"t": "union", "n": node.index("null") if "null" in node else -1, "f": branches}

    def _branch_of(self, field: str, schema: Schema, node: list[Any], space: str) -> int | None:
        """The place of the branch for a field of a union's struct, by the field's name, or else by its type and full name."""
        kind, full = self._type_of(schema)
        by_type = None
        for place, branch in enumerate(node):
            _, _, branch_kind, name = self._resolved(branch, space)
            if not self._options.general_sums and field == mapping.union_field(branch_kind, name, place, self._options):
                return place
            if by_type is None and branch_kind == kind and full in (None, name):
                by_type = place
        return by_type

    def _type_of(self, schema: Schema) -> tuple[str, str | None]:
        """The type of Avro that a schema is converted to, and its full name, if it has one."""
        name = None if schema.name is None else mapping.scrubbed_type(schema.name, self._options)
        if mapping.is_enum(schema) and (self._options.enhanced or self._options.general_sums):
            return "enum", (schema.parameters or {}).get(self._options.enum) or name
        if mapping.is_fixed(schema):
            return "fixed", name
        if schema.type == "map":
            return ("map" if self._is_map(schema) else "array"), None
        return _FITS[schema.type][0], name if schema.type == "struct" else None

    def _pairs(self, schema: Schema, node: Any, space: str, where: str) -> Plan:
        entry, _, _, name = self._resolved(node, space)
        inner = (name or "").rpartition(".")[0]
        kinds = {field["name"]: field["type"] for field in entry["fields"]} if isinstance(entry, dict) else {}
        if list(kinds) != ["key", "value"]:
            raise DataError(
                f"The Avro schema has an array for {where}, whose items have no key and value, and Connect's schema a map"
            )
        assert schema.keys is not None and schema.values is not None
        keys = self.plan(schema.keys, kinds["key"], inner, f"a key of {where}")
        values = self.plan(schema.values, kinds["value"], inner, f"a value of {where}")
        return {"t": "pairs", "k": keys, "v": values, "o": schema.keys.type == "string"}

    def _record(self, schema: Schema, node: Any, name: str, where: str) -> Plan:
        space = name.rpartition(".")[0]
        by_name = {mapping.scrubbed(name, self._options): (name, inner) for name, inner in schema.members.items()}
        fields: list[Any] = []
        for field in node["fields"]:
            member = by_name.get(field["name"])
            if member is not None:
                plan = self.plan(member[1], field["type"], space, f"the field {member[0]}")
                fields.append([member[0], plan])
            elif isinstance(field["type"], list) and "null" in field["type"] and "default" in field and field["default"] is None:
                fields.append([None, {"t": "optional", "n": field["type"].index("null"), "x": -1, "i": {"t": "any"}}])
            else:
                raise DataError(f"The Avro schema has the field {field['name']}, which is not in {where}")
        written = {name for name, _ in fields}
        missing = [name for name in schema.fields if name not in written]
        if missing:
            raise DataError(f"The Avro schema has no field {missing[0]}, which is in {where}")
        return {"t": "record", "f": fields}
