import pytest

from headrace.errors import ConfigError
from headrace.predicates.field_value_matches import FieldValueMatches
from tests.predicates.holds import holds
from tests.transforms.one_record import JSON, after, envelope

VALUE = {"s": "EU", "n": 5, "f": 1.5, "t": True, "z": None, "l": [1, {"a": 2}], "o": {"p": "x", "q.r": "y"}, "empty": ""}


def field(name, **asked):
    return {"p": {"type": "FieldValueMatches", "field": name, **asked}}


@pytest.mark.parametrize(
    ("name", "asked", "expected"),
    [
        ("s", {"equals": "EU"}, True),
        ("s", {"equals": "eu"}, False),
        ("n", {"equals": "5"}, True),
        ("f", {"equals": "1.5"}, True),
        ("t", {"equals": "true"}, True),
        ("z", {"equals": "null"}, False),
        ("absent", {"equals": ""}, False),
        ("empty", {"equals": ""}, True),
        ("l", {"equals": '[1,{"a":2}]'}, True),
        ("o.p", {"equals": "x"}, True),
        ("o.`q.r`", {"equals": "y"}, True),
        ("o.q.r", {"equals": "y"}, False),
        ("s.p", {"exists": "true"}, False),
        ("s", {"pattern": "E."}, True),
        ("s", {"pattern": "E"}, False),
        ("n", {"pattern": r"\d+"}, True),
        ("absent", {"pattern": ".*"}, False),
        ("s", {"exists": "true"}, True),
        ("z", {"exists": "true"}, False),
        ("z", {"exists": "false"}, True),
        ("o.absent", {"exists": "false"}, True),
    ],
)
def test_a_field_of_schemaless_data_is_compared(spark, name, asked, expected):
    assert holds(field(name, **asked), VALUE) is expected


@pytest.mark.parametrize("value", [None, "[1]", '"text"'])
def test_what_has_no_fields_does_not_hold(spark, value):
    assert holds(field("s", pattern=".*"), value) is False
    assert holds(field("s", exists="false"), value) is True


@pytest.mark.parametrize(
    ("name", "asked", "expected"),
    [
        ("a", {"equals": "1"}, True),
        ("a", {"exists": "true"}, True),
        ("b", {"exists": "true"}, False),
        ("b", {"pattern": ".*"}, False),
        ("in.z", {"equals": "1.5"}, True),
        ("absent", {"exists": "true"}, False),
    ],
)
def test_a_field_of_a_struct_is_compared(spark, name, asked, expected):
    inner = {"type": "struct", "fields": [{"field": "z", "type": "double", "optional": True}]}
    value = envelope({"a": 1, "b": None, "in": {"z": 1.5}}, a="int32", b="string", **{"in": inner})
    assert holds(field(name, **asked), value, schemas=True) is expected


def test_the_key_has_fields_too(spark):
    props = {"transforms": "f", "transforms.f.type": "Filter", "transforms.f.predicate": "p", "predicates": "p",
             "predicates.p.type": "FieldValueMatches", "predicates.p.field": "id", "predicates.p.part": "KEY",
             "predicates.p.equals": "1", "key.converter": JSON, "key.converter.schemas.enable": "false"}  # fmt: skip
    assert after(props, {}, key='{"id":1}') == {"filtered": True}


@pytest.mark.parametrize(
    ("props", "sentence"),
    [
        ({"field": "a"}, "Set one of equals, pattern and exists; given: none"),
        ({"field": "a", "equals": "1", "exists": "true"}, "given: equals, exists"),
        ({"field": "", "equals": "1"}, "String must be non-empty"),
        ({"field": "a", "pattern": "("}, "pattern"),
        ({"field": "a", "equals": "1", "part": "header"}, "String must be one of"),
        ({"field": "`a", "equals": "1"}, "Incomplete backtick pair"),
    ],
)
def test_what_is_asked_has_to_be_one_thing(props, sentence):
    with pytest.raises(ConfigError, match=sentence):
        FieldValueMatches(props)
