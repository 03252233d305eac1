"""Connect's schemas as JSON."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.errors import DataError
from headrace.values.schema import (
    DATE,
    DECIMAL,
    TIME,
    TIMESTAMP,
    Schema,
    SchemaBuilderError,
    add_field,
    json_of,
    nearest_float32,
)
from headrace.values.schema_parsing import parse
from headrace.values.writing import json_default, with_numbers

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INTEGERS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def default_of(kind):
    if kind in INTEGERS:
        return st.integers(-(2 ** (INTEGERS[kind] - 1)), 2 ** (INTEGERS[kind] - 1) - 1)
    return {
        "float32": st.floats(width=32, allow_nan=False, allow_infinity=False).map(nearest_float32),
        "float64": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "string": TEXT,
        "bytes": st.just("AAE="),
    }[kind]


ATTRIBUTES = {
    "optional": st.booleans(),
    "name": st.none() | TEXT,
    "version": st.none() | st.integers(1, 2**31 - 1),
    "doc": st.none() | TEXT,
    "parameters": st.none() | st.dictionaries(TEXT, TEXT, min_size=1, max_size=3),
}
PRIMITIVE = st.sampled_from([*INTEGERS, "float32", "float64", "boolean", "string", "bytes"]).flatmap(
    lambda kind: st.builds(Schema, st.just(kind), default=st.none() | default_of(kind), **ATTRIBUTES)
)
LOGICAL = st.sampled_from([(DECIMAL, "bytes"), (DATE, "int32"), (TIME, "int32"), (TIMESTAMP, "int64")]).map(
    lambda pair: Schema(pair[1], name=pair[0], version=1, parameters={"scale": "2"} if pair[0] == DECIMAL else None)
)
SCHEMAS = st.recursive(
    PRIMITIVE | LOGICAL,
    lambda inner: (
        st.builds(Schema, st.just("array"), items=inner, **ATTRIBUTES)
        | st.builds(Schema, st.just("map"), keys=inner, values=inner, **ATTRIBUTES)
        | st.builds(Schema, st.just("struct"), fields=st.dictionaries(TEXT.filter(bool), inner, max_size=4), **ATTRIBUTES)
    ),
    max_leaves=6,
)


@given(SCHEMAS)
def test_a_schema_that_is_written_and_read_is_the_same(schema):
    assert parse(schema.text()) == schema


@given(SCHEMAS, TEXT.filter(bool))
def test_a_struct_keeps_its_fields_in_order(schema, name):
    fields = {name: schema, name + "2": schema, name[::-1] + "1": schema}
    parsed = parse(Schema("struct", fields=fields).text())
    assert parsed is not None
    assert list(parsed.fields.items()) == list(fields.items())


@given(SCHEMAS)
def test_the_json_of_a_schema_is_the_json_of_its_text(schema):
    assert json.loads(schema.text("f")) == schema.json("f")
    assert schema.json("f")["field"] == "f"


def test_null_is_no_schema():
    assert parse("null") is None


ARRAY_OF_STRUCTS = (
    '{"type":"array","items":{"type":"struct","fields":[{"field":"a","type":"int8"},{"field":"b","type":"string","optional":true}]},'
    '"default":%s}'
)
MAP = '{"type":"map","keys":{"type":%s},"values":{"type":"int8"},"default":%%s}'


@pytest.mark.parametrize(("text", "message"), [
    ("{}", "Schema must contain 'type' field"),
    ("5", "Schema must contain 'type' field"),
    ("[]", "Schema must contain 'type' field"),
    ('{"type":7}', "Schema must contain 'type' field"),
    ('{"type":"int128"}', "Unknown schema type: int128"),
    ('{"type":"INT32"}', "Unknown schema type: INT32"),
    ('{"type":"float32"}', "Unknown schema type: float32"),
    ('{"type":"array"}', "Array schema did not specify the element type"),
    ('{"type":"array","items":null}', "Array schema did not specify the element type"),
    ('{"type":"map","values":{"type":"string"}}', "Map schema did not specify the key type"),
    ('{"type":"map","keys":{"type":"string"}}', "Map schema did not specify the value type"),
    ('{"type":"struct"}', 'Struct schema\'s "fields" argument is not an array.'),
    ('{"type":"struct","fields":{}}', 'Struct schema\'s "fields" argument is not an array.'),
    ('{"type":"struct","fields":[{"type":"int32"}]}', "Struct schema's field name not specified properly"),
    ('{"type":"struct","fields":[null]}', "Struct schema's field name not specified properly"),
    ('{"type":"struct","fields":[{"type":"x","field":"a"}]}', "Unknown schema type: x"),
    ('{"type":"int32","parameters":{"a":1}}', "Schema parameters must have string values."),
    ('{"type":"int32","default":null}', "Invalid null value for required INT32 field"),
    ('{"type":"array","items":{"type":"int32"},"default":[null]}', "Invalid null value for required INT32 field"),
    ('{"type":"bytes","default":"$"}', "Invalid bytes field"),
    (f'{{"type":"int32","name":"{DATE}","default":"x"}}',
     "Invalid type for Date, underlying representation should be integer but was STRING"),
    (f'{{"type":"int64","name":"{DATE}","default":3000000000}}',
     "Invalid type for Date, underlying representation should be integer but was NUMBER"),
    (f'{{"type":"int32","name":"{TIME}","default":-5}}',
     "Time values must use number of milliseconds greater than 0 and less than 86400000"),
    (f'{{"type":"bytes","name":"{DECIMAL}","parameters":{{"scale":"x"}},"default":"MDk="}}', "Invalid bytes for Decimal field"),
    (ARRAY_OF_STRUCTS % "[{}]", "Invalid null value for required INT8 field"),
    (ARRAY_OF_STRUCTS % "[null]", "Invalid null value for required STRUCT field"),
    (ARRAY_OF_STRUCTS % "[5]", "Structs should be encoded as JSON objects, but found NUMBER"),
    ('{"type":"array","items":{"type":"struct","fields":[{"field":"a","type":"string"}]},"default":[{"a":5}]}',
     'Invalid value: null used for required field: "a", schema type: STRING'),
    (MAP % '"string"' % "[]", "Maps with string fields should be encoded as JSON objects, but found ARRAY"),
    (MAP % '"int32"' % "{}", "Maps with non-string fields should be encoded as JSON array of tuples, but found OBJECT"),
    (MAP % '"int32"' % "[1]", "Found invalid map entry instead of array tuple: NUMBER"),
    (MAP % '"int32"' % "[[1]]", "Found invalid map entry, expected length 2 but found :1"),
    (MAP % '"int32"' % "[[1,null]]", "Invalid null value for required INT8 field"),
])  # fmt: skip
def test_what_is_no_schema_is_refused_in_the_words_of_kafka(text, message):
    with pytest.raises(DataError) as e:
        parse(text)
    assert str(e.value) == message


@pytest.mark.parametrize("text", [
    '{"type":"struct","fields":[{"type":"int32","field":"a"},{"type":"int32","field":"a"}]}',
    '{"type":"struct","fields":[{"type":"int32","field":""}]}',
    '{"type":"struct","fields":[],"default":{}}',
    '{"type":"string","default":5}',
    '{"type":"map","keys":null,"values":{"type":"int32"}}',
    '{"type":"map","keys":{"type":"int32"},"values":null}',
])  # fmt: skip
def test_what_cannot_be_built_is_refused(text):
    with pytest.raises(SchemaBuilderError):
        parse(text)


def test_attributes_of_another_type_are_left_out():
    assert parse('{"type":"int32","optional":"true","name":5,"version":"1","doc":[],"parameters":"x"}') == Schema("int32")
    assert parse('{"type":"int32","version":true}') == Schema("int32")
    assert parse('{"type":"int32","version":3000000000}') == Schema("int32", version=-1294967296)


DECIMAL_OF_2 = f'{{"type":"bytes","name":"{DECIMAL}","parameters":{{"scale":"2"}},"default":%s}}'


@pytest.mark.parametrize(("text", "default"), [
    ('{"type":"int8","default":300}', 44),
    ('{"type":"int8","default":"x"}', 0),
    ('{"type":"int64","default":9223372036854775808}', -(2**63)),
    ('{"type":"double","default":"x"}', 0.0),
    ('{"type":"boolean","default":1}', False),
    ('{"type":"int32","optional":true,"default":null}', None),
    ('{"type":"string","optional":true,"default":5}', None),
    ('{"type":"array","items":{"type":"int32"},"default":[1,300.5]}', [1, 300]),
    ('{"type":"array","items":{"type":"int32"},"default":5}', []),
    ('{"type":"map","keys":{"type":"string"},"values":{"type":"int8"},"default":{"a":300}}', {"a": 44}),
    ('{"type":"float","default":3.14159265358979}', 3.1415927),
    ('{"type":"float","default":3.14159265}', 3.1415927),
    ('{"type":"float","default":16777217}', 16777216.0),
    ('{"type":"float","default":1.4E-45}', 1.4e-45),
    ('{"type":"float","default":1.000000059604644775390626}', 1.0000001),
    ('{"type":"float","default":1.000000059604644775390625}', 1.0),
    ('{"type":"float","default":848388635190362111}', 8.483886e+17),
    ('{"type":"float","default":3.4028235677973366e38}', 3.4028235e38),
    ('{"type":"float","default":7.006492321624086e-46}', 1.4e-45),
    ('{"type":"float","default":7.0e-46}', 0.0),
    ('{"type":"float","default":1.17549435E-38}', 1.17549435e-38),
    ('{"type":"int64","default":9007199254740993.0}', 9007199254740993),
    (f'{{"type":"int64","default":{7 * 10**410 + 5}.5}}', 5),
    ('{"type":"array","items":{"type":"struct","fields":[]},"default":[{"a":[1.5]}]}', [{}]),
    (ARRAY_OF_STRUCTS % '[{"x":1,"a":300.5}]', [{"a": 44, "b": None}]),
    (ARRAY_OF_STRUCTS % '[{"a":1,"b":"c"}]', [{"a": 1, "b": "c"}]),
    ('{"type":"array","items":{"type":"string","optional":true,"default":"d"},"default":[5,"x",null]}', ["d", "x", "d"]),
    ('{"type":"bytes","default":" AAEC\\tAA==\\n"}', "AAECAA=="),
    ('{"type":"bytes","default":" "}', ""),
    (MAP % '"double"' % "[[1,2]]", [[1.0, 2]]),
    (MAP % '"int32"' % "[[33,300],[2,2],[16,3],[1,4]]", [[16, 3], [33, 44], [1, 4], [2, 2]]),
    (MAP % '"int64"' % "[[4294967296,1],[-1,2],[0,3]]", [[-1, 2], [0, 3], [4294967296, 1]]),
    (MAP % '"boolean"' % "[[true,1],[false,2]]", [[False, 2], [True, 1]]),
    (MAP % '"float"' % "[[1.5,1],[-1e39,2]]", [[1.5, 1], [float("-inf"), 2]]),
    (DECIMAL_OF_2 % "1.50", "AJY="),
    (DECIMAL_OF_2 % "-1.28", "gA=="),
    (DECIMAL_OF_2 % "0.00", "AA=="),
    (DECIMAL_OF_2 % "12345678901234567890123456789012345.67", "AO3E5X5mnrUtOo5ufJ9Lhw=="),
    (DECIMAL_OF_2 % "1.5", 1.5),
    (DECIMAL_OF_2 % "3", 3),
    (f'{{"type":"int32","name":"{TIMESTAMP}","default":1700000000123}}', 1700000000123),
    (f'{{"type":"int64","name":"{TIMESTAMP}","default":12345678901234567890}}', -6101065172474983726),
])  # fmt: skip
def test_a_default_becomes_what_jackson_makes_of_it(text, default):
    schema = parse(text)
    assert schema is not None and schema.default == default and type(schema.default) is type(default)


def test_the_default_of_a_decimal_is_a_number_with_all_its_digits():
    schema = Schema("bytes", name=DECIMAL, default="ESIQ9H3pgRU=", parameters={"scale": "2"})
    assert with_numbers(schema).text().endswith('"default":12345678901234567.89,"parameters":{"scale":"2"}}')


@pytest.mark.parametrize(("text", "written"), [
    ('{"type":"double","default":1e400}', '"Infinity"'),
    ('{"type":"float","default":-1e39}', '"-Infinity"'),
    ('{"type":"array","items":{"type":"double"},"default":[1.5,-1e400]}', '[1.5,"-Infinity"]'),
])  # fmt: skip
def test_a_default_that_json_has_no_number_for_is_a_text(text, written):
    schema = parse(text)
    assert schema is not None and f'"default":{written}' in schema.text() and json_default(schema) == written
    assert json_of({"nan": float("nan"), "digits": Decimal("1.50")}) == '{"nan":"NaN","digits":1.50}'
    assert json_of(["\ufdd0", "\ufdd05"]) == '["\ufdd0","\ufdd05"]'


def test_a_copy_keeps_what_transformations_keep():
    schema = Schema("struct", True, "n", 1, "d", {"p": "q"}, fields={"a": Schema("int8")})
    assert schema.with_fields({}) == Schema("struct", False, "n", 1, "d", {"p": "q"})


def test_structs_with_fields_in_another_order_have_another_schema():
    a, b = Schema("int8"), Schema("string")
    assert Schema("array", items=Schema("struct", fields={"a": a, "b": b})) != Schema(
        "array", items=Schema("struct", fields={"b": b, "a": a})
    )
    assert Schema("struct", fields={"a": a, "b": b}).same_but(optional=True) == Schema("struct", True, fields={"a": a, "b": b})


def test_a_field_is_added_once():
    fields = {"a": Schema("int8")}
    with pytest.raises(SchemaBuilderError, match="duplication a"):
        add_field(fields, "a", Schema("string"))
    assert fields == {"a": Schema("int8")}


@pytest.mark.parametrize(("parameters", "scale", "problem"), [
    ({"scale": "+2"}, 2, None),
    ({"scale": "-2147483648"}, -(2**31), None),
    ({"scale": "x"}, 0, "Invalid scale parameter found in Decimal schema: "),
    ({"scale": "1_0"}, 0, "Invalid scale parameter found in Decimal schema: "),
    ({"scale": "2147483648"}, 0, "Invalid scale parameter found in Decimal schema: "),
    ({"precision": "5"}, 0, "Invalid Decimal schema: scale parameter not found."),
    (None, 0, "Invalid Decimal schema: scale parameter not found."),
])  # fmt: skip
def test_a_scale_is_what_java_reads_as_an_int(parameters, scale, problem):
    schema = Schema("bytes", name=DECIMAL, parameters=parameters)
    assert (schema.scale, schema.scale_problem) == (scale, problem)
