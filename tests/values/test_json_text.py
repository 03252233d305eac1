from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.values.json_text import decode, encode, java_double

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)  # fmt: skip


@given(JSON)
def test_what_is_written_can_be_read(value):
    assert decode(encode(value)) == value
    assert json.loads(encode(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [None, True, "x"]}, '{"b":1,"a":[null,true,"x"]}'),
        ('q"\\/\n\x01\x1f\x7fäπ😀', '"q\\"\\\\/\\n\\u0001\\u001F\x7fäπ😀"'),
        ({1: 2}, '{"1":2}'),
    ],
)
def test_text_is_jacksons(value, text):
    assert encode(value).decode() == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (1.5, "1.5"), (-2.25, "-2.25"), (0.001, "0.001"), (0.0001, "1.0E-4"),
        (123456.789, "123456.789"), (9999999.0, "9999999.0"), (1e7, "1.0E7"), (1.25e10, "1.25E10"), (-3e-10, "-3.0E-10"),
        (1e100, "1.0E100"), (1.7976931348623157e308, "1.7976931348623157E308"),
    ],
)  # fmt: skip
def test_doubles_are_javas(number, text):
    assert java_double(number) == text


@pytest.mark.parametrize("text", [b"", b"{", b"NaN", b"[Infinity]", b"\xff"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError):
        decode(text)
