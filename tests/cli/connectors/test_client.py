"""What goes over the wire, and the sentence for each way in which it fails."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from headrace.cli.connectors.client import RestClient
from headrace.errors import ConfigError, ConnectError, RestError

REBALANCE = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"


def client(
    handle: Callable[[httpx.Request], httpx.Response], url: str = "http://localhost:8083", patience_s: float = 0
) -> RestClient:
    return RestClient(url, patience_s, httpx.MockTransport(handle))


def error(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"error_code": status, "message": message})


@pytest.mark.parametrize(
    ("name", "segment"),
    [("a b", b"a%20b"), ("a/b", b"a%2Fb"), ("50%", b"50%25"), ("a%2Fb", b"a%252Fb"), ("größe", b"gr%C3%B6%C3%9Fe"),
     ("a;b?c#d+e", b"a%3Bb%3Fc%23d%2Be"), ("🚰", b"%F0%9F%9A%B0")],
)  # fmt: skip
def test_a_name_is_one_segment_of_the_path(name: str, segment: bytes):
    seen: list[bytes] = []
    client(lambda request: seen.append(request.url.raw_path) or httpx.Response(204)).call("PUT", "connectors", name, "pause")
    assert seen == [b"/connectors/" + segment + b"/pause"]


def test_a_path_before_the_api_a_query_and_a_login_are_kept():
    seen: list[httpx.Request] = []
    one = client(lambda request: seen.append(request) or httpx.Response(200, text="{}"), "https://me:p%40ss@proxy/kafka/")
    one.call("GET", "connectors", query={"expand": ["info", "status"]})
    assert str(seen[0].url) == "https://proxy/kafka/connectors?expand=info&expand=status"
    assert seen[0].headers["Authorization"] == httpx.BasicAuth("me", "p@ss")._auth_header


def test_an_error_answer_is_the_workers_sentence():
    with pytest.raises(RestError, match=r"^Connector a not found$") as raised:
        client(lambda _: error(404, "Connector a not found")).call("GET", "connectors", "a")
    assert raised.value.status == 404


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (httpx.Response(401, text="User cannot access the resource."),
         "The request was answered 401 Unauthorized: User cannot access the resource."),
        (httpx.Response(502, text="<html><body>Bad gateway</body></html>"), "The request was answered 502 Bad Gateway"),
        (httpx.Response(404, json=["what"]), 'The request was answered 404 Not Found: ["what"]'),
    ],
)  # fmt: skip
def test_an_error_that_no_worker_wrote_is_told_with_its_status(answer: httpx.Response, sentence: str):
    with pytest.raises(RestError) as raised:
        client(lambda _: answer).call("GET", "connectors")
    assert raised.value.message == sentence


def test_a_rebalance_is_waited_for():
    answers = [error(409, REBALANCE), httpx.Response(200, text="[]")]
    assert client(lambda _: answers.pop(0), patience_s=10).call("GET", "connectors").json == []


def test_a_rebalance_that_does_not_end_is_told():
    with pytest.raises(RestError) as raised:
        client(lambda _: error(409, REBALANCE), patience_s=0.1).call("DELETE", "connectors", "a")
    assert raised.value.message == f"The workers have been busy for 0.1 s; try again. They say: {REBALANCE}"


def test_a_name_that_is_taken_is_not_waited_for():
    answers = [error(409, "Connector a already exists")]
    with pytest.raises(RestError, match=r"^Connector a already exists$"):
        client(lambda _: answers.pop(0), patience_s=10).call("POST", "connectors", body={})


def test_a_web_page_is_no_worker():
    with pytest.raises(ConnectError, match="is the address that of a worker's REST API"):
        _ = client(lambda _: httpx.Response(200, text="<html>")).call("GET", "connectors").json


def test_an_answer_of_another_shape_is_told():
    with pytest.raises(ConnectError, match=r"is the address that of one of Kafka Connect 2\.3 or later"):
        _ = client(lambda _: httpx.Response(200, json=["old"])).call("GET", "connectors").object


@pytest.mark.parametrize("kind", [httpx.ConnectError, httpx.ConnectTimeout, httpx.RemoteProtocolError])
def test_no_connection_is_one_sentence_without_the_login(kind: type[httpx.TransportError]):
    def fail(request: httpx.Request) -> httpx.Response:
        raise kind("refused", request=request)

    with pytest.raises(ConnectError) as raised:
        client(fail, "http://me:secret@far:1").call("GET", "connectors")
    assert raised.value.message == (
        "No worker can be reached at http://far:1 (refused); start one, or name another by --url or HEADRACE_URL."
    )


def test_no_answer_in_time_names_the_request():
    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("", request=request)

    with pytest.raises(ConnectError, match=r"at http://localhost:8083 did not answer PUT /connectors/a/stop within 100 s\."):
        client(fail).call("PUT", "connectors", "a", "stop")


@pytest.mark.parametrize("url", ["", "localhost:8083", "ftp://x", "http://", "http://x:port", "http://x?y"])
def test_what_is_no_address_is_told(url: str):
    with pytest.raises(ConfigError, match="has to be like http://localhost:8083"):
        RestClient(url)


def test_a_body_is_json():
    seen: list[httpx.Request] = []
    client(lambda request: seen.append(request) or httpx.Response(200)).call("POST", "connectors", body={"name": "größe"})
    assert (json.loads(seen[0].content), seen[0].headers["Content-Type"]) == ({"name": "größe"}, "application/json")
