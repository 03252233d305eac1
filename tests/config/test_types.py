import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.config import Password, Type, java_text, parse_list, parse_type, to_text
from headrace.errors import ConfigError

NOT_BOOLEAN = "Expected value to be either true or false"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Type.BOOLEAN, " TrUe ", True),
        (Type.BOOLEAN, "false", False),
        (Type.STRING, "\t a b \n", "a b"),
        (Type.INT, " +1 ", 1),
        (Type.INT, "-2147483648", -(2**31)),
        (Type.SHORT, "32767", 32767),
        (Type.LONG, "99999999999", 99999999999),
        (Type.DOUBLE, " 1.5d ", 1.5),
        (Type.DOUBLE, ".5", 0.5),
        (Type.DOUBLE, "0x1p3", 8.0),
        (Type.DOUBLE, "-Infinity", -math.inf),
        (Type.LIST, "", []),
        (Type.LIST, " a , b,,c ", ["a", "b", "", "c"]),
        (Type.LIST, ",", ["", ""]),
        (Type.CLASS, " java.lang.String ", "java.lang.String"),
        (Type.PASSWORD, " secret ", Password("secret")),
    ],
)
def test_a_text_is_read_as_its_type(kind, text, value):
    assert parse_type("k", text, kind) == value


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (Type.BOOLEAN, "1", NOT_BOOLEAN),
        (Type.BOOLEAN, "", NOT_BOOLEAN),
        (Type.BOOLEAN, 1, NOT_BOOLEAN),
        (Type.INT, "1.0", "Not a number of type INT"),
        (Type.INT, "1_0", "Not a number of type INT"),
        (Type.INT, "0x1", "Not a number of type INT"),
        (Type.INT, "2147483648", "Not a number of type INT"),
        (Type.SHORT, "40000", "Not a number of type SHORT"),
        (Type.LONG, "9223372036854775808", "Not a number of type LONG"),
        (Type.DOUBLE, "x", "Not a number of type DOUBLE"),
        (Type.DOUBLE, "\uff11", "Not a number of type DOUBLE"),
        (Type.INT, True, "Expected value to be a 32-bit integer, but it was a java.lang.Boolean"),
        (Type.STRING, 7, "Expected value to be a string, but it was a java.lang.Integer"),
        (Type.LIST, 7, "Expected a comma separated list."),
        (Type.CLASS, 7, "Expected a Class instance or class name."),
    ],
)
def test_what_cannot_be_read_is_refused_in_kafkas_words(kind, value, why):
    with pytest.raises(ConfigError) as error:
        parse_type("k", value, kind)
    assert error.value.message == f"Invalid value {java_text(value)} for configuration k: {why}"


@pytest.mark.parametrize("kind", Type)
def test_null_stays_null(kind):
    assert parse_type("k", None, kind) is None
    assert to_text(None, kind) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (None, "null"),
        (["a", None, 1], "[a, null, 1]"),
        ({"a": 1, "b": None}, "{a=1, b=null}"),
        (1.0, "1.0"),
        (1e10, "1.0E10"),
        (1.5e-5, "1.5E-5"),
        (123456789.125, "1.23456789125E8"),
        (9999999.5, "9999999.5"),
        (1e7, "1.0E7"),
        (0.001, "0.001"),
        (-0.0, "-0.0"),
        (math.nan, "NaN"),
        (Password("x"), "[hidden]"),
    ],
)
def test_values_read_in_messages_as_java_prints_them(value, text):
    assert java_text(value) == text


def test_a_list_is_shown_as_it_was_given_in_a_file():
    assert to_text(["a", "b"], Type.LIST) == "a,b"
    assert to_text([], Type.LIST) == ""


def test_a_password_is_never_printed():
    assert f"{Password('x')} {Password('x')!r} {[Password('x')]}" == "[hidden] [hidden] [[hidden]]"


ITEM = st.text(st.characters(exclude_characters=",", exclude_categories=("Cs",)), min_size=1).filter(
    lambda s: s == s.strip() and s[0] > " " and s[-1] > " "
)


@given(st.lists(ITEM), st.sampled_from([",", " ,", ", ", "\t,\n"]))
def test_items_survive_being_joined_with_commas_and_blanks(items, comma):
    assert parse_list(comma.join(items)) == items


@given(st.integers())
def test_an_integer_is_read_if_and_only_if_it_fits(number):
    for kind, bits in ((Type.SHORT, 16), (Type.INT, 32), (Type.LONG, 64)):
        if -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            assert parse_type("k", str(number), kind) == number
        else:
            with pytest.raises(ConfigError, match=f"Not a number of type {kind}"):
                parse_type("k", str(number), kind)


@given(st.floats(allow_nan=False))
def test_a_double_survives_its_text(number):
    assert parse_type("k", java_text(number), Type.DOUBLE) == number
