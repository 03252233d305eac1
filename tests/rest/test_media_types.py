import pytest

from headrace.rest.media_types import accepts, is_json


@pytest.mark.parametrize("sent", ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8"])
def test_json_is_known_in_any_case_and_with_parameters(sent: str) -> None:
    assert is_json(sent)


@pytest.mark.parametrize("sent", ["text/plain", "application/x-www-form-urlencoded", "application/json+x", ""])
def test_other_types_are_not_json(sent: str) -> None:
    assert not is_json(sent)


@pytest.mark.parametrize(
    "accept",
    [None, "", "*/*", "*", "application/*", "application/json", "text/html, application/json;q=0.5", "a/b, */* ; q=0.1"],
)
def test_a_client_takes_json(accept: str | None) -> None:
    assert accepts(accept)


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "application/xml, text/*", "json", "a/b;q=x"])
def test_a_client_does_not_take_json(accept: str) -> None:
    assert not accepts(accept)


def test_another_type_than_json_can_be_asked_for() -> None:
    assert accepts("text/*", "text/plain")
    assert not accepts("application/json", "text/plain")
