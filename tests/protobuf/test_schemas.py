"""Protobuf's schemas as Connect's, and back: what Confluent's ProtobufData makes of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import DataError
from headrace.protobuf.from_connect import from_connect
from headrace.protobuf.mapping import ProtobufOptions
from headrace.protobuf.parse import parse
from headrace.protobuf.to_connect import to_connect
from headrace.protobuf.types import Types
from headrace.protobuf.well_known import FILES
from headrace.protobuf.writing import index_bytes, writing_plan
from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema
from tests.protobuf.descriptors import types_of, types_of_descriptor

PLAIN = ProtobufOptions()
TAG, ENUM = "io.confluent.connect.protobuf.Tag", "io.confluent.connect.protobuf.Enum"
ORDER = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
option java_package = "com.shop"; // a comment; with { signs }

message Order {
  int32 id = 1;
  repeated string tags = 2;
  map<string, int64> counts = 3;
  Size size = 4;
  google.protobuf.Timestamp at = 5;
  google.protobuf.StringValue nick = 6;
  optional double price = 7;
  oneof payment { string card = 8; Cash cash = 9; }
  .shop.Order.Cash change = 10;
  uint32 count = 11 [deprecated = true, (confluent.field_meta) = { params: [{ key: "a", value: "b" }] }];
  reserved 20 to 30, 40; reserved "old";
  message Cash { sint64 amount = 1; }
  enum Size { option allow_alias = true; S = 0; L = 1; XL = 1 [deprecated = true]; }
}
message Other { Order.Cash cash = 1; }
service Shop { rpc Get (Order) returns (Other) { option x = 1; } }
"""


def connect(text: str, options: ProtobufOptions = PLAIN, indexes: Any = (0,)) -> Schema:
    return of(to_connect(Types(text, {}), options, indexes))


def of(data: Any) -> Schema:
    """The schema of Connect's data, which has one."""
    assert data.schema is not None
    return data.schema


def tagged(schema: Schema, number: int, **parameters: str) -> Schema:
    return schema.same_but(optional=True, parameters={**(schema.parameters or {}), **parameters, TAG: str(number)})


def test_a_message_is_a_struct_whose_oneofs_come_first() -> None:
    schema = connect(ORDER)
    cash = Schema(
        "struct", name="Cash", fields={"amount": tagged(Schema("int64"), 1, **{"io.confluent.connect.protobuf.Type": "sint64"})}
    )
    assert (schema.name, schema.optional) == ("Order", False)
    assert list(schema.fields) == [
        "payment_0", "id", "tags", "counts", "size", "at", "nick", "price", "change", "count",
    ]  # fmt: skip
    assert schema.fields["payment_0"] == Schema(
        "struct", True, "io.confluent.connect.protobuf.Union.payment",
        fields={"card": tagged(Schema("string"), 8), "cash": tagged(cash, 9)},
    )  # fmt: skip
    assert schema.fields["id"] == tagged(Schema("int32"), 1)
    assert schema.fields["tags"] == tagged(Schema("array", items=Schema("string", True)), 2)
    keys, values = tagged(Schema("string"), 1), tagged(Schema("int64"), 2)
    assert schema.fields["counts"] == tagged(Schema("map", name="counts", keys=keys, values=values), 3)
    symbols = {ENUM: "Size", f"{ENUM}.S": "0", f"{ENUM}.L": "1", f"{ENUM}.XL": "1"}
    assert schema.fields["size"] == tagged(Schema("string", name="Size", parameters=symbols), 4)
    assert schema.fields["at"] == tagged(Schema("int64", name=TIMESTAMP, version=1), 5)
    assert schema.fields["nick"] == tagged(Schema("string"), 6)
    assert schema.fields["change"] == tagged(cash, 10)
    assert schema.fields["count"] == tagged(Schema("int64"), 11, **{"io.confluent.connect.protobuf.Type": "uint32"})


def test_options_decide_on_names_and_on_what_is_optional() -> None:
    enhanced = connect(ORDER, ProtobufOptions(enhanced=True))
    assert (enhanced.name, enhanced.fields["size"].name, enhanced.fields["counts"].name) == (
        "shop.Order", "shop.Order.Size", "shop.Order.counts",
    )  # fmt: skip
    assert enhanced.fields["payment_0"].name == "io.confluent.connect.protobuf.Union.shop.Order.payment"
    assert connect(ORDER, ProtobufOptions(int_enums=True)).fields["size"].type == "int32"
    flat = connect(ORDER, ProtobufOptions(flatten_unions=True))
    assert list(flat.fields)[:3] == ["card", "cash", "id"]
    assert "payment" in connect(ORDER, ProtobufOptions(union_index=False)).fields
    optional = connect(ORDER, ProtobufOptions(optional_nullables=True)).fields
    assert (optional["id"].optional, optional["price"].optional) == (False, True)
    wrapped = connect(ORDER, ProtobufOptions(wrapper_nullables=True)).fields
    assert (wrapped["id"].optional, wrapped["nick"].optional, wrapped["tags"].optional) == (False, True, True)
    raw = connect(ORDER, ProtobufOptions(wrapper_raw=False)).fields["nick"]
    assert (raw.name, list(raw.fields)) == ("StringValue", ["value"])
    assert connect(ORDER, indexes=[0, 0]).name == "Cash"
    assert connect(ORDER, indexes=[1]).name == "Other"


MIXED = Schema("struct", name="a.b.Mixed", fields={
    "small": Schema("int8"), "id": Schema("int64", optional=True), "price": Schema(
        "bytes", name=DECIMAL, version=1, parameters={"scale": "2", "connect.decimal.precision": "9"}),
    "day": Schema("int32", name=DATE, version=1), "at": Schema("int32", name=TIME, version=1),
    "list": Schema("array", items=Schema("float32")),
    "map": Schema("map", keys=Schema("string"), values=Schema("struct", name="x.Inner", fields={"a": Schema("boolean")})),
    "inner": Schema("struct", name="x.Inner", fields={"a": Schema("boolean")}),
})  # fmt: skip
MIXED_TEXT = """syntax = "proto3";
package a.b;

import "confluent/type/decimal.proto";
import "google/type/date.proto";
import "google/type/timeofday.proto";

message Mixed {
  int32 small = 1 [(confluent.field_meta) = {
    params: [
      {
        key: "connect.type",
        value: "int8"
      }
    ]
  }];
  int64 id = 2;
  confluent.type.Decimal price = 3 [(confluent.field_meta) = {
    params: [
      {
        value: "9",
        key: "precision"
      },
      {
        value: "2",
        key: "scale"
      }
    ]
  }];
  google.type.Date day = 4;
  google.type.TimeOfDay at = 5;
  repeated float list = 6;
  repeated ConnectDefault1Entry map = 7;
  Inner inner = 8;

  message ConnectDefault1Entry {
    string key = 1;
    Inner value = 2;
{}
    message Inner {
      bool a = 1;
    }
  }
  message Inner {
    bool a = 1;
  }
}
"""


def test_a_schema_of_connect_is_written_as_confluent_does() -> None:
    text, name = from_connect(MIXED, PLAIN)
    assert (text, name) == (MIXED_TEXT.replace("{}", "  "), "a.b.Mixed")
    read = connect(text)
    assert read.fields["price"].parameters == {"scale": "2", "connect.decimal.precision": "9", TAG: "3"}
    assert (read.fields["small"].type, read.fields["map"].type) == ("int8", "map")


def test_fields_of_several_structs_that_a_transform_brings_together_have_numbers_of_their_own() -> None:
    one, two = {TAG: "1"}, {TAG: "2"}
    union = Schema("struct", name="io.confluent.connect.protobuf.Union.pay", fields={"card": Schema("string", parameters=two)})
    fields = {"pay_0": union, "a": Schema("int32", parameters=one), "in_s": Schema("string", parameters=one),
              "in_t": Schema("string", parameters=two), "new": Schema("string")}  # fmt: skip
    text, _ = from_connect(Schema("struct", name="R", fields=fields), PLAIN)
    [message] = parse(text).messages
    assert {field.name: field.number for field in message.fields} == {"a": 1, "card": 2, "in_s": 3, "in_t": 4, "new": 5}


def test_unions_enums_and_optional_fields_are_written_as_they_were_read() -> None:
    options = ProtobufOptions(optional_nullables=True)
    text, name = from_connect(connect(ORDER, options), options)
    assert name == "Order"
    assert "  optional double price = 7;\n" in text
    assert "  oneof payment {\n    string card = 8;\n    Cash cash = 9;\n  }\n" in text
    assert "  enum Size {\n    S = 0;\n    L = 1;\n    XL = 1;\n  }\n" in text
    assert "  uint32 count = 11;\n" in text
    wrapped = from_connect(Schema("struct", fields={"a": Schema("int64", True)}), ProtobufOptions(wrapper_nullables=True))
    assert wrapped[0] == (
        'syntax = "proto3";\n\nimport "google/protobuf/wrappers.proto";\n\nmessage ConnectDefault1 {\n'
        "  google.protobuf.Int64Value a = 1;\n}\n"
    )


def test_a_primitive_is_a_wrapper_message() -> None:
    text, name = from_connect(Schema("string"), PLAIN)
    types = Types(text, {})
    assert name == "google.protobuf.StringValue"
    plan, indexes = writing_plan(Schema("string"), types, name, PLAIN)
    assert (plan, indexes) == ({"t": "wrapper", "i": {"t": "string"}}, [7])
    assert index_bytes(indexes) == b"\x02\x0e"
    assert to_connect(types, PLAIN, indexes).schema == Schema("string")


def test_proto2_tells_an_absent_field_from_its_default() -> None:
    text = "message R { optional int32 a = 1 [default = 5]; required string b = 2; optional E e = 3; enum E { A = 3; } }"
    plan = to_connect(Types(text, {}), PLAIN).plan
    assert [(field.get("p"), field.get("q"), field.get("d")) for field in plan["f"]] == [
        (True, None, 5), (None, True, None), (True, None, None),
    ]  # fmt: skip
    assert plan["f"][2]["type"]["closed"]


def test_imports_are_found_among_the_references() -> None:
    text = 'syntax = "proto3"; import "other.proto"; message R { other.Inner inner = 1; }'
    types = Types(text, {"other.proto": 'syntax = "proto3"; package other; message Inner { int32 a = 1; }'})
    assert list(of(to_connect(types, PLAIN)).fields["inner"].fields) == ["a"]


@pytest.mark.parametrize(("text", "why"), [
    ("message R { optional int32 a = 1 }", "has } in line 1 instead of ;"),
    ("message R { int32 a = 1; }", "has int32 in line 1 instead of optional, required or repeated"),
    ('syntax = "proto3";\n\nmessage R {\n  Other a = 1;\n}', "names Other, which it does not define"),
    ('syntax = "proto3"; import "x.proto"; message R {}', r"imports x\.proto, which is not among its references"),
    ('syntax = "proto9";', "syntax proto9: it has to be proto2 or proto3"),
    ("enum E { A = 0; }", "no message with the indexes"),
    ("message R { optional int32 a = x; }", "has x in line 1 instead of a number"),
    ("message R { optional int32 a = 0; }", "has 0 in line 1 instead of a number between 1 and 536870911"),
    ("message R { optional int32 a = 1; optional int32 a = 2; }", "defines R.a twice"),
    ("message R { optional int32 a = 1; optional int32 b = 1; }", "R has several fields with the number 1"),
    ("message R { enum E { } }", "has the enum R.E without symbols"),
    ("message R { optional int32 a = 1 [default = 2147483648]; }", "the default 2147483648 for a field of type int32"),
    ('message R { optional string a = 1 [default = "\\q"]; }', r"has, in line 1, \\q is no escape sequence"),
    ("package a; package b;", "has, in line 1, a second package"),
    ("message M { " * 40 + "}" * 40, "messages nested more than 32 deep"),
    ("CgFhIgUKA" * 40, "has CgFhIgUKACgFhIgUKA.{0,60} in line 1 instead of a message or an enum"),
    ("message R {", "has its end in line 1"),
    ("message § {}", "has '§' in line 1"),
])  # fmt: skip
def test_what_cannot_be_is_said_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(DataError, match=why):
        connect(text)


def test_what_a_message_has_no_place_for_is_said_in_a_sentence() -> None:
    def plan(schema: Schema, text: str) -> None:
        writing_plan(schema, Types(text, {}), "R", PLAIN)

    schema = Schema("struct", name="R", fields={"a": Schema("string")})
    with pytest.raises(DataError, match="no message R, which Connect's schema is"):
        plan(schema, "message S {}")
    with pytest.raises(DataError, match="Cannot find field with name a in the Protobuf message R"):
        plan(schema, "message R {}")
    with pytest.raises(DataError, match="has optional int32 for the field a, which is STRING in Connect"):
        plan(schema, "message R { optional int32 a = 1; }")
    with pytest.raises(DataError, match="has repeated string for the field a, which is STRING"):
        plan(schema, "message R { repeated string a = 1; }")
    with pytest.raises(DataError, match="Unsupported root schema of type ARRAY"):
        from_connect(Schema("array", items=Schema("string")), PLAIN)
    nested = Schema("struct", fields={"a": Schema("array", items=Schema("array", items=Schema("string")))})
    with pytest.raises(DataError, match="R requires b, which Connect's schema does not have"):
        plan(schema, "message R { optional string a = 1; required string b = 2; }")
    with pytest.raises(DataError, match="Array cannot be nested"):
        from_connect(nested, PLAIN)


def schemas() -> st.SearchStrategy[Schema]:
    """Any struct that Protobuf has a counterpart for; its structs have names of their own."""
    kinds = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "bytes")
    leaves = st.sampled_from([
        *(Schema(kind) for kind in kinds), Schema("int64", name=TIMESTAMP, version=1), Schema("int32", name=DATE, version=1),
        Schema("bytes", name=DECIMAL, version=1, parameters={"scale": "3"}),
    ])  # fmt: skip
    count = iter(range(10**9))

    def struct(fields: list[Schema]) -> Schema:
        return Schema("struct", name=f"R{next(count)}", fields={f"f{n}": field for n, field in enumerate(fields)})

    def nested(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
        single = inner.filter(lambda schema: schema.type not in ("array", "map"))
        return st.one_of(
            st.builds(struct, st.lists(inner, max_size=4)),
            st.builds(lambda items: Schema("array", items=items), single),
            st.builds(lambda values: Schema("map", name=f"m{next(count)}", keys=Schema("string"), values=values), single),
        )

    return st.builds(struct, st.lists(st.recursive(leaves, nested, max_leaves=6), max_size=5))


@given(schemas())
def test_what_is_written_is_read_and_written_again_as_it_was(schema: Schema) -> None:
    text, name = from_connect(schema, PLAIN)
    types = Types(text, {})
    again = of(to_connect(types, PLAIN))
    assert list(again.fields) == list(schema.fields)
    assert from_connect(again, PLAIN) == (text, name)
    assert writing_plan(schema, types, name, PLAIN)[1] == [0]


def test_a_file_is_parsed_to_its_messages() -> None:
    file = parse(ORDER)
    assert (file.package, [message.name for message in file.messages]) == ("shop", ["shop.Order", "shop.Other"])
    assert file.messages[0].fields[-1].params == {"a": "b"}


def test_files_that_no_registry_has_are_those_of_google_and_confluent() -> None:
    for name, text in FILES.items():
        module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
        inside = "confluent_kafka.schema_registry." if name.startswith("confluent/") else ""
        serialized = import_module(inside + module).DESCRIPTOR.serialized_pb
        if name == "google/protobuf/descriptor.proto":
            continue  # its messages are of schemas, not of data
        official = FileDescriptorProto.FromString(serialized)
        assert types_of(parse(f'syntax = "proto3"; {text}')) == types_of_descriptor(official), name
        Types(f'syntax = "proto3"; import "{name}"; message R {{}}', {})


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_what_extends_a_message_is_not_of_its_schema(syntax: str) -> None:
    extend = "extend R { optional string b = 100; }"
    text = f'syntax = "{syntax}"; message R {{ optional string a = 1; extensions 100 to 199; {extend} }} {extend}'
    [message] = parse(text).messages
    assert [field.name for field in message.fields] == ["a"]
