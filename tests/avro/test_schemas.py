"""Avro's schemas as Connect's, and back: what Confluent's AvroData makes of them."""

from __future__ import annotations

import json
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.avro import mapping
from headrace.avro.from_connect import from_connect
from headrace.avro.mapping import AvroOptions
from headrace.avro.to_connect import to_connect
from headrace.avro.writing import writing_plan
from headrace.errors import DataError
from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema

PLAIN = AvroOptions()
ENHANCED = AvroOptions(enhanced=True)
LOGICAL = "org.apache.kafka.connect.data."


def avro(schema: Schema | None, options: AvroOptions = PLAIN) -> Any:
    return json.loads(from_connect(schema, options))


def connect(node: Any, options: AvroOptions = PLAIN) -> Schema:
    schema = to_connect(json.dumps(node), options).schema
    assert schema is not None
    return schema


DECIMAL_2 = Schema("bytes", name=DECIMAL, version=1, parameters={"scale": "2"})
PAIRS = [
    (Schema("int8"), {"type": "int", "connect.type": "int8"}),
    (Schema("int16"), {"type": "int", "connect.type": "int16"}),
    (Schema("int32"), "int"),
    (Schema("int64"), "long"),
    (Schema("float32"), "float"),
    (Schema("float64"), "double"),
    (Schema("boolean"), "boolean"),
    (Schema("string"), "string"),
    (Schema("bytes"), "bytes"),
    (Schema("string", optional=True), ["null", "string"]),
    (Schema("int32", doc="d", version=3, parameters={"a": "b"}, name="n", default=7),
     {"type": "int", "connect.doc": "d", "connect.version": 3, "connect.parameters": {"a": "b"}, "connect.default": 7,
      "connect.name": "n"}),
    (DECIMAL_2,
     {"type": "bytes", "scale": 2, "precision": 64, "connect.version": 1, "connect.parameters": {"scale": "2"},
      "connect.name": DECIMAL, "logicalType": "decimal"}),
    (DECIMAL_2.same_but(parameters={"scale": "2", "connect.decimal.precision": "9"}),
     {"type": "bytes", "scale": 2, "precision": 9, "connect.version": 1,
      "connect.parameters": {"scale": "2", "connect.decimal.precision": "9"}, "connect.name": DECIMAL,
      "logicalType": "decimal"}),
    (Schema("int32", name=DATE, version=1),
     {"type": "int", "connect.version": 1, "connect.name": DATE, "logicalType": "date"}),
    (Schema("int32", name=TIME, version=1),
     {"type": "int", "connect.version": 1, "connect.name": TIME, "logicalType": "time-millis"}),
    (Schema("int64", name=TIMESTAMP, version=1),
     {"type": "long", "connect.version": 1, "connect.name": TIMESTAMP, "logicalType": "timestamp-millis"}),
    (Schema("array", items=Schema("string", optional=True)), {"type": "array", "items": ["null", "string"]}),
    (Schema("map", keys=Schema("string"), values=Schema("int32")), {"type": "map", "values": "int"}),
    (Schema("map", keys=Schema("int32"), values=Schema("string")),
     {"type": "array", "items": {"type": "record", "name": "MapEntry", "namespace": "io.confluent.connect.avro",
                                 "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "string"}]}}),
    (Schema("struct", fields={"a": Schema("int32", optional=True)}),
     {"type": "record", "name": "ConnectDefault", "namespace": "io.confluent.connect.avro",
      "fields": [{"name": "a", "type": ["null", "int"], "default": None}]}),
    (Schema("struct", name="com.example.Order", version=2, fields={
        "id": Schema("int64"), "note": Schema("string", optional=True, default="-"),
        "inner": Schema("struct", optional=True, name="com.example.Inner", fields={"x": DECIMAL_2}),
        "again": Schema("struct", name="com.example.Inner", fields={"x": DECIMAL_2})}),
     {"type": "record", "name": "Order", "namespace": "com.example", "fields": [
         {"name": "id", "type": "long"},
         {"name": "note", "type": [{"type": "string", "connect.default": "-"}, "null"], "default": "-"},
         {"name": "inner", "default": None, "type": ["null", {"type": "record", "name": "Inner", "fields": [
             {"name": "x", "type": {"type": "bytes", "scale": 2, "precision": 64, "connect.version": 1,
                                    "connect.parameters": {"scale": "2"}, "connect.name": DECIMAL,
                                    "logicalType": "decimal"}}], "connect.name": "com.example.Inner"}]},
         {"name": "again", "type": "Inner"}],
      "connect.version": 2, "connect.name": "com.example.Order"}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "node"), PAIRS, ids=lambda value: None)
def test_a_schema_is_written_as_avrodata_does_and_read_back(schema: Schema, node: Any) -> None:
    assert avro(schema) == node
    fastavro.parse_schema(node)
    assert connect(node) == schema


ENUM = {"type": "enum", "name": "Size", "namespace": "a", "symbols": ["S", "L"]}
ENUM_SCHEMA = Schema("string", name="a.Size", parameters={
    "io.confluent.connect.avro.Enum": "a.Size", "io.confluent.connect.avro.Enum.S": "S", "io.confluent.connect.avro.Enum.L": "L",
})  # fmt: skip


def test_an_enum_is_a_text_with_parameters_and_an_enum_again_if_that_is_asked_for() -> None:
    assert connect(ENUM) == ENUM_SCHEMA
    assert avro(ENUM_SCHEMA)["type"] == "string"
    written = avro(ENUM_SCHEMA, ENHANCED)
    assert (written["type"], written["symbols"], written["connect.name"]) == ("enum", ["S", "L"], "a.Size")


def test_a_union_is_a_struct_with_a_field_for_each_branch() -> None:
    record = {"type": "record", "name": "R", "namespace": "a.b", "fields": [{"name": "x", "type": "int"}]}
    schema = connect(["null", "int", "string", record])
    assert (schema.name, schema.optional, list(schema.fields)) == (
        "io.confluent.connect.avro.Union",
        True,
        ["int", "string", "R"],
    )
    assert list(connect(["int", record], ENHANCED).fields) == ["int", "a.b.R"]
    assert avro(schema)[:3] == ["null", "int", "string"]
    assert connect(["string"]) == Schema("string")


def test_the_fields_of_a_union_may_have_other_names_than_its_branches() -> None:
    general, record = AvroOptions(general_sums=True), {"type": "record", "name": "R", "namespace": "a.b", "fields": []}

    def places(schema: Schema, options: AvroOptions, node: Any = None) -> dict[str, int]:
        text = from_connect(schema, options) if node is None else json.dumps(node)
        return {field: place for field, place, _ in writing_plan(schema, text, options)["f"]}

    null_last = connect(["string", "int", "null"], general)
    assert avro(null_last, general)[0] == "null"
    assert places(null_last, general) == {"connect_union_field_0": 1, "connect_union_field_1": 2}
    assert places(null_last, general, ["int", "null", "string"]) == {"connect_union_field_0": 2, "connect_union_field_1": 0}
    two = {"card": Schema("struct", name="R", fields={"a": Schema("string")}), "iban": Schema("struct", name="S")}
    parameters = {mapping.GENERAL_UNION: "pay_0"}  # of a oneof of Protobuf
    oneof = Schema("struct", True, "pay_0", fields=two, parameters=parameters)
    assert places(oneof, general) == {"card": 1, "iban": 2}
    empty = {"type": "record", "name": "S", "fields": []}
    turned = [empty, {**empty, "name": "R", "fields": [{"name": "a", "type": "string"}]}]
    assert places(oneof, general, turned) == {"card": 1, "iban": 0}
    full_names = connect(["int", record], ENHANCED)
    assert places(full_names, PLAIN) == places(full_names, PLAIN, ["int", record]) == {"int": 0, "a.b.R": 1}
    with pytest.raises(DataError, match="no branch iban for the data"):
        places(oneof, general, turned[1:])


def test_documentation_and_defaults_of_avro_are_parameters() -> None:
    node = {"type": "record", "name": "R", "doc": "of R", "fields": [
        {"name": "a", "type": "int", "doc": "of a", "default": 5},
        {"name": "b", "type": ["null", "long"], "default": None}]}  # fmt: skip
    schema = connect(node)
    assert schema.parameters == {"io.confluent.connect.avro.record.doc": "of R", "io.confluent.connect.avro.field.doc.a": "of a"}
    assert schema.fields["a"] == Schema("int32", default=5, parameters={"io.confluent.connect.avro.field.default": "true"})
    assert schema.fields["b"] == Schema("int64", optional=True)
    written = avro(schema)
    assert (written["doc"], written["fields"][0]) == ("of R", {"name": "a", "type": "int", "doc": "of a", "default": 5})


def test_a_fixed_type_is_bytes_with_its_size() -> None:
    node = {"type": "fixed", "name": "Md5", "namespace": "a", "size": 16}
    assert connect(node) == Schema("bytes", name="a.Md5", parameters={"connect.fixed.size": "16"})
    assert avro(connect(node))["size"] == 16


def test_a_decimal_in_a_fixed_type_is_written_as_one_again() -> None:
    node = {"type": "fixed", "name": "Price", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}
    schema = connect(node)
    parameters = {"scale": "2", "connect.decimal.precision": "9", "connect.fixed.size": "4"}
    assert schema == Schema("bytes", name=DECIMAL, version=1, parameters=parameters)
    assert json.dumps(avro(schema)) == json.dumps({
        "type": "fixed", "name": "Decimal", "namespace": "org.apache.kafka.connect.data", "size": 4, "scale": 2, "precision": 9,
        "connect.version": 1, "connect.parameters": parameters, "connect.name": DECIMAL, "logicalType": "decimal",
    })  # fmt: skip
    assert connect(avro(schema)) == schema
    for written in (node, avro(schema)):
        assert writing_plan(schema, json.dumps(written), PLAIN) == {"t": "fixed", "n": 4, "decimal": True}
    zero = avro(Schema("struct", fields={"x": schema.same_but(default="AA==")}))["fields"][0]
    assert zero["default"] == "\0" * 4


def test_decimals_with_other_digits_than_the_first_in_a_fixed_type_are_bytes() -> None:
    def price(name: str, scale: int) -> Any:
        return {"type": "fixed", "name": name, "size": 4, "logicalType": "decimal", "precision": 9, "scale": scale}

    fields = [{"name": name, "type": price(name.upper(), scale)} for name, scale in (("a", 2), ("b", 2), ("c", 4))]
    schema = connect({"type": "record", "name": "R", "fields": fields})
    written = avro(schema)
    first, second, third = [field["type"] for field in written["fields"]]
    assert (first["type"], second, third["type"], third["scale"]) == ("fixed", DECIMAL, "bytes", 4)
    assert connect(written) == schema
    plans = [plan["t"] for _, plan in writing_plan(schema, json.dumps(written), PLAIN)["f"]]
    assert plans == ["fixed", "fixed", "bytes"]


def test_logical_types_that_connect_has_not_are_plain_numbers() -> None:
    for name in ("timestamp-micros", "local-timestamp-millis", "time-micros"):
        assert connect({"type": "long", "logicalType": name}) == Schema("int64")
    assert connect({"type": "string", "logicalType": "uuid"}) == Schema("string")


def test_the_default_of_an_optional_struct_has_the_order_of_its_fields() -> None:
    fields = {"a": Schema("int32"), "b": Schema("string", optional=True), "c": Schema("bytes")}
    inner = Schema("struct", name="In", optional=True, fields=fields, default={"c": "/w==", "a": 1})
    written = avro(Schema("struct", name="R", fields={"in": inner}))["fields"][0]
    assert written["type"][0] == "null"  # as AvroData does it: the default is one of the second type
    for default in (written["default"], written["type"][1]["connect.default"]):
        assert list(default.items()) == [("a", 1), ("b", None), ("c", "\xff")]
    schema = connect(avro(Schema("struct", name="R", fields={"in": inner})))
    assert schema.fields["in"].default == {"a": 1, "b": None, "c": "/w=="}
    assert avro(schema)["fields"][0] == written


def test_bytes_of_a_default_are_one_character_each() -> None:
    schema = Schema("struct", name="R", fields={"b": Schema("bytes", default="/wA=")})
    assert avro(schema)["fields"][0]["default"] == "\xff\0"
    assert connect(avro(schema)).fields["b"].default == "/wA="


def test_names_are_scrubbed_if_that_is_asked_for() -> None:
    schema = Schema("struct", name="my-app.Or der", fields={"1st": Schema("int32")})
    assert avro(schema)["fields"][0]["name"] == "1st"
    written = avro(schema, AvroOptions(scrub_names=True))
    assert (written["namespace"], written["name"], written["fields"][0]["name"]) == ("my_app", "Or_der", "x1st")
    assert written["connect.name"] == "my-app.Or der"
    fastavro.parse_schema(written)
    names = [
        mapping.scrubbed(name, AvroOptions(scrub_names=True))
        for name in ("\u00e9t\u00e9", "-a", " a", "$x", "0abc.def", "abc+-.*_")
    ]
    assert names == ["_C3_A9t_C3_A9", "_a", "_a", "_24x", "x0abc_def", "abc_2B____"]


def test_metadata_can_be_left_out() -> None:
    assert avro(Schema("int8", doc="d"), AvroOptions(meta_data=False)) == "int"


def test_data_without_schema_is_anything() -> None:
    assert avro(None)["name"] == "Anything"
    fastavro.parse_schema(avro(None))
    assert to_connect(from_connect(None, PLAIN), PLAIN).schema is None


def test_what_cannot_be_is_said_in_a_sentence() -> None:
    with pytest.raises(DataError, match="Standalone null schemas"):
        connect("null")
    with pytest.raises(DataError, match="names Other, which it does not define"):
        connect({"type": "array", "items": "Other"})
    for text, references in (("{", ()), ('"int"', ("{",))):
        with pytest.raises(DataError, match="The Avro schema is no JSON: "):
            to_connect(text, PLAIN, references=references)
    two = Schema("struct", fields={n: Schema("struct", name="a.B", fields={n: Schema("int32")}) for n in ("x", "y")})
    with pytest.raises(DataError, match=r"Can't redefine: a\.B"):
        avro(two)
    amounts = {n: Schema("bytes", name=DECIMAL, parameters={"scale": n}) for n in ("2", "4")}
    for first, second in (("2", "4"), ("4", "2")):
        parts = {n: Schema("struct", name="a.Money", fields={"amount": amounts[n]}) for n in (first, second)}
        with pytest.raises(DataError, match=r"Can't redefine: a\.Money"):
            avro(Schema("struct", fields=parts))
    with pytest.raises(DataError, match="has int for the data, which is STRING"):
        writing_plan(Schema("string"), '"int"', PLAIN)
    with pytest.raises(DataError, match="has the field a, which is not in the data"):
        writing_plan(
            Schema("struct", fields={}), json.dumps(avro(PAIRS[-2][0]) | {"fields": [{"name": "a", "type": "int"}]}), PLAIN
        )
    with pytest.raises(DataError, match="has no field a, which is in the data"):
        writing_plan(PAIRS[-2][0], '{"type":"record","name":"R","fields":[]}', PLAIN)


def test_maps_with_keys_that_are_no_texts_have_one_type_of_entries() -> None:
    schema = Schema("map", keys=Schema("int32"), values=Schema("string"))
    written = avro(Schema("struct", name="R", fields={"a": schema, "b": schema.same_but(optional=True)}))
    assert written["fields"][0]["type"]["items"]["name"] == "MapEntry"
    assert written["fields"][1]["type"] == ["null", {"type": "array", "items": "io.confluent.connect.avro.MapEntry"}]
    assert connect(written).fields["b"] == schema.same_but(optional=True)
    for default, is_kept in (([[1, "a"]], False), ([], True)):
        node = avro(Schema("struct", name="R", fields={"m": schema.same_but(default=default)}))["fields"][0]
        assert node["type"]["connect.default"] == default
        assert ("default" in node) == is_kept
    other = Schema("map", keys=Schema("int64"), values=Schema("string"))
    with pytest.raises(DataError, match=r"Can't redefine: io\.confluent\.connect\.avro\.MapEntry"):
        avro(Schema("struct", name="R", fields={"a": schema, "b": other}))


@pytest.mark.parametrize(("node", "default"), [
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B"),
    ({"type": "fixed", "name": "E", "size": 1}, "A"),
    ({"type": "record", "name": "E", "fields": [{"name": "x", "type": "int"}]}, {"x": 1}),
], ids=["enum", "fixed", "record"])  # fmt: skip
def test_a_type_that_is_used_again_may_have_a_default_in_one_place(node: Any, default: Any) -> None:
    fields = [{"name": "f", "type": node, "default": default}, {"name": "g", "type": "E"}]
    for ordered in (fields, [fields[1] | {"type": node}, fields[0] | {"type": "E"}]):
        written = avro(connect({"type": "record", "name": "R", "fields": ordered}, ENHANCED), ENHANCED)
        by_name = {field["name"]: field for field in written["fields"]}
        assert by_name["f"]["default"] == default
        assert ordered[0]["name"] == written["fields"][0]["name"]
        assert (written["fields"][1]["type"], written["fields"][0]["type"]["name"]) == ("E", "E")
        assert "default" not in by_name["g"]


def test_two_branches_of_a_union_that_become_the_same_are_an_error_in_a_sentence() -> None:
    enums = [{"type": "enum", "name": name, "symbols": ["A"]} for name in ("E", "F")]
    with pytest.raises(DataError, match='Duplicate in union: "string"'):
        avro(connect(enums))


def test_numbers_and_characters_of_a_schema_are_written_as_avros_library_does() -> None:
    schema = Schema("float64", default=1e10, doc="\x1f\u2028\u00e9")
    assert from_connect(schema, PLAIN) == \
        '{"type":"double","connect.doc":"\\u001F\u2028\u00e9","connect.default":1.0E10}'  # fmt: skip


def test_a_schema_may_refer_to_others() -> None:
    inner = {"type": "record", "name": "In", "namespace": "a", "fields": [{"name": "x", "type": "int"}]}
    outer = {"type": "record", "name": "Out", "namespace": "a", "fields": [{"name": "in", "type": "In"}]}
    schema = to_connect(json.dumps(outer), PLAIN, references=[json.dumps(inner)]).schema
    assert schema is not None
    assert schema.fields["in"].fields == {"x": Schema("int32")}


def schemas() -> st.SearchStrategy[Schema]:
    """Any schema of Connect that Avro has a counterpart for; structs have names of their own."""
    flat = st.sampled_from([s for s, _ in PAIRS[:9]] + [s for s, _ in PAIRS[11:16]])
    leaves = st.builds(lambda s, o: s.same_but(optional=o), flat, st.booleans())
    count = iter(range(10**9))

    def struct(fields: list[Schema], optional: bool) -> Schema:
        return Schema("struct", optional, f"a.R{next(count)}", fields={f"f{n}": field for n, field in enumerate(fields)})

    def nested(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
        return st.one_of(
            st.builds(lambda items, o: Schema("array", o, items=items), inner, st.booleans()),
            st.builds(lambda values, o: Schema("map", o, keys=Schema("string"), values=values), inner, st.booleans()),
            st.builds(struct, st.lists(inner, max_size=4), st.booleans()),
        )

    return st.recursive(leaves, nested, max_leaves=8)


@given(schemas())
def test_every_schema_is_read_back_as_it_was(schema: Schema) -> None:
    text = from_connect(schema, PLAIN)
    fastavro.parse_schema(json.loads(text))
    assert to_connect(text, PLAIN).schema == schema
    assert from_connect(to_connect(text, PLAIN).schema, PLAIN) == text
    writing_plan(schema, text, PLAIN)
