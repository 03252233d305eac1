"""JSON of nested data by its schema: what is recognized as written already is what parsing and writing it again gives."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP
from headrace.values.sql import lit
from tests.transforms.test_properties import BATCHED
from tests.values.test_schema import INTEGERS, SCHEMAS, TEXT

NUMBERS = ["0", "-0", "00", "-1", "127", "128", "-129", "32768", "2147483648", "999999999999999999", "9223372036854775807", "1e3"]
FRACTIONS = [
    "-0.0", "0.0", "1.0", "1.50", "1", "1.0E10", "1e10", "0.1", "3.4028235E38", "-4.9E-324", "123456789.125", "-", "1.0.",
]  # fmt: skip
TEXTS = ['"a"', '"é"', '"🙂"', '"\\u0041"', '"\\n"', '"\x7f"', '""', '"a', "''", '"="', '"AAE="']
ODD = st.sampled_from([*NUMBERS, *FRACTIONS, *TEXTS, "null", "true", "false", "tru", "[]", "{}", "[1,]", "[ ]", "", " 1", "1 "])


def written(schema):
    """Texts of a schema's data, mostly as JsonConverter writes them."""
    if schema.type == "struct":
        fields = st.tuples(*(written(field) for field in schema.fields.values()))

        def text(values):
            members = zip(schema.fields, values, strict=True)
            return "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{value}" for name, value in members) + "}"

        usual = fields.map(text) | fields.map(text).map(lambda t: t.replace("{", '{"more":1,', 1))
    elif schema.type == "array":
        usual = st.lists(written(schema.items), max_size=3).map(lambda values: f"[{','.join(values)}]")
    elif schema.name in (DECIMAL, TIME) or schema.type in ("map", "bytes"):
        usual = st.sampled_from(['"AAE="', "1", "{}", '{"a":1}', "[]"])
    elif schema.name in (DATE, TIMESTAMP) or schema.type in INTEGERS:
        usual = st.integers(-(2**63), 2**63 - 1).map(str) | st.integers(-200, 200).map(str)
    elif schema.type in ("float32", "float64"):
        usual = st.floats(allow_nan=False, allow_infinity=False).map(str) | st.sampled_from(FRACTIONS)
    else:
        usual = st.booleans().map(json.dumps) | TEXT.map(lambda text: json.dumps(text, ensure_ascii=False))
    return st.one_of([usual] * 8 + [st.just("null"), ODD])


SCHEMA_OF_TEXTS = '{"type":"array","items":{"type":"string"}}'
CASES = SCHEMAS.flatmap(lambda schema: st.tuples(st.just(schema.text()), written(schema), st.sampled_from(["", "d", "n", "nd"])))


@settings(BATCHED, max_examples=4)
@given(st.lists(CASES, min_size=60, max_size=120))
def test_a_text_that_is_not_parsed_is_what_parsing_would_give(spark, cases):
    rows = ", ".join(f"({lit(schema)}, {lit(text)}, {lit(mode)})" for schema, text, mode in cases)
    frame = spark.sql(f"SELECT * FROM VALUES {rows} AS given (schema, text, mode)")
    normal, parsed = (f"headrace_json_normal({text}, schema, mode)" for text in ("text", "concat(' ', text)"))
    for row in frame.selectExpr("schema", "text", "mode", f"{normal} AS normal", f"{parsed} AS parsed").collect():
        assert row["normal"]["value"] == row["parsed"]["value"], row


def test_half_of_a_surrogate_pair_is_refused_and_never_a_question_mark(spark):
    texts = ", ".join(
        f"headrace_json_normal({lit(text)}, {lit(SCHEMA_OF_TEXTS)}, '')" for text in (r'["x\ud800y"]', r'["\ud83d\ude42"]')
    )
    half, whole = spark.sql(f"SELECT inline(array({texts}))").collect()
    assert tuple(half) == (None, "Incomplete surrogate pair in a string") and whole["value"] == '["🙂"]'
