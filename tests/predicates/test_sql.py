import pytest

from headrace.errors import ConfigError
from tests.predicates.holds import holds


def sql(condition):
    return {"p": {"type": "headrace.predicates.Sql", "condition": condition}}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("value:a::int > 1", True),
        ("value:a::int > 2", False),
        ("value:absent::int > 2", False),
        ("null", False),
        ("topic like 'ord%' and partition = 1 and offset = 7 and year(timestamp) = 2023", True),
        ("exists(headers, h -> h.key = 'n' and string(h.value) = 'v')", True),
        ("value is null or key is not null", False),
        ("value:b::int > 1", "The expression value:b::int > 1 of 'predicates.p.condition' failed"),
        ("try_variant_get(value, '$.b', 'int') > 1", False),
    ],
)
def test_a_condition_holds_where_it_is_true(spark, condition, expected):
    assert holds(sql(condition), {"a": 2, "b": "x"}, headers=[["n", "v"]]) == expected


def test_a_tombstone_is_null(spark):
    assert holds(sql("value is null"), None) is True


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("value:a", "configuration predicates.p.condition: It gives VARIANT, not BOOLEAN; compare or cast it"),
        ("a = 1", "`a`"),
        ("max(offset) > 1", "It has to be about one record"),
    ],
)
def test_what_is_no_condition_is_an_error_of_the_option(spark, condition, sentence):
    with pytest.raises(ConfigError, match=sentence):
        holds(sql(condition), {"a": 1})
