"""The mapping between Protobuf's types and Connect's: names and options of Confluent's `ProtobufData`."""

from __future__ import annotations

import base64
import math
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from headrace.protobuf.model import Enum, Field, Message
from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema

NAMESPACE = "io.confluent.connect.protobuf"
DEFAULT_NAME = "ConnectDefault"
ENUM, UNION = f"{NAMESPACE}.Enum", f"{NAMESPACE}.Union"
TAG, TYPE, WRAPPER = f"{NAMESPACE}.Tag", f"{NAMESPACE}.Type", f"{NAMESPACE}.Wrapper"
GENERAL_UNION, GENERAL_ENUM = "org.apache.kafka.connect.data.Union", "org.apache.kafka.connect.data.Enum"
CONNECT_TYPE, PRECISION = "connect.type", "connect.decimal.precision"
ENTRY = "Entry"
LOGICAL = {"confluent.type.Decimal": DECIMAL, "google.type.Date": DATE, "google.type.TimeOfDay": TIME,
           "google.protobuf.Timestamp": TIMESTAMP}  # fmt: skip
"""Messages that represent logical types of Connect."""
PLANS = {DECIMAL: "decimal", DATE: "date", TIME: "time", TIMESTAMP: "timestamp"}
"""Their names in `ProtobufType.java`."""
LOCATIONS = {"confluent.type.Decimal": "confluent/type/decimal.proto", "google.type.Date": "google/type/date.proto",
             "google.type.TimeOfDay": "google/type/timeofday.proto",
             "google.protobuf.Timestamp": "google/protobuf/timestamp.proto"}  # fmt: skip
SCALARS = {"int32": "int32", "sint32": "int32", "sfixed32": "int32", "uint32": "int64", "fixed32": "int64", "int64": "int64",
           "uint64": "int64", "sint64": "int64", "fixed64": "int64", "sfixed64": "int64", "float": "float32", "double": "float64",
           "bool": "boolean", "string": "string", "bytes": "bytes"}  # fmt: skip
"""Protobuf's scalar types and the types of Connect that represent them."""


@dataclass(frozen=True)
class ProtobufOptions:
    """The converter's options for the mapping."""

    enhanced: bool = False
    """`enhanced.protobuf.schema.support`: keeps packages in the names of schemas."""
    scrub_names: bool = False
    """`scrub.invalid.names`."""
    int_enums: bool = False
    """`int.for.enums`."""
    optional_nullables: bool = False
    """`optional.for.nullables`."""
    optional_proto2: bool = True
    """`optional.for.proto2`."""
    wrapper_nullables: bool = False
    """`wrapper.for.nullables`."""
    wrapper_raw: bool = True
    """`wrapper.for.raw.primitives`."""
    struct_for_nulls: bool = False
    """`generate.struct.for.nulls`."""
    union_index: bool = True
    """`generate.index.for.unions`."""
    flatten_unions: bool = False
    """`flatten.unions`."""
    general_sums: bool = False
    """`generalized.sum.type.support`."""

    @property
    def enum(self) -> str:
        """The parameter with the name of an enum."""
        return GENERAL_ENUM if self.general_sums else ENUM

    @property
    def unwraps(self) -> bool:
        """Whether a wrapper message is read as its value."""
        return self.wrapper_nullables or self.wrapper_raw


def is_union(schema: Schema) -> bool:
    """Whether a struct represents a oneof."""
    return schema.type == "struct" and ((schema.name or "").startswith(UNION) or GENERAL_UNION in (schema.parameters or {}))


def is_enum(schema: Schema) -> bool:
    """Whether a string, or a number, represents an enum."""
    parameters = schema.parameters or {}
    return GENERAL_ENUM in parameters or ENUM in parameters


def scrubbed(name: str, options: ProtobufOptions) -> str:
    """A name without characters that Protobuf does not allow, if `scrub_names` is set."""
    if not options.scrub_names or re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
        return name
    encoded = quote_plus(name, safe="*").replace("~", "%7E")
    return re.sub("[^A-Za-z0-9_]", "_", encoded if re.match("[^0-9_]", encoded) else "x" + encoded)


def split_name(name: str, options: ProtobufOptions) -> tuple[str, str]:
    """The package and the name of a message."""
    parts = [scrubbed(part, options) for part in name.split(".")]
    return ".".join(parts[:-1]), parts[-1]


def entry_name(map_name: str) -> str:
    """The name of the message of a map's entries."""
    words = map_name.split("_")
    return (map_name if len(words) == 1 else "".join(word.capitalize() for word in words)) + ENTRY


def map_name(entry: str) -> str:
    """The name of a map, from the name of the message of its entries."""
    package, _, short = entry.rpartition(".")
    words = re.sub("(?<=.)([A-Z])", r"_\1", short.removesuffix(ENTRY)).lower()
    return f"{package}.{words}" if package else words


def entry_of(field: Field, type_: Message | Enum | None) -> Message | None:
    """The message of a map's entries, if the field is a map written as repeated entry messages, else None."""
    if field.label != "repeated" or not isinstance(type_, Message) or not type_.short.endswith(ENTRY):
        return None
    is_entry = [f.name for f in type_.fields] == ["key", "value"] and all(f.label != "repeated" for f in type_.fields)
    return type_ if is_entry else None


def enum_plan(enum: Enum, as_number: bool) -> dict[str, Any]:
    """The plan for reading and writing an enum."""
    return {"t": "enum", "n": enum.short, "i": as_number, "closed": enum.closed, "s": [[*pair] for pair in enum.symbols.items()]}


def default_plan(field: Field) -> Any:
    """The default of a field in the JSON of plans: bytes in base64, as in payloads; infinities and NaN are texts."""
    default = field.default
    if isinstance(default, bytes):
        return base64.b64encode(default).decode()
    if isinstance(default, float) and not math.isfinite(default):
        return "NaN" if math.isnan(default) else "Infinity" if default > 0 else "-Infinity"
    return default - (1 << 64) if isinstance(default, int) and default >> 63 == 1 else default  # Connect has signed numbers
