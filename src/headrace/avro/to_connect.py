"""Converts Avro schemas to Connect schemas and plans for reading (`AvroData.toConnectSchema`, `toConnectData`)."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from headrace.avro import mapping
from headrace.avro.mapping import AvroOptions
from headrace.errors import DataError
from headrace.registry.reading import Reading, parsed_schema
from headrace.values.recursion import with_references
from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema

Plan = dict[str, Any]
"""The input of `AvroPlan`: `t`, the kind of step, and its arguments."""
_TYPES = {"boolean": "boolean", "double": "float64", "float": "float32", "int": "int32", "long": "int64", "string": "string",
          "bytes": "bytes"}  # fmt: skip
_ABSENT = object()
_WHAT = "The Avro schema"


def to_connect(text: str, options: AvroOptions, version: int | None = None, references: Sequence[str] = ()) -> Reading:
    """How data with an Avro schema is read.

    version: of the schema in the registry; references: the texts of the schemas that it references. Raises DataError.
    """
    names: dict[str, tuple[Any, str]] = {}
    for reference in references:
        collect(parsed_schema(reference, _WHAT), "", names)
    node = parsed_schema(text, _WHAT)
    collect(node, "", names)
    if isinstance(node, dict) and node.get("type") == "record" and mapping.full_name(node, "") == mapping.ANYTHING:
        return Reading(None, {"t": "any"})
    schema, plan = _AvroToConnect(options, names).convert(node, "")
    if schema.version is None and version is not None:
        schema = schema.same_but(version=version)
    schema = with_references(schema)
    is_raw = schema.type == "bytes" and not schema.optional and plan["t"] in ("bytes", "decimal") and "n" not in plan
    return Reading(schema, {"t": "raw"} if is_raw else plan)


def collect(node: Any, space: str, names: dict[str, tuple[Any, str]]) -> None:
    """Add the definition of each named type, and its enclosing namespace, to `names`."""
    if isinstance(node, list):
        for branch in node:
            collect(branch, space, names)
    if not isinstance(node, dict):
        return
    kind = node.get("type")
    if kind in mapping.NAMED:
        full = mapping.full_name(node, space)
        names.setdefault(full, (node, space))
        for field in node.get("fields", ()):
            collect(field["type"], full.rpartition(".")[0], names)
    else:
        for inner in ("items", "values"):
            collect(node.get(inner), space, names)
        if not isinstance(kind, str):
            collect(kind, space, names)


class _AvroToConnect:
    def __init__(self, options: AvroOptions, names: Mapping[str, tuple[Any, str]]) -> None:
        self._options, self._names = options, names
        self._enclosing: list[str] = []  # records that are being converted; "" for the struct of a union
        self._referenced: set[str] = set()  # recursive records
        self._unions = 0

    def convert(self, node: Any, space: str, forced: bool = False, default: Any = _ABSENT, doc: str | None = None) -> Any:
        """Schema and plan of a node. forced: the schema is optional; default, doc: of the field that it is the type of."""
        if isinstance(node, str) and node not in _TYPES and node != "null":
            definition = self._names.get(mapping.resolved_name(node, space)) or self._names.get(node)
            if definition is None:
                raise DataError(f"The Avro schema names {node}, which it does not define")
            node, space = definition
        if isinstance(node, list):
            return self._union(node, space, forced, default, doc)
        named = node if isinstance(node, dict) else {"type": node}
        kind = named["type"]
        if not isinstance(kind, str) or (kind not in _TYPES and kind not in (*mapping.NAMED, "array", "map", "null")):
            return self.convert(kind, space, forced, default, doc)
        schema, plan = self._typed(kind, named, space)
        return self._with_properties(schema, named, space, default, doc, forced), plan

    def _typed(self, kind: str, node: Mapping[str, Any], space: str) -> tuple[Schema, Plan]:
        if kind in ("bytes", "fixed"):
            return _bytes(kind, node)
        if kind in ("int", "long"):
            return _integer(kind, node)
        if kind in ("record", "error"):
            return self._record(node, space)
        if kind == "enum":
            return self._enum(node, space)
        if kind == "array":
            return self._array(node, space)
        if kind == "map":
            values, plan = self.convert(node["values"], space)
            return Schema("map", keys=Schema("string"), values=values), {"t": "map", "i": plan}
        if kind == "null":
            raise DataError("Standalone null schemas are not supported by this converter")
        return Schema(_TYPES[kind]), {"t": kind}

    def _array(self, node: Mapping[str, Any], space: str) -> tuple[Schema, Plan]:
        entry, entry_space = self._resolved(node["items"], space)
        if not self._is_map_entry(entry, entry_space):
            items, plan = self.convert(node["items"], space)
            return Schema("array", items=items), {"t": "array", "i": plan}
        inner = mapping.full_name(entry, entry_space).rpartition(".")[0]
        fields = {field["name"]: self.convert(field["type"], inner) for field in entry["fields"]}
        if list(fields) != ["key", "value"]:
            problem = "Found map encoded as array of key-value pairs, but array elements do not match the expected format."
            raise DataError(problem)
        keys, values = fields["key"][0], fields["value"][0]
        plan = {"t": "pairs", "k": fields["key"][1], "v": fields["value"][1], "o": keys.type == "string"}
        return Schema("map", keys=keys, values=values), plan

    def _resolved(self, node: Any, space: str) -> tuple[Any, str]:
        if isinstance(node, str):
            return self._names.get(mapping.resolved_name(node, space), (node, space))
        return node, space

    @staticmethod
    def _is_map_entry(node: Any, space: str) -> bool:
        if not isinstance(node, dict) or node.get("type") != "record":
            return False
        full = mapping.full_name(node, space)
        return full == f"{mapping.NAMESPACE}.{mapping.MAP_ENTRY}" or node.get("connect.internal.type") == mapping.MAP_ENTRY

    def _record(self, node: Mapping[str, Any], space: str) -> tuple[Schema, Plan]:
        options, full = self._options, mapping.full_name(node, space)
        if full in self._enclosing:
            self._referenced.add(full)
            return Schema("struct", levels_up=len(self._enclosing) - self._enclosing.index(full)), {"t": "ref", "n": full}
        self._enclosing.append(full)
        documents = options.meta_data and not options.discard_type_doc
        parameters = {mapping.RECORD_DOC: node["doc"]} if documents and node.get("doc") is not None else {}
        fields, plans, inner = {}, [], full.rpartition(".")[0]
        for field in node["fields"]:
            if documents and field.get("doc") is not None:
                parameters[mapping.FIELD_DOC + field["name"]] = field["doc"]
            default = field.get("default", _ABSENT)
            schema, plan = self.convert(field["type"], inner, default=default, doc=field.get("doc"))
            fields[field["name"]] = schema
            plans.append([field["name"], plan])
        self._enclosing.pop()
        named = {"n": full} if full in self._referenced else {}
        return Schema("struct", fields=fields, parameters=parameters or None), {"t": "record", "f": plans, **named}

    def _enum(self, node: Mapping[str, Any], space: str) -> tuple[Schema, Plan]:
        options, full, parameters = self._options, mapping.full_name(node, space), {}
        short = full.rpartition(".")[2]
        if options.meta_data and node.get("doc") is not None:
            parameters["connect.enum.doc" if options.discard_type_doc else mapping.ENUM_DOC + short] = node["doc"]
        if options.meta_data and not options.discard_type_doc and node.get("default") is not None:
            parameters[mapping.ENUM_DEFAULT + short] = node["default"]
        parameters[options.enum] = full
        for place, symbol in enumerate(node["symbols"]):
            parameters[f"{options.enum}.{symbol}"] = str(place) if options.general_sums else symbol
        return Schema("string", parameters=parameters), {"t": "enum", "s": node["symbols"]}

    def _union(self, node: list[Any], space: str, forced: bool, default: Any, doc: str | None) -> tuple[Schema, Plan]:
        branches = [branch for branch in node if branch != "null"]
        if len(node) == 2 and len(branches) == 1:
            schema, plan = self.convert(branches[0], space, forced=True, doc=doc)
            return schema, {"t": "union", "b": [{"t": "null"} if branch == "null" else plan for branch in node]}
        if len(node) == 1 and branches and self._options.flatten_unions:
            schema, plan = self.convert(branches[0], space, forced, default, doc)
            return schema, {"t": "union", "b": [plan]}
        name, parameters = mapping.UNION, None
        if self._options.general_sums:
            name = f"connect_union_{self._unions}"
            parameters, self._unions = {mapping.GENERAL_UNION: name}, self._unions + 1
        fields, plans = {}, []
        for place, branch in enumerate(node):
            if branch == "null":
                plans.append({"t": "null"})
                continue
            field = self._field_of(branch, space, place)
            if field in fields:
                raise DataError("Multiple union schemas map to the Connect union field name")
            self._enclosing.append("")
            fields[field], plan = self.convert(branch, space, forced=True)
            self._enclosing.pop()
            plans.append({"t": "branch", "n": field, "i": plan})
        schema = Schema("struct", "null" in node or forced, name, fields=fields, parameters=parameters)
        plan = {"t": "union", "b": plans, "f": list(fields)}
        return self._with_properties(schema, {"type": node}, space, default, doc, forced), plan

    def _field_of(self, branch: Any, space: str, place: int) -> str:
        node, space = self._resolved(branch, space)
        kind = node["type"] if isinstance(node, dict) else node
        name = mapping.full_name(node, space) if kind in mapping.NAMED else None
        return mapping.union_field(kind, name, place, self._options)

    def _with_properties(self, schema: Schema, node: Mapping[str, Any], space: str, default: Any, doc: str | None,
                         forced: bool) -> Schema:  # fmt: skip
        """The schema with the properties of the node and of the field whose type it is."""
        options, parameters = self._options, dict(schema.parameters or {})
        if options.discard_type_doc:
            doc = doc or node.get("doc") or node.get("connect.doc")
            if options.meta_data and node.get("doc") is not None:
                parameters["connect.record.doc"] = node["doc"]
        else:
            doc = node.get("connect.doc") if options.meta_data else None
        version = schema.version if schema.version is not None else node.get("connect.version")
        if options.meta_data:
            parameters |= node.get("connect.parameters") or {}
        parameters |= {key: str(value) for key, value in node.items() if key.startswith("avro")}
        connect_default_value = node.get("connect.default", _ABSENT)
        if default is _ABSENT:
            default = connect_default_value
        elif not options.discard_type_doc and options.meta_data and connect_default_value is _ABSENT:
            parameters[mapping.FIELD_DEFAULT] = "true"
        name = node.get("connect.name")
        if name is None and node["type"] in mapping.NAMED and schema.name is None:  # a decimal has the name Decimal
            name = mapping.full_name(node, space)
        if name is not None and not name.startswith(mapping.DEFAULT_NAME):
            if schema.name not in (None, name):
                raise DataError(f"Mismatched names: name already added to SchemaBuilder ({schema.name}) differs from name in "
                                f"source schema ({name})")  # fmt: skip
            schema = schema.same_but(name=name)
        described = schema.same_but(optional=schema.optional or forced, version=version, doc=doc, parameters=parameters or None)
        if default is _ABSENT or default is None:
            return described
        return described.same_but(default=connect_default(described, default))


def _bytes(kind: str, node: Mapping[str, Any]) -> tuple[Schema, Plan]:
    size = {"n": node["size"]} if kind == "fixed" else {}
    parameters: dict[str, str] = {}
    schema, plan = Schema("bytes"), {"t": "bytes"}
    if str(node.get("logicalType", "")).lower() == "decimal":
        scale = node.get("scale")
        parameters["scale"] = str(scale if isinstance(scale, int) else 0)
        precision = node.get("precision")
        if precision is not None and precision != mapping.PRECISION_DEFAULT:
            parameters[mapping.PRECISION] = str(precision)
        schema, plan = Schema("bytes", name=DECIMAL, version=1), {"t": "decimal"}
    if kind == "fixed":
        parameters[mapping.FIXED_SIZE] = str(node["size"])
    return schema.same_but(parameters=parameters or None), plan | size


def _integer(kind: str, node: Mapping[str, Any]) -> tuple[Schema, Plan]:
    logical, connect = str(node.get("logicalType") or "").lower(), node.get("connect.type")
    if kind == "long":
        return (Schema("int64", name=TIMESTAMP, version=1) if logical == "timestamp-millis" else Schema("int64")), {"t": "long"}
    if logical in ("date", "time-millis"):
        is_date = logical == "date"
        return Schema("int32", name=DATE if is_date else TIME, version=1), {"t": "int" if is_date else "time"}
    if connect is None or logical:
        return Schema("int32"), {"t": "int"}
    if connect not in ("int8", "int16"):
        raise DataError("Connect type annotation for Avro int field is null")
    return Schema(connect), {"t": connect}


def connect_default(schema: Schema, value: Any) -> Any:
    """A default in Avro's JSON form, converted to the JSON form of Connect's payload; None if there is none."""
    if value is None:
        return None
    if schema.type == "bytes":
        return base64.b64encode(str(value).encode("latin-1")).decode()
    if schema.type == "array" and schema.items:
        return [connect_default(schema.items, item) for item in value]
    if schema.type == "map" and schema.values and schema.keys:
        if isinstance(value, dict):
            return {key: connect_default(schema.values, item) for key, item in value.items()}
        keys, values = schema.keys, schema.values
        return [[connect_default(keys, key), connect_default(values, item)] for key, item in value]
    if schema.type == "struct" and mapping.is_union(schema):
        first, branch = next(iter(schema.fields.items()))
        if mapping.is_enum(branch) or branch.type in ("int8", "int16") or (branch.type == "map" and isinstance(value, list)):
            return None  # AvroData does not find the branch of such a value, and has no default
        return {name: connect_default(branch, value) if name == first else None for name in schema.fields}
    if schema.type == "struct":
        defaults = {name: connect_default(inner, value.get(name)) for name, inner in schema.fields.items()}
        return {name: schema.fields[name].default if item is None else item for name, item in defaults.items()}
    return float(value) if schema.type in ("float32", "float64") else value
