"""What Jersey made of these headers, asked of a worker of Kafka Connect 4.3."""

import pytest

from headrace.rest.media_types import JSON, MediaTypeError, acceptable, content_type


@pytest.mark.parametrize(
    "sent", ["application/json", "APPLICATION/JSON", " application/json; charset=utf-8", "application/json;"]
)
def test_json_is_known_in_any_case_and_with_parameters(sent: str) -> None:
    assert content_type(sent).includes(JSON)


@pytest.mark.parametrize("sent", ["text/plain", "application/x-www-form-urlencoded", "application/json+x"])
def test_other_types_are_not_json(sent: str) -> None:
    assert not content_type(sent).includes(JSON)


@pytest.mark.parametrize("sent", [
    "", "json", "application/", "/json", "a b/c", "application /json", "application/json/x", "application/json; charset",
    'application/json; q="a', "application/json, text/plain", ";", "application/json; a = b", "application/json;a=", "*",
])  # fmt: skip
def test_what_is_no_media_type_is_refused(sent: str) -> None:
    with pytest.raises(MediaTypeError):
        content_type(sent)


@pytest.mark.parametrize("accept", [
    "application/", "application/json;q=x", "application/json;q=2", "application/json;q=0.1234", "application /json", ",a/b",
    "a/b,,c/d",
])  # fmt: skip
def test_what_is_no_range_is_refused(accept: str) -> None:
    with pytest.raises(MediaTypeError):
        acceptable(accept)


def takes(accept: str | None, name: str = JSON) -> bool:
    return any(each.includes(name) for each in acceptable(accept))


@pytest.mark.parametrize("accept", [
    None, "", "*/*", "*", "application/*", "application/json", "text/html, application/json;q=0.5", "a/b, */* ; q=0.1",
    "application/json;q=0", "application/json,", "*/json",
])  # fmt: skip
def test_a_client_takes_json(accept: str | None) -> None:
    assert takes(accept)


@pytest.mark.parametrize("accept", ["text/html", "application/xml, text/*", "json"])
def test_a_client_does_not_take_json(accept: str) -> None:
    assert not takes(accept)


def test_another_type_than_json_can_be_asked_for() -> None:
    assert takes("text/*", "text/plain")
    assert not takes("application/json", "text/plain")


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        ("application/json;A=B;q=0.5", "application/json;a=B"),
        ("application/json; Charset=UTF-8", "application/json;charset=utf-8"),
        ('application/json;a="b, c"', 'application/json;a="b, c"'),
        ('application/json;b="c";a=d;b=e', "application/json;a=d;b=e"),
        ("*/*, application/*, application/json;a=b", "application/json;a=b"),
        ("application/json, application/json;a=b", JSON),
        ("application/json;a=b, application/json", "application/json;a=b"),
        ("application/json;a=b;q=0.1, application/json;q=0.2", JSON),
    ],
)
def test_the_first_of_the_preferred_types_is_answered_without_what_ranks_it(accept: str, answered: str) -> None:
    assert acceptable(accept)[0].of_answer() == answered
