"""SQL texts: whatever is put into them comes out of Spark as it was."""

import math

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headrace.values.sql import NEVER, all_of, any_of, case, concat, lit, negated, quoted

BATCHED = settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
SPECIAL = st.sampled_from([
    "'", '"', "\\", "`", "${", "}", "${x}", "${spark:x}", "\0", "\n", "\r", "\x1a", "\b", "%", "_", "--", "/*", "🙂",
    "\\u0041", "\\101", "\\Z", "\ufeff", "\u2028", "$", "{", ";",
])  # fmt: skip
TEXTS = st.lists(SPECIAL | st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=8).map("".join)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.booleans() | st.none()


def evaluated(spark, expressions):
    row = spark.sql("SELECT " + ", ".join(f"{sql} AS c{i}" for i, sql in enumerate(expressions))).head()
    return list(row)


@BATCHED
@example(
    [
        "${x}",
        "$${x}}",
        "\\${x}",
        "'${'",
        "a\\",
        "\\'",
        "\\\\'",
        "",
        " ",
        "\0",
        "0\0001",
        "\x0077",
        "\x1a",
        "🙂",
        "\\n",
        "\\%",
        "\\_",
    ]
)
@given(st.lists(TEXTS, min_size=1, max_size=60))
def test_a_literal_is_the_text_that_it_was_made_of(spark, texts):
    assert evaluated(spark, map(lit, texts)) == texts


@BATCHED
@example([-(2**63), 2**63 - 1, -1, 0, 5e-324, 1.7976931348623157e308, -0.0, math.inf, -math.inf, True, False, None])
@given(st.lists(NUMBERS, min_size=1, max_size=60))
def test_a_literal_is_the_number_that_it_was_made_of(spark, numbers):
    result = evaluated(spark, map(lit, numbers))
    assert result == numbers
    assert list(map(type, result)) == list(map(type, numbers))


@BATCHED
@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=20, unique=True))
def test_a_quoted_name_is_the_name_of_the_column(spark, names):
    names = [name.replace("${", "$") for name in names]  # Spark replaces variables in names too
    result = spark.sql("SELECT " + ", ".join(f"{i}L AS {quoted(name)}" for i, name in enumerate(names)))
    assert result.columns == names


@BATCHED
@given(st.lists(st.lists(TEXTS, min_size=1, max_size=4), min_size=1, max_size=15))
def test_texts_joined_are_one_text(spark, lists):
    joined = [concat(*map(lit, texts)) for texts in lists]
    assert evaluated(spark, joined) == ["".join(texts) for texts in lists]


def test_literals_side_by_side_become_one():
    assert concat("'a'", "'b'", "h1", "'c'", "'d'") == "concat('ab', h1, 'cd')"
    assert concat(lit("$"), lit("{x}")) == lit("${x}")
    assert concat(lit("it's"), lit("\\")) == lit("it's\\")


def test_a_condition_that_always_holds_is_none():
    assert all_of(None, None) is None
    assert all_of("a", None) == "a"
    assert all_of("a", "b", "a") == "(a AND b)"
    assert any_of(["a", None]) is None
    assert any_of(["a", "b", "a"]) == "(a OR b)"
    assert negated(NEVER) is None


def test_a_condition_that_never_holds_is_never():
    assert all_of("a", NEVER) == NEVER
    assert any_of([]) == any_of([NEVER]) == NEVER
    assert any_of([NEVER, "a"]) == "a"
    assert negated(None) == NEVER


def test_a_case_takes_the_first_branch_that_holds():
    assert case([("a", "1"), (NEVER, "2"), (None, "3"), ("b", "4")]) == "CASE WHEN a THEN 1 ELSE 3 END"
    assert case([(NEVER, "1")]) == "NULL"
    assert case([(None, "1")], "2") == "1"
