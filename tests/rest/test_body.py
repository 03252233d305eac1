from typing import Any

import pytest

from headrace.errors import ConnectError
from headrace.rest import body


@pytest.mark.parametrize("raw", [b"", b" \n", b"null"])
def test_no_body_is_null(raw: bytes) -> None:
    assert body.parse(raw) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b'{"a":',
        b"{} x",
        b"NaN",
        b'{"a": Infinity}',
        b"01",
        b"'a'",
        b"\xff\xfe\xfa",
        b'"\n"',
        b"[" * 100_000,
        b"1" * 1001,
    ],
    ids=lambda raw: raw[:10].decode("latin-1"),
)
def test_broken_json_is_a_500(raw: bytes) -> None:
    with pytest.raises(ConnectError, match=r"^The body of the request is n") as error:
        body.parse(raw)
    assert error.value.status == 500


@pytest.mark.parametrize("raw", [b"[" * 300 + b"]" * 300, b'{"a":' * 900 + b"1" + b"}" * 900])
def test_what_is_nested_deeper_than_others_can_walk_is_refused(raw: bytes) -> None:
    with pytest.raises(ConnectError, match=r"^The body of the request is nested too deeply\.$"):
        body.parse(raw)
    assert body.parse(b"[" * 200 + b"]" * 200) is not None


def test_half_a_surrogate_pair_becomes_a_question_mark_as_java_would_store_it() -> None:
    assert body.parse(rb'{"a\ud800": ["\uDFFF", "\ud83d\ude00", 1]}') == {"a?": ["?", "😀", "1"]}


def test_what_is_no_text_says_where() -> None:
    with pytest.raises(ConnectError, match=r"^The body of the request is not JSON: not utf-8 at its byte 3\.$"):
        body.parse(b'{"\xff": 1}')


def test_scalars_become_texts_as_they_were_written() -> None:
    tree = body.parse(b'{"a": 1, "b": 1.50, "c": 1e3, "d": true, "e": null, "f": "x", "g": 12345678901234567890}')
    assert body.texts(tree, "the configuration") == {
        "a": "1", "b": "1.50", "c": "1e3", "d": "true", "e": None, "f": "x", "g": "12345678901234567890",
    }  # fmt: skip


@pytest.mark.parametrize(("raw", "kind"), [(b'{"a": {}}', "an object"), (b'{"a": [1]}', "an array")])
def test_a_nested_value_is_no_setting(raw: bytes, kind: str) -> None:
    with pytest.raises(ConnectError) as error:
        body.texts(body.parse(raw), "the configuration")
    assert str(error.value) == f'"a" of the configuration has to be a text, a number or a boolean; got {kind}.'


@pytest.mark.parametrize(("raw", "kind"), [(b"[]", "an array"), (b'"x"', "a text"), (b"1", "a number"), (b"true", "a boolean")])
def test_a_configuration_is_an_object(raw: bytes, kind: str) -> None:
    with pytest.raises(ConnectError) as error:
        body.texts(body.parse(raw), "the configuration")
    assert str(error.value) == f"the configuration has to be a JSON object; got {kind}."


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(ConnectError) as error:
        body.mapping(body.parse(b'{"name": "x", "foo": 1}'), "the request", ("config", "name"))
    assert str(error.value) == 'Unrecognized field "foo" in the request; it may have "config", "name".'


def test_of_a_field_given_twice_the_last_counts() -> None:
    assert body.texts(body.parse(b'{"a": 1, "a": 2}'), "it") == {"a": "2"}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"1", 1),
        (b"-0", 0),
        (b"1.5", 1.5),
        (b"1e2", 100.0),
        (b"123456789012345678901", 123456789012345678901),
        (b'{"a": [1, "1", null, true]}', {"a": [1, "1", None, True]}),
    ],
)
def test_plain_values_have_numbers(raw: bytes, value: Any) -> None:
    found = body.plain(body.parse(raw))
    assert found == value
    assert type(found) is type(value)


def test_a_number_beyond_a_double_is_refused() -> None:
    with pytest.raises(ConnectError, match=r"^The number 1e999 in the body of the request is out of range\.$"):
        body.plain(body.parse(b"1e999"))
