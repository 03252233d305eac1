"""JSON Schemas as Connect's, and back: what Confluent's JsonSchemaData makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from headrace.converters.schema_faults import require_sound
from headrace.errors import DataError
from headrace.json_schema.from_connect import from_connect
from headrace.json_schema.mapping import JsonSchemaOptions
from headrace.json_schema.to_connect import to_connect
from headrace.values.schema import DATE, DECIMAL, TIMESTAMP, Schema

PLAIN = JsonSchemaOptions()
NUMERIC = JsonSchemaOptions(numeric_decimals=True)
NULL = {"type": "null"}
DECIMAL_2 = Schema("bytes", name=DECIMAL, version=1, parameters={"scale": "2"})
PAIRS = [
    (Schema("int8"), {"type": "integer", "connect.type": "int8"}),
    (Schema("int64"), {"type": "integer", "connect.type": "int64"}),
    (Schema("float32"), {"type": "number", "connect.type": "float32"}),
    (Schema("boolean"), {"type": "boolean"}),
    (Schema("string"), {"type": "string"}),
    (Schema("bytes"), {"type": "string", "connect.type": "bytes"}),
    (Schema("string", optional=True), {"oneOf": [NULL, {"type": "string"}]}),
    (Schema("int32", doc="d", version=3, name="n", default=7, parameters={"a": "b"}),
     {"type": "integer", "title": "n", "description": "d", "default": 7, "connect.version": 3, "connect.type": "int32",
      "connect.parameters": {"a": "b"}}),
    (DECIMAL_2, {"type": "string", "title": DECIMAL, "connect.version": 1, "connect.type": "bytes",
                 "connect.parameters": {"scale": "2"}}),
    (Schema("int32", name=DATE, version=1), {"type": "integer", "title": DATE, "connect.version": 1, "connect.type": "int32"}),
    (Schema("array", items=Schema("string")), {"type": "array", "items": {"type": "string"}}),
    (Schema("map", keys=Schema("string"), values=Schema("boolean")),
     {"type": "object", "connect.type": "map", "additionalProperties": {"type": "boolean"}}),
    (Schema("map", keys=Schema("int32"), values=Schema("string", optional=True)),
     {"type": "array", "connect.type": "map", "items": {"type": "object", "properties": {
         "value": {"connect.index": 1, "oneOf": [NULL, {"type": "string"}]},
         "key": {"type": "integer", "connect.index": 0, "connect.type": "int32"}}}}),
    (Schema("struct", name="Order", fields={"id": Schema("int64"), "note": Schema("string", optional=True)}),
     {"type": "object", "title": "Order", "properties": {
         "note": {"connect.index": 1, "oneOf": [NULL, {"type": "string"}]},
         "id": {"type": "integer", "connect.index": 0, "connect.type": "int64"}}}),
    (Schema("struct", optional=True, name="R", fields={"a": Schema("string")}),
     {"oneOf": [NULL, {"type": "object", "title": "R", "properties": {"a": {"type": "string", "connect.index": 0}}}]}),
    (Schema("struct", name="io.confluent.connect.json.OneOf", fields={
        "io.confluent.connect.json.OneOf.field.0": Schema("string", optional=True),
        "io.confluent.connect.json.OneOf.field.1": Schema("int64", optional=True)}),
     {"oneOf": [{"type": "string", "connect.index": 0}, {"type": "integer", "connect.index": 1, "connect.type": "int64"}]}),
]  # fmt: skip


def written(schema: Schema, options: JsonSchemaOptions = PLAIN) -> Any:
    return json.loads(from_connect(schema, options))


def connect(node: Any, options: JsonSchemaOptions = PLAIN, references: Any = None) -> Schema:
    return to_connect(json.dumps(node), options, references={name: json.dumps(n) for name, n in (references or {}).items()})


@pytest.mark.parametrize(("schema", "node"), PAIRS)
def test_a_schema_is_written_as_confluent_does_and_read_back(schema: Schema, node: Any) -> None:
    assert written(schema) == node
    assert connect(node) == schema


def test_members_stand_in_the_order_in_which_java_writes_them() -> None:
    schema = Schema("struct", name="R", doc="d", fields={"first": Schema("string"), "id": DECIMAL_2, "zeta": Schema("int32")})
    assert from_connect(schema, JsonSchemaOptions(additional_properties=False)) == (
        '{"type":"object","additionalProperties":false,"title":"R","description":"d","properties":{'
        + ",".join(f'"{name}":{text}' for name, text in ORDERED) + "}}"
    )  # fmt: skip


ORDERED = [
    ("zeta", '{"type":"integer","connect.index":2,"connect.type":"int32"}'),
    ("id", '{"type":"string","title":"org.apache.kafka.connect.data.Decimal","connect.version":1,"connect.index":1,'
           '"connect.type":"bytes","connect.parameters":{"scale":"2"}}'),
    ("first", '{"type":"string","connect.index":0}'),
]  # fmt: skip


def test_decimals_are_numbers_if_that_is_asked_for() -> None:
    assert written(DECIMAL_2, NUMERIC)["type"] == "number"
    assert connect(written(DECIMAL_2, NUMERIC)) == DECIMAL_2
    default = DECIMAL_2.same_but(default="BNI=")  # 12.34
    assert written(default, NUMERIC)["default"] == 12.34
    assert connect(written(default, NUMERIC)) == default


def test_the_default_of_an_integer_may_have_a_decimal_point() -> None:
    schema = connect({"type": "integer", "default": 1.0})
    assert repr(schema.default) == "1"
    require_sound(schema)


def test_schemas_that_others_wrote_are_read() -> None:
    node = {
        "$schema": "http://json-schema.org/draft-07/schema#", "title": "Order", "description": "An order", "type": "object",
        "properties": {
            "id": {"type": "integer"}, "price": {"type": "number"}, "state": {"type": "string", "enum": ["NEW", "DONE"]},
            "size": {"enum": ["S", "L", None]}, "kind": {"const": "order", "type": "string"},
            "note": {"type": ["string", "null"]}, "who": {"$ref": "#/definitions/Person"}, "to": {"$ref": "other.json"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "both": {"allOf": [{"$ref": "#/definitions/Person"}, {"properties": {"age": {"type": "integer"}}}]},
            "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]}, "level": {"type": "integer", "enum": [1, 2]},
        },
        "required": ["id"], "definitions": {"Person": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }  # fmt: skip
    other = {"title": "Other", "type": "object", "properties": {"x": {"type": "boolean"}}}
    schema = connect(node, references={"other.json": other})
    fields = schema.fields
    person = Schema("struct", fields={"name": Schema("string")})
    assert (schema.name, schema.doc, fields["id"], fields["price"]) == ("Order", "An order", Schema("int64"), Schema("float64"))
    assert fields["who"] == person
    assert fields["to"] == Schema("struct", name="Other", fields={"x": Schema("boolean")})
    assert (fields["note"], fields["kind"], fields["level"]) == (
        Schema("string", optional=True),
        Schema("string"),
        Schema("int64"),
    )
    enum = "io.confluent.connect.json.Enum"
    assert fields["size"].parameters == {enum: "", f"{enum}.S": "S", f"{enum}.L": "L", f"{enum}.<NULL>": "<NULL>"}
    both = connect({"enum": ["z", "null", None]})
    assert written(both) == {"enum": [None, "null", "z"]} and connect(written(both)).parameters == both.parameters
    assert fields["state"].parameters == {enum: "", f"{enum}.NEW": "NEW", f"{enum}.DONE": "DONE"}
    assert list(fields["both"].fields) == ["name", "age"]
    assert [field.type for field in fields["either"].fields.values()] == ["string", "int64"]
    optional = connect(node, JsonSchemaOptions(optional_for_nonrequired=True), {"other.json": {"type": "string"}})
    assert (optional.fields["id"].optional, optional.fields["price"].optional) == (False, True)


@pytest.mark.parametrize("indexes", [
    {"id": 0, "note": 1, "c": None}, {"a": None, "b": 0}, {"a": 0, "b": 0}, {"a": 3, "b": None, "c": None, "d": 1},
])  # fmt: skip
def test_properties_that_get_one_index_are_all_read(indexes: dict[str, int | None]) -> None:
    nodes = {name: {"type": "string"} | ({} if i is None else {"connect.index": i}) for name, i in indexes.items()}
    names = list(connect({"type": "object", "properties": nodes}).fields)
    assert sorted(names) == sorted(indexes)
    placed = {name: i for name, i in indexes.items() if i is not None}
    assert [name for name in names if name in placed] == sorted(placed, key=lambda name: placed[name])


def test_a_union_has_its_own_description_version_parameters_and_default() -> None:
    facts = {"title": "U", "description": "d", "connect.version": 3, "connect.parameters": {"a": "b"}, "default": 5}
    either = connect({"oneOf": [{"type": "string"}, {"type": "integer"}], **facts})
    field = "io.confluent.connect.json.OneOf.field."
    assert (either.name, either.doc, either.version) == ("io.confluent.connect.json.OneOf", "d", 3)
    assert (either.parameters, either.default) == ({"a": "b"}, {f"{field}0": None, f"{field}1": 5})
    require_sound(either)
    types = connect({"type": ["string", "integer", "null"], "description": "d", "default": "x"})
    assert (types.doc, types.optional, types.default) == ("d", True, {f"{field}0": "x", f"{field}1": None})
    assert connect({"oneOf": [{"type": "string"}, {"type": "integer"}], "default": {"x": 1}}).default is None


@pytest.mark.parametrize(("node", "why"), [
    ({"$ref": "#/definitions/None"}, "refers to #/definitions/None, which it does not have"),
    ({"$ref": "other.json"}, r"refers to other\.json, which is not among its references"),
    ({"type": "array", "items": {"type": "object", "properties": {"a": {"$ref": "#/properties/x"}}}},
     "of type ARRAY: only objects may"),
    ({"$ref": "#"}, "contains itself .* and nothing else"),
    ({"type": "array"}, "did not specify the items type"),
    ({}, "it has no type"),
    (True, "Connect has no type for any data"),
    ({"type": "integer", "connect.type": "int7"}, "Unsupported type int7"),
    ({"type": "null"}, "Unsupported JSON Schema type null"),
    ({"type": "string", "connect.index": True}, "The connect.index of the property x is true, no integer"),
])  # fmt: skip
def test_what_cannot_be_is_said_in_a_sentence(node: Any, why: str) -> None:
    with pytest.raises(DataError, match=why):
        connect({"type": "object", "properties": {"x": node}} if node != {"$ref": "#"} else node)


def test_the_version_of_the_registry_counts_where_the_schema_has_none() -> None:
    assert to_connect('{"type":"string"}', PLAIN, 4).version == 4
    assert to_connect('{"type":"string","connect.version":2}', PLAIN, 4).version == 2


def schemas() -> st.SearchStrategy[Schema]:
    """Any schema of Connect that JSON Schema has a counterpart for."""
    flat = st.sampled_from([s for s, _ in PAIRS[:10] if not s.optional] + [Schema("int64", name=TIMESTAMP, version=1)])
    leaves = st.builds(lambda s, o: s.same_but(optional=o), flat, st.booleans())

    def struct(fields: list[Schema], optional: bool) -> Schema:
        return Schema("struct", optional, "R", fields={f"field{n * n}": field for n, field in enumerate(fields)})

    def nested(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
        keys = st.sampled_from([Schema("string"), Schema("int32"), Schema("string", optional=True)])
        return st.one_of(
            st.builds(lambda items, o: Schema("array", o, items=items), inner, st.booleans()),
            st.builds(lambda k, values, o: Schema("map", o, keys=k, values=values), keys, inner, st.booleans()),
            st.builds(struct, st.lists(inner, min_size=1, max_size=20), st.booleans()),
        )

    return st.recursive(leaves, nested, max_leaves=8)


@given(schemas())
def test_every_schema_is_read_back_as_it_was(schema: Schema) -> None:
    text = from_connect(schema, PLAIN)
    Draft7Validator.check_schema(json.loads(text))
    assert to_connect(text, PLAIN) == schema
    assert from_connect(to_connect(text, PLAIN), PLAIN) == text
