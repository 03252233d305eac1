"""The mapping between Avro's types and Connect's: names and options of Confluent's `AvroData`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from headrace.values.schema import DATE, TIME, TIMESTAMP, Schema

NAMESPACE = "io.confluent.connect.avro"
DEFAULT_NAME = f"{NAMESPACE}.ConnectDefault"
MAP_ENTRY = "MapEntry"
UNION, ENUM, ANYTHING = f"{NAMESPACE}.Union", f"{NAMESPACE}.Enum", f"{NAMESPACE}.Anything"
GENERAL_UNION, GENERAL_ENUM = "org.apache.kafka.connect.data.Union", "org.apache.kafka.connect.data.Enum"
RECORD_DOC, ENUM_DOC = f"{NAMESPACE}.record.doc", f"{NAMESPACE}.enum.doc."
FIELD_DOC, FIELD_DEFAULT = f"{NAMESPACE}.field.doc.", f"{NAMESPACE}.field.default"
ENUM_DEFAULT = f"{NAMESPACE}.enum.default."
FIXED_SIZE, PRECISION = "connect.fixed.size", "connect.decimal.precision"
PRECISION_DEFAULT = 64
LOGICAL = {DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}
"""The logical types of Avro that Connect has, but for decimals."""
NAMED = ("record", "enum", "fixed", "error")

ANYTHING_SCHEMA: dict[str, Any] = {
    "type": "record", "name": "Anything", "namespace": NAMESPACE, "fields": [
        *({"name": kind, "type": ["null", kind], "default": None}
          for kind in ("boolean", "bytes", "double", "float", "int", "long", "string")),
        {"name": "array", "type": ["null", {"type": "array", "items": "Anything"}], "default": None},
        {"name": "map", "default": None, "type": ["null", {"type": "array", "items": {
            "type": "record", "name": MAP_ENTRY, "fields": [{"name": "key", "type": "Anything"},
                                                             {"name": "value", "type": "Anything"}]}}]},
    ],
}  # fmt: skip
"""The Avro schema of schemaless data."""


@dataclass(frozen=True)
class AvroOptions:
    """The converter's options for the mapping."""

    enhanced: bool = False
    """`enhanced.avro.schema.support`: keeps enums, and the full names of the branches of unions."""
    meta_data: bool = True
    """`connect.meta.data`: keeps what Avro has no word for, as properties `connect.…`."""
    scrub_names: bool = False
    """`scrub.invalid.names`."""
    optional_map_keys: bool = False
    """`allow.optional.map.keys`."""
    flatten_unions: bool = True
    """`flatten.singleton.unions`."""
    discard_type_doc: bool = False
    """`discard.type.doc.default`."""
    general_sums: bool = False
    """`generalized.sum.type.support`."""

    @property
    def enum(self) -> str:
        """The parameter with the name of an enum."""
        return GENERAL_ENUM if self.general_sums else ENUM


def is_union(schema: Schema) -> bool:
    """Whether a struct represents a union."""
    return schema.type == "struct" and (schema.name == UNION or GENERAL_UNION in (schema.parameters or {}))


def is_enum(schema: Schema) -> bool:
    """Whether a string represents an enum."""
    parameters = schema.parameters or {}
    return schema.type == "string" and (GENERAL_ENUM in parameters or ENUM in parameters)


def is_fixed(schema: Schema) -> bool:
    """Whether bytes represent a fixed type."""
    return schema.type == "bytes" and schema.name is not None and FIXED_SIZE in (schema.parameters or {})


def has_text_keys(schema: Schema, options: AvroOptions) -> bool:
    """Whether a map of Connect is written as a map of Avro."""
    keys = schema.keys
    return keys is not None and keys.type == "string" and (not keys.optional or options.optional_map_keys)


def scrubbed(name: str, options: AvroOptions) -> str:
    """A name without characters that Avro does not allow, if `scrub_names` is set."""
    if not options.scrub_names:
        return name
    encoded = quote_plus(name, safe="*").replace("~", "%7E")
    return re.sub("[^A-Za-z0-9_]", "_", "x" + encoded if re.match("[0-9]", encoded) else encoded)


def scrubbed_type(name: str, options: AvroOptions) -> str:
    """The same of the full name of a type: its namespace is one of Avro's, too."""
    return ".".join(scrubbed(part, options) for part in name.split("."))


def full_name(node: Mapping[str, Any], space: str) -> str:
    """The full name of a named type. space: the enclosing namespace."""
    name = node["name"]
    if "." in name:
        return name
    namespace = node.get("namespace", space) or ""
    return f"{namespace}.{name}" if namespace else name


def resolved_name(name: str, space: str) -> str:
    """The full name of a reference. space: the enclosing namespace."""
    return name if "." in name or not space else f"{space}.{name}"


def union_field(kind: str, name: str | None, place: int, options: AvroOptions) -> str:
    """The field of a union's struct for a branch. kind: Avro's type; name: full name of a named type; place: its index."""
    if options.general_sums:
        return f"connect_union_field_{place}"
    if name is None:
        return kind
    return name if options.enhanced else scrubbed(name.rpartition(".")[2], options)
