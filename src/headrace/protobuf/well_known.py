"""The files that every Protobuf schema may import: of Google, and of Confluent. No registry has them."""

from __future__ import annotations

_WRAPPED = {"Double": "double", "Float": "float", "Int64": "int64", "UInt64": "uint64", "Int32": "int32", "UInt32": "uint32",
            "Bool": "bool", "String": "string", "Bytes": "bytes"}  # fmt: skip
WRAPPERS = {f"google.protobuf.{name}Value": scalar for name, scalar in _WRAPPED.items()}
"""The messages that hold one scalar."""

_TEXTS = """
google/protobuf/timestamp.proto: message Timestamp { int64 seconds = 1; int32 nanos = 2; }
google/protobuf/duration.proto: message Duration { int64 seconds = 1; int32 nanos = 2; }
google/protobuf/empty.proto: message Empty {}
google/protobuf/any.proto: message Any { string type_url = 1; bytes value = 2; }
google/protobuf/field_mask.proto: message FieldMask { repeated string paths = 1; }
google/protobuf/descriptor.proto:
google/protobuf/struct.proto: message Struct { map<string, Value> fields = 1; } \
message Value { oneof kind { NullValue null_value = 1; double number_value = 2; string string_value = 3; bool bool_value = 4; \
Struct struct_value = 5; ListValue list_value = 6; } } \
enum NullValue { NULL_VALUE = 0; } message ListValue { repeated Value values = 1; }
google/type/date.proto: message Date { int32 year = 1; int32 month = 2; int32 day = 3; }
google/type/timeofday.proto: message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }
google/type/latlng.proto: message LatLng { double latitude = 1; double longitude = 2; }
google/type/money.proto: message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }
confluent/type/decimal.proto: message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }
confluent/meta.proto:
"""
_WRAPPERS_TEXT = "".join(f"message {name}Value {{ {scalar} value = 1; }} " for name, scalar in _WRAPPED.items())


def _file(name: str, text: str) -> str:
    package = name.rpartition("/")[0].replace("/", ".")
    return f"package {package}; {text}"


FILES = {name: _file(name, text) for name, _, text in (line.partition(":") for line in _TEXTS.strip().split("\n"))} | {
    "google/protobuf/wrappers.proto": _file("google/protobuf/wrappers.proto", _WRAPPERS_TEXT)
}
"""Their texts by their names, without the syntax, which is proto3."""
