"""What holds for all records: each example is a batch of many, taken through the chain in one query."""

import base64
import json
import math
import re
import struct

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.transforms.chains import BYTES, DROPPED, STRING, Failed, Record, config, through, values

BATCHED = settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # no shrinking: of an example's many records, a failure names one
    suppress_health_check=[
        HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large, HealthCheck.large_base_example
    ],
)  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = st.sampled_from(["a", "b", "c", "d", "a.b", "a`b", 'q"', "🙂", "\x01", "", "\\", "'", "${x}"]) | TEXT
INTEGERS = st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)  # -0.0 is 0.0 for Jackson
SCALARS = st.none() | st.booleans() | INTEGERS | DOUBLES | TEXT
JSON_VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
OBJECTS = st.dictionaries(NAMES, JSON_VALUES, max_size=5)


def encoded(value, ascii_only=False):
    return json.dumps(value, ensure_ascii=ascii_only).encode()


def same(a, b):
    """Equal as JSON, where true is not 1 and 1 is not 1.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def batches(strategy):
    return st.lists(strategy, min_size=20, max_size=40)


HEADERS = st.lists(st.tuples(st.sampled_from(["h", "i", "H", ""]), st.none() | st.just(b"1")), max_size=3).map(tuple)
TOPICS = st.sampled_from(["orders", "orders-eu", "eu-orders", "o", "Orders", "orders\n"])
RECORDS = st.builds(Record, st.none() | st.just(b"") | OBJECTS.map(encoded), topic=TOPICS, headers=HEADERS)
PREDICATES = {
    "topic": {"type": "TopicNameMatches", "pattern": "orders.*"},
    "header": {"type": "HasHeaderKey", "name": "h"},
    "tombstone": {"type": "RecordIsTombstone"},
}


@pytest.mark.parametrize("predicate", PREDICATES)
@BATCHED
@given(batches(RECORDS))
def test_a_predicate_and_its_negation_share_the_records_between_them(spark, predicate, records):
    def filtered(negate, show):
        stage = {"type": "Filter", "predicate": predicate, "negate": negate}
        return through(spark, config(stage, predicates=PREDICATES), records, show)

    dropped, kept = ([outcome == DROPPED for outcome in filtered(negate, True)] for negate in ("false", "true"))
    assert [a != b for a, b in zip(dropped, kept, strict=True)] == [True] * len(records)
    assert len(filtered("false", False)) + len(filtered("true", False)) == len(records)


CHAINS = {
    "edits": [
        {"type": "InsertField$Value", "static.field": "b", "static.value": "x", "topic.field": "t", "predicate": "topic"},
        {"type": "Cast$Value", "spec": "a:string,c:boolean"},
        {"type": "MaskField$Value", "fields": "a,d", "predicate": "header", "negate": "true"},
        {"type": "ReplaceField$Value", "renames": "a:c,b:a", "exclude": "d"},
        {"type": "RegexRouter", "regex": "(.*)-eu", "replacement": "eu-$1"},
    ],
    "routes": [
        {"type": "RegexRouter", "regex": "orders(.*)", "replacement": "$1x", "predicate": "header"},
        {"type": "Filter", "predicate": "topic"},
        {"type": "InsertField$Value", "topic.field": "a", "predicate": "topic", "negate": "true"},
        {"type": "TimestampRouter", "timestamp.format": "yyyyMM"},
        {"type": "Filter", "predicate": "tombstone"},
    ],
    "shapes": [
        {"type": "HoistField$Value", "field": "outer"},
        {"type": "Flatten$Value", "delimiter": "/", "predicate": "header"},
        {"type": "ExtractField$Value", "field": "outer", "predicate": "header", "negate": "true"},
        {"type": "HeaderFrom$Value", "fields": "a", "headers": "h", "operation": "move", "predicate": "header", "negate": "true"},
        {"type": "ValueToKey", "fields": "a,b"},
        {"type": "DropHeaders", "headers": "i"},
    ],
    "errors": [
        {"type": "Cast$Value", "spec": "a:int8", "predicate": "topic"},
        {"type": "MaskField$Value", "fields": "b,c", "replacement": "7"},
        {"type": "Cast$Value", "spec": "b:int32,c:string", "predicate": "header"},
        {"type": "ValueToKey", "fields": "b"},
        {"type": "ExtractField$Key", "field": "b"},
        {"type": "InsertField$Key", "static.field": "k", "static.value": "v", "predicate": "header"},
    ],
}


def comparable(outcome):
    """An outcome with its JSON parsed: the order of members is free. So is the form of a number in a header and how often a quote
    in it is escaped: each stage on its own reads the headers with the SimpleHeaderConverter, which makes 0 of 0.0, and escapes
    again what it has not unescaped, as Kafka's does.
    """
    if not isinstance(outcome, Record):
        return outcome
    headers = [(name, header(value)) for name, value in outcome.headers]
    return (outcome.topic, outcome.timestamp, headers, *(b and json.loads(b) for b in (outcome.key, outcome.value)))


def header(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return text and re.sub(rb"\\+", rb"\\", text)


@pytest.mark.parametrize("name", CHAINS)
@BATCHED
@given(batches(RECORDS))
def test_a_chain_is_its_stages_one_after_the_other(spark, name, records):
    whole = config(*CHAINS[name], predicates=PREDICATES)
    staged = dict(enumerate(records))
    for i in range(len(CHAINS[name])):
        left = {n: outcome for n, outcome in staged.items() if isinstance(outcome, Record)}
        staged |= dict(zip(left, through(spark, {**whole, "transforms": f"t{i}"}, left.values()), strict=True))
    for together, one_by_one, record in zip(through(spark, whole, records), staged.values(), records, strict=True):
        assert same(comparable(together), comparable(one_by_one)), record


NOTHING = {"nothing is asked of it": [], "fields come and go": [
    {"type": "InsertField$Value", "static.field": "no such", "static.value": "x"},
    {"type": "ReplaceField$Value", "exclude": "no such"},
], "fields are moved there and back": [
    {"type": "ReplaceField$Value", "renames": "a:no such"},
    {"type": "ReplaceField$Value", "renames": "no such:a"},
]}  # fmt: skip


@pytest.mark.parametrize("chain", NOTHING)
@BATCHED
@given(batches(OBJECTS), st.booleans())
def test_json_without_schema_is_written_as_it_was_read(spark, chain, objects, ascii_only):
    outcomes = values(spark, config(*NOTHING[chain]), [encoded(one, ascii_only) for one in objects])
    for before, after in zip(objects, outcomes, strict=True):
        assert isinstance(after, bytes), (before, after)
        assert same(json.loads(after), before)


@BATCHED
@given(batches(JSON_VALUES))
def test_any_json_value_is_written_as_it_was_read(spark, given):
    outcomes = values(spark, config(), map(encoded, given))
    assert [None if text is None else json.loads(text) for text in outcomes] == given


@BATCHED
@given(batches(st.lists(st.tuples(st.sampled_from("abc"), SCALARS), min_size=1, max_size=8)))
def test_of_members_with_the_same_name_the_last_one_counts(spark, given):
    texts = [b"{" + b",".join(encoded(name) + b": " + encoded(value) for name, value in one) + b"}" for one in given]
    outcomes = values(spark, config({"type": "ReplaceField$Value", "renames": "a:z"}), texts)
    for before, after in zip(map(dict, given), outcomes, strict=True):
        assert same(json.loads(after), {"z" if name == "a" else name: value for name, value in before.items()})


def bits(width):
    return st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1)


FIELDS = {
    "int8": bits(8), "int16": bits(16), "int32": bits(32), "int64": bits(64), "double": DOUBLES, "boolean": st.booleans(),
    "float": st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0), "string": TEXT,
    "bytes": st.binary(max_size=5).map(lambda raw: base64.b64encode(raw).decode()),
}  # fmt: skip
LISTS = {"type": "array", "items": {"type": "int32", "optional": False}, "optional": True, "field": "list"}
INNER = [{"type": "string", "optional": True, "field": "x"}, {"type": "int64", "optional": False, "field": "y"}]
STRUCT = {
    "type": "struct", "optional": False, "name": "com.acme.All",
    "fields": [
        *({"type": kind, "optional": False, "field": f"{kind} "} for kind in FIELDS),
        *({"type": kind, "optional": True, "field": f"{kind} ?"} for kind in FIELDS),
        LISTS,
        {"type": "struct", "fields": INNER, "optional": True, "field": "in`ner.🙂"},
    ],
}  # fmt: skip
PAYLOADS = st.fixed_dictionaries({
    **{f"{kind} ": values for kind, values in FIELDS.items()},
    **{f"{kind} ?": st.none() | values for kind, values in FIELDS.items()},
    "list": st.none() | st.lists(bits(32), max_size=3),
    "in`ner.🙂": st.none() | st.fixed_dictionaries({"x": st.none() | TEXT, "y": bits(64)}),
})  # fmt: skip


def equal_numbers(before, after):
    """Equal, where a float32 has its own shortest digits."""
    for name, value in before.items():
        if name.startswith("float ") and value is not None:
            assert struct.pack("f", after[name]) == struct.pack("f", value)
        else:
            assert same(after[name], value), name
    assert after.keys() == before.keys()


@pytest.mark.parametrize("chain", ["nothing", "touched"])
@BATCHED
@given(batches(PAYLOADS))
def test_json_with_schema_is_written_as_it_was_read(spark, chain, payloads):
    stages = [] if chain == "nothing" else [{"type": "ReplaceField$Value", "exclude": "no such"}]
    texts = [encoded({"schema": STRUCT, "payload": payload}) for payload in payloads]
    for before, after in zip(payloads, values(spark, config(*stages, value_converter_schemas_enable="true"), texts), strict=True):
        assert isinstance(after, bytes), (before, after)
        envelope = json.loads(after)
        assert envelope["schema"] == STRUCT
        equal_numbers(before, envelope["payload"])


CONVERTERS = {
    "ByteArrayConverter": st.binary(),
    "LongConverter": st.binary(min_size=8, max_size=8),
    "IntegerConverter": st.binary(min_size=4, max_size=4),
    "ShortConverter": st.binary(min_size=2, max_size=2),
    "DoubleConverter": st.floats(allow_nan=False).map(lambda number: struct.pack(">d", number)),
    "FloatConverter": st.floats(width=32, allow_nan=False).map(lambda number: struct.pack(">f", number)),
    "BooleanConverter": st.sampled_from([b"\0", b"\1"]),
}


@pytest.mark.parametrize("name", CONVERTERS)
@BATCHED
@given(st.data())
def test_bytes_are_written_as_they_were_read(spark, name, data):
    records = [None, *data.draw(batches(CONVERTERS[name]))]
    converter = BYTES.rpartition(".")[0] + "." + name
    outcomes = through(
        spark, {**config(), "key.converter": converter, "value.converter": converter}, [Record(one, key=one) for one in records]
    )
    assert [after.value for after in outcomes] == [after.key for after in outcomes] == records


@BATCHED
@given(batches(TEXT), st.sampled_from(["UTF-8", "UTF-16", "UTF-16BE"]))
def test_text_is_written_as_it_was_read(spark, texts, encoding):
    props = {**config(value_converter=STRING), "value.converter.converter.encoding": encoding}
    codec = "utf-16-be" if encoding.startswith("UTF-16") else "utf-8"
    mark = b"\xfe\xff" if encoding == "UTF-16" else b""
    assert values(spark, props, [mark + text.encode(codec) for text in texts]) == [
        (mark if text else b"") + text.encode(codec) for text in texts
    ]


@BATCHED
@given(batches(st.binary(max_size=40)))
def test_no_bytes_stop_the_others(spark, blobs):
    """Whatever comes, each record has an outcome, and a good one among them is taken through."""
    records = [b'{"a":1}', *blobs, b'{"a":1}']
    outcomes = values(spark, config({"type": "Cast$Value", "spec": "a:string"}), records)
    assert outcomes[0] == outcomes[-1] == b'{"a":"1"}'
    assert all(outcome is None or isinstance(outcome, bytes | Failed) for outcome in outcomes)


def test_numbers_have_the_digits_of_java(spark):
    numbers = [1e7, 1e-3, 9999999.0, 1e21, 5e-324, math.pi, 0.1, 100.0, 1.7976931348623157e308]
    chain = [{"type": "ReplaceField$Value", "renames": "a:b"}]
    outcomes = values(spark, config(*chain), [encoded({"a": number}) for number in numbers])
    assert [json.loads(text)["b"] for text in outcomes] == numbers
