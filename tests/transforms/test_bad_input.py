"""Odd and broken records: the right result or the right error, and their neighbours unharmed."""

import json

import pytest

from tests.transforms.chains import DATA, JSON, STRING, Failed, Record, config, parsed, through, values

INSERT = {"type": "InsertField$Value", "static.field": "s", "static.value": "x"}
GOOD = b'{"good":1}'
GOOD_AFTER = {"good": 1, "s": "x"}
UNREADABLE = Failed("input.value", DATA)


def nested(levels, inner=b"1", opening=b'{"a":', closing=b"}"):
    return opening * levels + inner + closing * levels


BROKEN = {
    "no JSON": b"hello",
    "truncated object": b'{"a":1',
    "truncated text": b'{"a":"b',
    "truncated number": b'{"a":-',
    "truncated literal": b'{"a":tru}',
    "truncated escape": b'{"a":"\\u00',
    "single quotes": b"{'a':1}",
    "name without quotes": b"{a:1}",
    "trailing comma": b'{"a":1,}',
    "missing comma": b'{"a":1 "b":2}',
    "plus sign": b'{"a":+1}',
    "NaN": b'{"a":NaN}',
    "comment": b'{"a":1/*x*/}',
    "unescaped line break": b'{"a":"x\ny"}',
    "unescaped NUL": b'{"a":"x\0y"}',
    "NULs": b"\0\0\0\0",
    "invalid UTF-8 in a text": b'{"a":"\xff"}',
    "truncated UTF-8 in a text": b'{"a":"\xc3"}',
    "invalid UTF-8 in a name": b'{"\xfe":1}',
    "invalid UTF-8 in a nested text": b'{"a":{"b":["\x80"]}}',
    "a closing bracket of the other kind": b'{"a":[1}}',
    "2000 levels of objects": nested(2000),
    "2000 levels of arrays": b'{"a":' + nested(2000, opening=b"[", closing=b"]") + b"}",
    "100000 opening brackets": b"[" * 100_000,
}


@pytest.fixture(scope="module")
def broken(spark):
    """What becomes of each broken value, with a good one before and after it, all in one batch."""
    batch = [GOOD]
    for value in BROKEN.values():
        batch += [value, GOOD]
    outcomes = values(spark, config(INSERT), batch)
    return dict(zip(BROKEN, outcomes[1::2], strict=True)), outcomes[::2]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_value_fails_when_it_is_read(broken, name):
    assert broken[0][name] == UNREADABLE


def test_the_neighbours_of_broken_values_are_unharmed(broken):
    assert [parsed(value) for value in broken[1]] == [GOOD_AFTER] * (len(BROKEN) + 1)


def test_the_failure_names_the_cause(broken):
    failure = broken[0]["no JSON"]
    assert failure.message == "Converting byte[] to Kafka Connect data failed due to serialization error: "
    assert "Unrecognized token 'hello'" in failure.cause


BIG = json.dumps({"a": "x" * 5_000_000, "b": [1, 2, 3]}, separators=(",", ":")).encode()
ODD = {
    "no bytes": (None, None),
    "JSON null": (b"null", None),
    "white space around": (b' \r\n\t{"a" : 1 } \n', {"a": 1, "s": "x"}),
    "200 levels of objects": (nested(200), {**json.loads(nested(200)), "s": "x"}),
    "200 levels of arrays": (
        b'{"a":' + nested(200, opening=b"[", closing=b"]") + b"}",
        {"a": json.loads(nested(200, opening=b"[", closing=b"]")), "s": "x"},
    ),
    "5 MB": (BIG, {**json.loads(BIG), "s": "x"}),
    "an integer beyond int64": (b'{"a":9223372036854775808}', {"a": 2**63, "s": "x"}),
    "a number beyond float64": (b'{"a":1e400}', {"a": ("fraction", "1e400"), "s": "x"}),
    "many digits": (b'{"a":0.12345678901234567890123}', {"a": ("fraction", "0.12345678901234567890123"), "s": "x"}),
    "UTF-8 with BOM": (b'\xef\xbb\xbf{"a":"\xc3\xa9"}', {"a": "é", "s": "x"}),
    "UTF-16LE with BOM": ('\ufeff{"a":"é🙂"}'.encode("utf-16-le"), {"a": "é🙂", "s": "x"}),
    "UTF-16BE with BOM": ('\ufeff{"a":"é🙂"}'.encode("utf-16-be"), {"a": "é🙂", "s": "x"}),
    "UTF-16LE": ('{"a":"é🙂"}'.encode("utf-16-le"), {"a": "é🙂", "s": "x"}),
    "UTF-16BE": ('{"a":"é🙂"}'.encode("utf-16-be"), {"a": "é🙂", "s": "x"}),
    "UTF-32LE": ('{"a":"é🙂"}'.encode("utf-32-le"), {"a": "é🙂", "s": "x"}),
    "UTF-32BE": ('{"a":"é🙂"}'.encode("utf-32-be"), {"a": "é🙂", "s": "x"}),
    "the same name twice": (b'{"a":1,"a":2}', {"a": 2, "s": "x"}),
    "the inserted name twice": (b'{"s":1,"a":2,"s":3}', {"a": 2, "s": "x"}),
    "the inserted name, escaped": (b'{"\\u0073":1,"a":2}', {"a": 2, "s": "x"}),
    "an empty name": (b'{"":1}', {"": 1, "s": "x"}),
    "an empty object": (b"{}", {"s": "x"}),
    "an empty object with white space": (b"{ \n }", {"s": "x"}),
    "escapes": (b'{"a\\n\\"\\\\":"\\u0000\\u001f\\/\\ud83d\\ude42"}', {'a\n"\\': "\0\x1f/🙂", "s": "x"}),
    "brackets and commas in texts": (b'{"a":"},]{[,\\"}","b":",}"}', {"a": '},]{[,"}', "b": ",}", "s": "x"}),
    "text after the value": (b'{"a":1} garbage', {"a": 1, "s": "x"}),
    "a second value": (b'{"a":1}{"b":2}', {"a": 1, "s": "x"}),
}


@pytest.fixture(scope="module")
def odd(spark):
    return dict(zip(ODD, values(spark, config(INSERT), [given for given, _ in ODD.values()]), strict=True))


@pytest.mark.parametrize("name", ODD)
def test_an_odd_value_is_read_as_it_is(odd, name):
    result = odd[name]
    assert not isinstance(result, Failed), result
    assert parsed(result) == ODD[name][1]


@pytest.mark.parametrize("value", [b"5", b'"text"', b"[1]", b"true", b"1e400", b"9223372036854775808"])
def test_a_value_that_is_no_object_fails_where_fields_are_wanted(spark, value):
    assert values(spark, config(INSERT), [value, GOOD])[0] == Failed("transform:t0", DATA)


def test_empty_bytes_are_null(spark):
    assert values(spark, config(INSERT), [b""]) == [None]


@pytest.mark.parametrize("blank", [b"", b" \n"])
def test_an_envelope_without_a_payload_is_malformed_also_when_its_schema_is_known(spark, blank):
    envelope = b'{"schema":{"type":"int32","optional":true},"payload":%s}'
    props = config(value_converter_schemas_enable="true")
    assert values(spark, props, [envelope % b"5", envelope % blank])[1] == UNREADABLE


@pytest.mark.parametrize("schema", ['{"type":"int32","default":5}', '{"type":"array","items":{"type":"int32"},"optional":true}'])
def test_no_json_is_no_value_of_a_schema_of_the_configuration(spark, schema):
    """Connect makes 0, false and an empty list of it."""
    props = config(value_converter_schemas_enable="true", value_converter_schema_content=schema)
    assert values(spark, props, [b"", b" \n"]) == [UNREADABLE, UNREADABLE]


# Names of fields that mean something to SQL, to Spark, to JSON or to regular expressions; none that Kafka would trim.
NAMES = [
    "a.b", "a`b", "`a`", 'a"b', "a'b", "a\\b", "a b", "🙂", "é", "${x}", "$1", "a-b", "select", "*", "a\nb", "a\tb", "a\x01b",
    "\x7f", "\u2028", "a/b", "_c0", "%s", "{}", "h1", "r2.s", "k", "A", "ﬀ", "e\u0301", "\ufeff", "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("stage", ["insert", "cast", "mask", "replace", "header", "extract", "to key", "flatten", "hoist"])
def test_any_name_of_a_field_is_taken_as_it_stands(spark, stage):
    """One query per name would take minutes: each chain has a stage for every name."""
    given = {name: str(i) for i, name in enumerate(NAMES)}
    made = {
        "insert": [{"type": "InsertField$Value", "static.field": name, "static.value": "new"} for name in NAMES],
        "cast": [{"type": "Cast$Value", "spec": ",".join(f"{name}:int32" for name in NAMES)}],
        "mask": [{"type": "MaskField$Value", "fields": ",".join(NAMES), "replacement": "***"}],
        "replace": [{"type": "ReplaceField$Value", "renames": ",".join(f"{name}:new {name}" for name in NAMES)}],
        "header": [
            {"type": "HeaderFrom$Value", "fields": ",".join(NAMES), "headers": ",".join(NAMES), "operation": "move"},
        ],
        "extract": [{"type": "HoistField$Value", "field": name} for name in NAMES]
        + [{"type": "ExtractField$Value", "field": name} for name in reversed(NAMES)],
        "to key": [{"type": "ValueToKey", "fields": ",".join(NAMES)}],
        "flatten": [{"type": "HoistField$Value", "field": "o"}, {"type": "Flatten$Value"}],
        "hoist": [{"type": "HoistField$Value", "field": name} for name in NAMES[:5]],
    }[stage]
    (after,) = through(spark, config(*made), [Record(json.dumps(given).encode())])
    assert isinstance(after, Record), after
    value = parsed(after.value)
    if stage == "insert":
        assert value == dict.fromkeys(given, "new")
    elif stage == "cast":
        assert value == {name: int(text) for name, text in given.items()}
    elif stage == "mask":
        assert value == dict.fromkeys(given, "***")
    elif stage == "replace":
        assert value == {f"new {name}": text for name, text in given.items()}
    elif stage == "header":
        assert value == {}
        assert after.headers == tuple((name, given[name].encode()) for name in NAMES)
    elif stage == "extract":
        assert value == given
    elif stage == "to key":
        assert (value, parsed(after.key)) == (given, given)
    elif stage == "flatten":
        assert value == {f"o.{name}": v for name, v in given.items()}
    else:
        for name in reversed(NAMES[:5]):
            value = value[name]
        assert value == given


def test_any_name_of_a_field_is_taken_as_it_stands_in_a_schema(spark):
    fields = [{"type": "string", "optional": True, "field": name} for name in NAMES]
    payload = {name: str(i) for i, name in enumerate(NAMES)}
    envelope = {"schema": {"type": "struct", "fields": fields, "optional": False}, "payload": payload}
    props = config(INSERT, {"type": "MaskField$Value", "fields": "🙂,a`b,a.b"}, value_converter_schemas_enable="true")
    (after,) = through(spark, props, [Record(json.dumps(envelope).encode())])
    assert isinstance(after, Record), after
    value = parsed(after.value)
    assert value["payload"] == {**payload, "🙂": "", "a`b": "", "a.b": "", "s": "x"}
    assert [field["field"] for field in value["schema"]["fields"]] == [*NAMES, "s"]


TEXTS = [
    "\0",
    "a\0b",
    "🙂",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\x7f",
    "\x80",
    "'",
    '"',
    "\\",
    "\\'",
    "${x}",
    "\u2028",
    "a\r\nb",
    "\x1a",
    "",
]


def test_any_text_is_taken_as_it_stands(spark):
    chain = [
        {"type": "Cast$Value", "spec": "a:string"},
        {"type": "HeaderFrom$Value", "fields": "a", "headers": "h", "operation": "copy"},
        {"type": "ReplaceField$Value", "renames": "a:b"},
    ]
    outcomes = through(spark, config(*chain), [Record(json.dumps({"a": text}).encode()) for text in TEXTS])
    assert [parsed(after.value) for after in outcomes] == [{"b": text} for text in TEXTS]
    assert [after.headers[0][1].decode() for after in outcomes] == TEXTS


@pytest.mark.parametrize("text", TEXTS)
def test_a_setting_is_taken_as_it_stands(spark, text):
    (after,) = through(spark, config({**INSERT, "static.value": f"<{text}>"}), [Record(b"{}")])
    assert parsed(after.value) == {"s": f"<{text}>"}


HALF = rb'{"a":"x\ud83d","b":1}'


def test_half_a_surrogate_pair_that_nobody_looks_at_stays(spark):
    assert values(spark, config(INSERT), [HALF]) == [rb'{"a":"x\ud83d","b":1,"s":"x"}']


def test_half_a_surrogate_pair_never_becomes_another_text(spark):
    """Connect reads it and then cannot write it (DataException); here it cannot be read."""
    (result,) = values(spark, config({"type": "Cast$Value", "spec": "a:string"}), [HALF])
    assert isinstance(result, Failed) and result.java_class == DATA


WEIRD = {
    "an exponent of ten digits": b'{"a":{"b":1e1000000000},"good":1}',
    "a list with such a number": b'{"a":[1e1000000000],"good":1}',
    "an integer of 1500 digits": b'{"a":{"b":' + b"9" * 1500 + b'},"good":1}',
    "a number beyond float64": b'{"a":{"b":1e400},"good":1}',
    "900 levels": b'{"a":' + nested(900) + b',"good":1}',
    "no object": b'{"a":1e1000000000,"good":1}',
    "a huge number itself": b'{"a":' + b"9" * 1500 + b',"good":1}',
}
TOUCHING = {
    "header": config({"type": "HeaderFrom$Value", "fields": "a", "headers": "h", "operation": "copy"}),
    "flatten": config({"type": "Flatten$Value"}),
    "key as text": config({"type": "ValueToKey", "fields": "a"}, key_converter=STRING),
    "value as text": config({"type": "ExtractField$Value", "field": "a"}, {"type": "HoistField$Value", "field": "z"}),
    "header as text": config(
        {"type": "HeaderFrom$Value", "fields": "a", "headers": "h", "operation": "move"}, header_converter=STRING
    ),
    "header as JSON": config(
        {"type": "HeaderFrom$Value", "fields": "a", "headers": "h", "operation": "move"},
        header_converter=JSON, header_converter_schemas_enable="false",
    ),
    "nested field": config({"type": "ExtractField$Value", "field": "a.b", "field.syntax.version": "V2"}),
    "cast": config({"type": "Cast$Value", "spec": "a:string"}),
}  # fmt: skip


@pytest.mark.parametrize("name", TOUCHING)
def test_a_number_that_java_cannot_hold_stops_no_other_record(spark, name):
    """Whatever becomes of the odd ones, the query does not fail, and the good record between them is taken through."""
    batch = []
    for value in WEIRD.values():
        batch += [Record(b'{"a":{"b":1},"good":1}'), Record(value)]
    outcomes = through(spark, TOUCHING[name], batch)
    assert len(set(map(repr, outcomes[::2]))) == 1
    odd = dict(zip(WEIRD, outcomes[1::2], strict=True))
    assert all(isinstance(outcome, Record) or outcome.java_class == DATA for outcome in odd.values()), odd
