import pytest

from tests.rest.conftest import Client


def test_a_method_that_is_not_allowed_is_told_those_that_are(call: Client) -> None:
    answer = call("DELETE", "/connectors")
    assert (answer.status, answer.message) == (405, "HTTP 405 Method Not Allowed")
    assert set(answer.headers["allow"].split(",")) == {"GET", "HEAD", "OPTIONS", "POST"}


def test_options_lists_the_methods_as_text_or_only_in_the_header(call: Client) -> None:
    answer = call("OPTIONS", "/connectors/x/config")
    assert set(answer.text.split(", ")) == {"GET", "HEAD", "OPTIONS", "PATCH", "PUT"}
    assert answer.headers["content-type"] == "text/plain"
    answer = call("OPTIONS", "/connectors", headers={"Accept": "application/json"})
    assert (answer.status, answer.text) == (200, "")
    assert "POST" in answer.headers["allow"]


def test_head_is_get_without_the_body(call: Client) -> None:
    got, head = call("GET", "/connectors/x"), call("HEAD", "/connectors/x")
    assert (head.status, head.text) == (404, "")
    assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize("path", ["/nosuch", "/Connectors", "/connectors/x/tasks-config", "/docs", "/redoc"])
def test_an_unknown_path_is_a_json_404(call: Client, path: str) -> None:
    answer = call("GET", path)
    assert (answer.status, answer.json) == (404, {"error_code": 404, "message": "HTTP 404 Not Found"})


def test_a_body_needs_a_type_but_no_body_needs_none(call: Client) -> None:
    assert call("POST", "/connectors", raw="{}", headers={}).status == 415
    assert call("POST", "/connectors", raw="{}", headers={"Content-Type": "text/plain"}).status == 415
    assert call("PUT", "/connectors/x/pause").status == 404


def test_a_path_that_may_be_misread_is_refused(call: Client) -> None:
    answer = call("GET", "/connectors//b")
    assert (answer.status, answer.message) == (400, "Ambiguous URI empty segment")
    assert call("DELETE", "/connectors//b").text == ""


def test_a_name_with_a_slash_is_one_segment(call: Client) -> None:
    assert call("GET", "/connectors/a%2Fb").message == "Connector a/b not found"


def test_the_root_takes_any_content_type(call: Client) -> None:
    assert call("GET", "/", headers={"Content-Type": "text/plain"}).status == 200
