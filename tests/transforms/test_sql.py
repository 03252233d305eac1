import pytest

from headrace.errors import ConfigError
from headrace.transforms.sql import Sql
from tests.transforms.one_record import after, envelope, sql

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
DATE = {"type": "int32", "name": "org.apache.kafka.connect.data.Date", "version": 1}
DECIMAL = {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "version": 1, "parameters": {"scale": "2"}}
TIMESTAMP = {"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp", "version": 1}


def message(result):
    return result["error"]["message"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("value", {"a": 1, "b": "x", "c": None, "l": [1, {"z": 2.5}]}),
        ("value:a", 1),
        ("value:l[1].z::double * 2", 5.0),
        ("value:c", None),
        ("value:absent", None),
        ("upper(value:b::string)", "X"),
        ("array(1, 2)", [1, 2]),
        ("map('k', value:a)", {"k": 1}),
        ("named_struct('x', value:l, 'y', 1.5, 'z', 12345678901234567890 + 1, 'n', null)",
         {"x": [1, {"z": 2.5}], "y": 1.5, "z": 12345678901234567891, "n": None}),
        ("named_struct('t', timestamp, 'd', date(timestamp))", {"t": "2023-11-14T22:13:20.000Z", "d": "2023-11-14"}),
        ("value:a = 1", None),
        ("value:a::int = 1", True),
        ("concat(topic, '/', partition, '/', offset, '/', key)", "orders/1/7/k"),
    ],
)  # fmt: skip
def test_an_expression_gives_the_value(spark, expression, expected):
    value = {"a": 1, "b": "x", "c": None, "l": [1, {"z": 2.5}]}
    if expression == "value:a = 1":
        with pytest.raises(ConfigError, match="DATATYPE_MISMATCH"):
            after(sql(value=expression), value, key="k")
        return
    assert after(sql(value=expression), value, key="k")["value"] == expected


def test_one_field_is_set_and_the_others_stay_as_they_were_written(spark):
    result = after(sql(value__total="value:a::int * 2", value__n__m="topic"), '{"a": 1, "f": 1.0, "n": {"k": 1}}')
    assert result["value"] == {"a": 1, "f": 1.0, "n": {"k": 1, "m": "orders"}, "total": 2}


def test_all_expressions_see_the_record_as_it_came(spark):
    result = after(sql(value__a="value:b", value__b="value:a", topic="concat(topic, value:a::string)"), {"a": 1, "b": 2})
    assert (result["value"], result["topic"]) == ({"a": 2, "b": 1}, "orders1")


def test_names_of_fields_may_have_dots_and_absent_parents_are_made_but_null_stays_null(spark):
    props = {**sql(value__p__q="1", value__z__q="2"), "transforms.x.value.`a.b`": "3"}
    assert after(props, {"z": None})["value"] == {"z": None, "p": {"q": 1}, "a.b": 3}


def test_fields_of_a_tombstone_are_not_set(spark):
    assert after(sql(value__a="1"), None)["value"] is None


def test_fields_of_what_is_no_map_fail_the_record(spark):
    assert message(after(sql(value__a="1"), "[1]")) == (
        "Only Map objects supported in absence of schema for [SQL expression], found: java.util.ArrayList"
    )
    assert "found: java.lang.Long" in message(after(sql(value__a__b="1"), {"a": 5}))


def test_key_topic_partition_timestamp_and_headers_are_set(spark):
    result = after(
        sql(key="upper(key)", topic="concat(topic, '-x')", partition="offset % 4", timestamp="timestamp + interval 1 second",
            headers="concat(headers, array(named_struct('key', 'n', 'value', key)))"),
        {"a": 1}, key="k", headers=[["h", "v"]],
    )  # fmt: skip
    assert result["key"] == b"K"
    assert (result["topic"], result["partition"], result["timestamp"]) == ("orders-x", 3, 1_700_000_001_000)
    assert result["headers"] == [["h", b"v"], ["n", b"k"]]
    assert result["value"] == {"a": 1}


def test_a_timestamp_may_be_milliseconds_and_headers_a_map(spark):
    result = after(sql(timestamp="5", headers="map('a', 'b', 'c', null)"), {})
    assert (result["timestamp"], result["headers"]) == (5, [["a", b"b"], ["c", None]])


@pytest.mark.parametrize("expression", ["value:a::int", "value:a::int + value:a::int", "assert_true(false)"])
def test_an_expression_that_fails_fails_its_record_only(spark, expression):
    result = after(sql(value__b=expression, value__c="value:a::int"), {"a": "x"})
    assert result["error"]["at"] == "transform:x"
    assert result["error"]["class"] == "org.apache.kafka.connect.errors.DataException"
    assert message(result) == f"The expression {expression} of 'transforms.x.value.b' failed"


@pytest.mark.parametrize(
    ("props", "sentence"),
    [
        (sql(topic="value:a::string"), "The expression of 'topic' gives no topic"),
        (sql(partition="-1"), "The expression of 'partition' gives a negative number"),
        (sql(headers="array(named_struct('k', cast(null as string), 'v', 'x'))"),
         "The expression of 'headers' gives one without a name"),
        (sql(partition="12345678901L"), "The expression 12345678901L of 'transforms.x.partition' failed"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_part_fails_the_record(spark, props, sentence):
    assert message(after(props, {"b": 1})) == sentence


@pytest.mark.parametrize(
    ("props", "sentence"),
    [
        (sql(value="a +"), r"Invalid value a \+ for configuration transforms.x.value: \[PARSE_SYNTAX_ERROR\] Syntax error"),
        (sql(value="nope"), r"for configuration transforms.x.value: \[UNRESOLVED_COLUMN.WITH_SUGGESTION\] .*`nope`"),
        (sql(value="h1"), "`h1`"),
        (sql(value="in_topic"), "`in_topic`"),
        (sql(value="count(*)"), "It has to be about one record"),
        (sql(value="explode(array(1))"), "It has to be about one record"),
        (sql(value="row_number() over (order by topic)"), "It has to be about one record"),
        (sql(value="(select 1)"), "It has to be about one record"),
        (sql(value="reflect('java.lang.System', 'exit', 1)"), "Calls of Java methods are not allowed"),
        (sql(topic="value:a"), "configuration transforms.x.topic: It gives VARIANT, not STRING; cast it"),
        (sql(timestamp="'x'"), "It gives STRING, not TIMESTAMP, DATE or an integer"),
        (sql(headers="array(1)"), "It gives ARRAY<INT>, not an ARRAY of STRUCTs"),
        (sql(value="interval 1 day"), "It gives INTERVAL DAY, which has no counterpart in Connect"),
    ],
)  # fmt: skip
def test_an_expression_that_spark_does_not_accept_is_an_error_of_its_option(spark, props, sentence):
    with pytest.raises(ConfigError, match=sentence):
        after(props, {"a": 1})


@pytest.mark.parametrize(
    ("props", "sentence"),
    [
        ({}, "No expression configured"),
        ({"value": ""}, "String must be non-empty"),
        ({"value.a": " "}, "Invalid value   for configuration value.a: String must be non-empty"),
        ({"value": "1", "value.a": "2"}, "It excludes value.a"),
        ({"value.": "2"}, "The path has an empty step"),
        ({"value.a..b": "2"}, "The path has an empty step"),
    ],
)
def test_at_least_one_expression_is_needed_and_fields_exclude_the_whole(props, sentence):
    with pytest.raises(ConfigError, match=sentence):
        Sql(props)


def test_only_one_that_sets_the_topic_routes():
    assert (Sql({"value": "1"}).routes, Sql({"topic": "'t'"}).routes) == ("no", "by record")


FIELDS = {"a": "int32", "d": DECIMAL, "dt": DATE, "ts": TIMESTAMP, "by": "bytes",
          "li": {"type": "array", "items": {"type": "int32", "optional": True}},
          "in": {"type": "struct", "fields": [{"field": "z", "type": "double", "optional": True}]}}  # fmt: skip
PAYLOAD = {"a": 1, "d": "ZA==", "dt": 3, "ts": 1_700_000_000_123, "by": "AAE=", "li": [1, None], "in": {"z": 1.5}}


def test_a_struct_goes_through_an_expression_with_its_types(spark):
    result = after(sql(value="value"), envelope(PAYLOAD, **FIELDS), schemas=True)["value"]
    assert result["payload"] == PAYLOAD
    kinds = {f["field"]: f.get("name", f["type"]) for f in result["schema"]["fields"]}
    assert kinds == {n: k if isinstance(k, str) else k.get("name", k["type"]) for n, k in FIELDS.items()}


def test_fields_of_a_struct_have_the_types_that_spark_gives_them(spark):
    result = after(sql(value__a="value.a + 1L", value__in__y="value.dt", value__s="array(value.ts)"), envelope(PAYLOAD, **FIELDS),
                  schemas=True)["value"]  # fmt: skip
    assert result["payload"] == {**PAYLOAD, "a": 2, "in": {"z": 1.5, "y": 3}, "s": [1_700_000_000_123]}
    assert result["schema"]["fields"][0] == {"field": "a", "type": "int64", "optional": True}


def test_what_is_no_struct_loses_the_schema(spark):
    result = after(sql(value="value.d * 2"), envelope(PAYLOAD, **FIELDS), schemas=True)["value"]
    assert result == {"schema": None, "payload": 2.0}


def test_variant_cannot_be_a_field_of_a_struct(spark):
    with pytest.raises(ConfigError, match="It gives VARIANT"):
        after(sql(value__x="parse_json('1')"), envelope({"a": 1}, a="int32"), schemas=True)


def test_a_null_struct_stays_null(spark):
    result = after(sql(value__a="1"), envelope(None, a="int32"), schemas=True)["value"]
    assert result["payload"] is None


def test_text_and_bytes_are_string_and_binary(spark):
    props = {**sql(key="concat(key, '!')", value="value || X'0041'"), "value.converter": BYTES}
    assert (after(props, "v", key="k")["key"], after(props, "v")["value"]) == (b"k!", b"v\0A")
    assert after(props, None)["value"] is None


def test_of_members_with_one_name_the_last_one_counts(spark):
    assert after(sql(value__t="value:b"), '{"a":1,"b":2,"b":3}')["value"]["t"] == 3


def test_a_field_name_may_be_anything(spark):
    name = "it's `\"${x}\\ 😀"
    props = {"transforms": "x", "transforms.x.type": "headrace.transforms.Sql", f"transforms.x.value.{name}": "'y'"}
    assert after(props, {})["value"] == {name: "y"}
