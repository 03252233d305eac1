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
    assert (answer.status, answer.text, answer.headers["content-type"]) == (200, "", "application/json")
    assert "POST" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        ("text/html, application/json;v=1", "text/html"),
        ("image/png;q=0.5, application/json;q=0.9", "application/json;q=0.9"),
        ("text/plain;q=0.2, application/json", "application/json"),
        ("image/png, text/plain;a=b", "text/plain"),
        ("*/*;a=b", "text/plain"),
        ("json", "json/*"),
        ("text/*;q=0.5, image/png;q=0.5", "image/png;q=0.5"),
    ],
)
def test_options_are_answered_in_the_type_that_the_client_prefers(call: Client, accept: str, answered: str) -> None:
    answer = call("OPTIONS", "/connectors", headers={"Accept": accept})
    assert (answer.status, answer.headers["content-type"]) == (200, answered)
    assert bool(answer.text) == (answered == "text/plain")


def test_the_parameters_of_the_accepted_type_come_back(call: Client) -> None:
    asked = {"Accept": "application/json; charset=utf-8;q=0.5"}
    for path in ("/connectors", "/connectors/x", "/"):
        assert call("GET", path, headers=asked).headers["content-type"] == "application/json;charset=utf-8"
    assert call("GET", "/connectors", headers={"Accept": "application/*;a=b"}).headers["content-type"] == "application/json"


def test_headers_that_name_no_media_type_are_bad_requests(call: Client) -> None:
    for method, path in (("GET", "/connectors"), ("OPTIONS", "/connectors"), ("GET", "/nosuch"), ("PATCH", "/connectors")):
        assert call(method, path, headers={"Content-Type": "json"}).status == 400
    assert call("GET", "/connectors", headers={"Accept": "application/"}).status == 400
    assert call("GET", "/nosuch", headers={"Accept": "application/"}).status == 404


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
    assert call("PUT", "/connectors/x/pause", headers={"Content-Type": "*/*"}).status == 404


@pytest.mark.parametrize("sent", ["application/*", "*/*"])
def test_a_range_of_types_will_do_where_no_body_is_read(call: Client, sent: str) -> None:
    asked = {"Content-Type": sent}
    for raw in ("{}", None):
        assert call("PUT", "/connectors/x/pause", raw=raw, headers=asked).status == 404
        assert call("POST", "/connectors/x/tasks/0/restart", raw=raw, headers=asked).status == 404
        for method, path in (("POST", "/connectors"), ("PUT", "/connectors/x/config"), ("PATCH", "/connectors/x/config")):
            assert call(method, path, raw=raw, headers=asked).status == 415
        assert call("PUT", "/connectors/x/config", raw=raw, headers={**asked, "Accept": "text/html"}).status == 406


def test_what_workers_send_each_other_may_have_any_type(call: Client) -> None:
    for raw in ("[]", None):
        assert call("PUT", "/connectors/x/fence", raw=raw, headers={"Content-Type": "text/plain"}).status == 400
    assert call("POST", "/connectors/x/tasks", raw="[]", headers={"Content-Type": "text/plain"}).status == 400
    assert call("POST", "/connectors/x/tasks", raw="{}", headers={"Content-Type": "text/plain"}).status == 500
    assert call("GET", "/connectors/x/tasks", headers={"Content-Type": "text/plain"}).status == 415


def test_a_path_that_may_be_misread_is_refused(call: Client) -> None:
    answer = call("GET", "/connectors//b")
    assert (answer.status, answer.message) == (400, "Ambiguous URI empty segment")
    assert call("DELETE", "/connectors//b").text == ""


def test_a_name_with_a_slash_is_one_segment(call: Client) -> None:
    assert call("GET", "/connectors/a%2Fb").message == "Connector a/b not found"


def test_the_root_takes_any_content_type(call: Client) -> None:
    assert call("GET", "/", headers={"Content-Type": "text/plain"}).status == 200
