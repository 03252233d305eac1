"""Whatever a server answers, the client has one sentence for it, without secrets."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.converters.base import load
from headrace.errors import ConfigError, ConnectError
from headrace.registry import response as registry_response
from headrace.registry.client import Registry
from headrace.registry.errors import InvalidResponseError, RegistryError, RegistryUnavailableError
from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import AVRO
from tests.registry.scripted_server import ScriptedServer, response, scripted_server
from tests.registry.test_client import TEXT, client

HTML = "<html>\n<h1>nginx</h1>\n</html>"
SECRET = "s3cr3t-word"
LOGIN = {"basic_auth_credentials_source": "USER_INFO", "basic_auth_user_info": f"anna:{SECRET}"}
REQUESTS: list[Callable[[Registry], Any]] = [
    lambda registry: registry.schema(1), lambda registry: registry.register("s", TEXT), lambda registry: registry.latest("s"),
    lambda registry: registry.subject_versions(1),
]  # fmt: skip


def failure(script: ScriptedServer, request: Callable[[Registry], Any] = REQUESTS[0], **props: str) -> ConnectError:
    with pytest.raises(ConnectError) as raised:
        request(client(script.url, max_retries="0", **{**LOGIN, **props}))
    assert isinstance(raised.value, RegistryError | InvalidResponseError | RegistryUnavailableError)
    assert "\n" not in str(raised.value)
    assert SECRET not in str(raised.value)
    return raised.value


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "413 Payload Too Large", "422 "])
@pytest.mark.parametrize("body", [HTML, "", "[]", '"no"', '{"error_code": "x", "message": 7}', b"\xff\xfe"])
def test_a_refusal_is_one_whatever_its_body_is(status: str, body: str) -> None:
    with scripted_server(response(status, body)) as script:
        error = failure(script)
    assert isinstance(error, RegistryError), error
    assert (error.http_status, error.code) == (int(status[:3]), int(status[:3]))
    assert f"refuses ({status[:3]}, error {status[:3]}): {status[4:] or 'no reason given'}" in str(error)
    assert error.refuses_login == (status[:3] in ("401", "403"))
    assert error.refuses_login == ("check basic.auth.credentials.source" in str(error))


@pytest.mark.parametrize(("body", "why"), [
    (json.dumps({"error_code": 50002, "message": f"Register operation\n timed out {SECRET}"}),
     "500 Internal Server Error: Register operation timed out [hidden]"),
    (HTML, "500 Internal Server Error"), ('{"message": 7}', "500 Internal Server Error"),
])  # fmt: skip
def test_a_registry_that_cannot_answer_now_may_say_why(body: str, why: str) -> None:
    with scripted_server(response("500 Internal Server Error", body)) as script:
        error = failure(script)
    assert isinstance(error, RegistryUnavailableError)
    assert str(error).endswith(f"it answered {why}")


@pytest.mark.parametrize("status", ["404 Not Found", "400 Bad Request", "405 Method Not Allowed"])
@pytest.mark.parametrize("body", [HTML, "404 page not found", "", "{}", '{"error_code": "x", "message": 7}'])
def test_a_refusal_without_a_code_of_the_registry_is_that_of_a_proxy(status: str, body: str) -> None:
    with scripted_server(response(status, body)) as script:
        error = failure(script)
    assert isinstance(error, InvalidResponseError), error
    assert str(error) == f"What answers at {script.url} is no schema registry: it answers {status} without an error_code."


def test_an_id_that_a_proxy_does_not_find_is_asked_for_again() -> None:
    with scripted_server(response("404 Not Found", HTML)) as script:
        converter: Any = load(AVRO, {"schema.registry.url": script.url, "max.retries": "0"}, is_key=False)
        for _ in range(2):  # no record is left out for it
            with pytest.raises(InvalidResponseError, match="it answers 404 Not Found without an error_code"):
                converter.look_up(["1"])
        assert len(script.requests) == 2
        guid = "0f1e2d3c-0000-4000-8000-0123456789ab"  # for which an older registry has no path: an error of the record
        converter.look_up([guid])
        assert converter._known(guid).endswith(
            f"There is no /schemas/guids/{guid} of {script.url}: the registry answers 404 without an error_code."
        )


def test_a_schema_whose_reference_a_proxy_does_not_find_is_asked_for_again() -> None:
    schema = {"schema": '"R"', "references": [{"name": "R", "subject": "s", "version": 1}]}
    with scripted_server(response(body=json.dumps(schema)), response(body="[]"), response("404 Not Found", HTML)) as script:
        converter: Any = load(AVRO, {"schema.registry.url": script.url, "max.retries": "0"}, is_key=False)
        for requests in (3, 4):
            with pytest.raises(InvalidResponseError, match="it answers 404 Not Found without an error_code"):
                converter.look_up(["7"])
            assert len(script.requests) == requests


@pytest.mark.parametrize("options", [
    {}, {"auto.register.schemas": "false"}, {"auto.register.schemas": "false", "use.latest.version": "true"},
    {"auto.register.schemas": "false", "use.schema.id": "1"},
])  # fmt: skip
@pytest.mark.parametrize(
    "sent", [response("404 Not Found", HTML), response(body=HTML), response("302 Found", Location="http://x/")]
)
def test_a_schema_that_no_registry_was_there_to_take_is_asked_for_again(options: dict[str, str], sent: bytes) -> None:
    request = json.dumps({"topic": "orders", "schema": '{"type": "string"}'})
    with scripted_server(sent) as script:
        converter: Any = load(AVRO, {"schema.registry.url": script.url, "max.retries": "0", **options}, is_key=False)
        for requests in (1, 2):
            with pytest.raises(InvalidResponseError):  # its records would be left out until the task restarts
                converter.learn([request])
            assert len(script.requests) == requests


@pytest.mark.parametrize(("request_number", "body", "why"), [
    (0, "", "it sends no JSON"), (0, HTML, "it sends no JSON"), (0, "[" * 100_000, "it sends no JSON"), (0, b"\xff", "no JSON"),
    (0, "[]", "its response is no JSON object"), (0, "null", "its response is no JSON object"),
    (0, "{}", "its response has no text schema"), (0, '{"schema": 1}', "no text schema"),
    (0, '{"schema": "", "schemaType": 1}', "no text schemaType"),
    (0, '{"schema": "", "references": {"a": 1}}', "no list of JSON objects"),
    (0, '{"schema": "", "references": [{"name": "a", "subject": "s"}]}', "no number version"),
    (0, '{"schema": "", "references": [1]}', "no JSON object"), (0, '{"schema": "", "id": null}', "no number id"),
    (1, "{}", "no number id"), (1, '{"id": true}', "no number id"), (1, '{"id": 2147483648}', "no number id"),
    (1, '{"id": 1.5}', "no number id"), (1, '{"id": "x"}', "no number id"), (1, "[1]", "no JSON object"),
    (1, "1", "no JSON object"),
    (2, '{"id": []}', "no number id"), (3, "{}", "no list of JSON objects"), (3, '[{"subject": 1}]', "no text subject"),
])  # fmt: skip
def test_a_response_of_another_shape_is_no_registrys(request_number: int, body: str | bytes, why: str) -> None:
    with scripted_server(response(body=body)) as script:
        error = failure(script, REQUESTS[request_number])
    assert isinstance(error, InvalidResponseError), error
    assert script.url in str(error)
    assert str(error).startswith("What answers at ")
    assert str(error).endswith(f"{why}.")


def test_a_schema_is_read_without_the_names_of_its_subjects() -> None:
    with scripted_server(response(body=json.dumps({"schema": '"string"'})), response(body=HTML)) as script:
        converter: Any = load(AVRO, {"schema.registry.url": script.url, "max.retries": "0"}, is_key=False)
        converter.look_up(["7"])
        converter.look_up(["7"])
        read = converter.registered(b"\0" + (7).to_bytes(4) + b"\x02a", "orders")
    assert read == {"id": 7, "subject": None, "version": None}


def test_an_id_may_be_written_as_text() -> None:
    with scripted_server(response(body='{"id": "12"}')) as script:
        assert client(script.url).register("s", TEXT) == 12


def test_a_response_that_cannot_be_decoded_or_is_too_large_is_no_response(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(response(body=b"no gzip", Content_Encoding="gzip")) as script:
        assert isinstance(failure(script), RegistryUnavailableError)
    monkeypatch.setattr(registry_response, "_MAX_SIZE", 1 << 20)
    bomb = gzip.compress(b" " * (1 << 22))
    with scripted_server(response(body=bomb, Content_Encoding="gzip")) as script:
        assert "its response has more than 1 MiB" in str(failure(script))


@pytest.mark.parametrize(
    "first",
    [
        response("500 Internal Server Error", HTML),
        response(body=HTML),
        response("302 Found", Location="/x"),
        response("404 Not Found", HTML),
    ],
)
def test_another_server_is_asked_if_the_first_is_no_registry(registry: SchemaRegistry, first: bytes) -> None:
    with scripted_server(first) as script:
        registry_client = client(f"{script.url},{registry.url}")
        assert registry_client.register("s", TEXT) == 1
        assert registry_client.schema(1).text == TEXT
        assert len(script.requests) == 1  # the server that answered last is the first to be asked


def test_redirects_of_reading_requests_are_followed_within_the_host(registry: SchemaRegistry) -> None:
    registry.register("s", TEXT)
    with scripted_server(response("301 Moved Permanently", Location=f"{registry.url}/schemas/ids/1")) as script:
        assert client(script.url).schema(1).text == TEXT
        error = failure(script, REQUESTS[1])
        assert f"is no schema registry: it redirects (301) to {registry.url}/schemas/ids/1; set schema.registry.url" in str(error)
    with scripted_server(response("302 Found", Location=f"http://anna:{SECRET}@localhost:1/x?token={SECRET}")) as script:
        assert "it redirects (302) to http://localhost:1/x; set" in str(failure(script))
    with scripted_server(response("302 Found", Location="/x")) as script:
        assert "it redirects more than 5 times" in str(failure(script))
        assert len(script.requests) == 5


def test_a_secret_that_a_server_repeats_is_hidden() -> None:
    def told(script: ScriptedServer, **props: str) -> str:
        registry_client = client(script.url, max_retries="0", **props)
        with pytest.raises(ConnectError) as raised:
            registry_client.schema(1)
        return str(raised.value)

    with scripted_server(response("403 Forbidden", "{}")) as script:
        told(script, **LOGIN)
        sent = next(line for line in script.requests[0].split("\r\n") if line.startswith("Authorization: "))
        for text in (sent, sent.removeprefix("Authorization: Basic "), f"anna:{SECRET}", f"wrong password {SECRET}"):
            script.responses = [response("403 Forbidden", json.dumps({"message": f"no:\n{text}!"}))]
            assert "[hidden]!" in told(script, **LOGIN)
            assert SECRET not in told(script, **LOGIN)
            assert sent[-8:] not in told(script, **LOGIN)
        script.responses = [response("403 Forbidden", json.dumps({"message": f"no: {SECRET}!"}))]
        token = {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": SECRET}
        assert ": no: [hidden]!" in told(script, **token)
        assert ": no: [hidden]!" in told(script, **{"request_header_X-Api-Key": SECRET})


@pytest.mark.parametrize("url", [
    f"http://anna:{SECRET}/x@host", f"http://anna:12/{SECRET}@host", f"http://anna:12?{SECRET}@host", f"http://anna:{SECRET}@[::1",
    f"http://anna:{SECRET}@host:port", f"http://anna:{SECRET}@host:99999", f"http://anna:{SECRET}@ho st", f"ftp://anna:{SECRET}@host",
    f"http://anna:{SECRET}@", f"http://anna:{SECRET}@host\nx", f"http://anna:{SECRET}@[x]/",
])  # fmt: skip
def test_a_url_that_cannot_be_is_refused_without_its_login(url: str) -> None:
    with pytest.raises(ConfigError, match=r"for configuration schema.registry.url: it has to begin with") as raised:
        client(url)
    assert SECRET not in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("login", ["anna%3Ab:p%25w%40d%2F:x", "anna:p%C3%A9", "anna:a:b:c", "an%na:%zz"])
def test_a_login_in_a_url_may_have_any_character(login: str) -> None:
    name, _, password = {"anna%3Ab:p%25w%40d%2F:x": "anna:b:p%w@d/:x", "anna:p%C3%A9": "anna:pé"}.get(login, login).partition(":")
    with SchemaRegistry(user=(name, password)) as registry:
        assert client(registry.url.replace("://", f"://{login}@")).register("s", TEXT) == 1


@pytest.mark.parametrize("props", [
    {"request_header_Tenant": "a\r\nX: b"}, {"request_header_Tenant": "é"}, {"request_header_a b": "c"},
    {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": f"{SECRET}\n{SECRET}"},
])  # fmt: skip
def test_headers_that_cannot_be_sent_are_refused(props: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="cannot be sent") as raised:
        client("http://localhost", **props)
    assert SECRET not in str(raised.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["id", "schema", "schemaType", "references", "error_code", "message", "subject", "version", "name"]),
        inner,
    ),
)  # fmt: skip
BODIES = st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()) | st.just(HTML.encode())
STATUSES = st.integers(100, 599).map(lambda status: f"{status} Status")
HEADERS = st.sampled_from([{}, {"Location": "/x"}, {"Location": "http://[x"}, {"Content_Encoding": "gzip"}, {"Retry_After": "x"},
                           {"Content_Type": "application/json; charset=nonsense"}, {"Transfer_Encoding": "chunked"}])  # fmt: skip
RESPONSES = st.one_of(
    st.builds(lambda status, body, headers: response(status, body, **headers), STATUSES, BODIES, HEADERS),
    st.binary(max_size=60),
    st.builds(lambda body, size: response(body=body)[:size], BODIES, st.integers(0, 90)),
)


@given(RESPONSES, st.sampled_from(REQUESTS))
@settings(deadline=None)
def test_any_response_is_a_result_or_one_sentence(sent: bytes, request: Callable[[Registry], Any]) -> None:
    with scripted_server(sent) as script:
        try:
            request(client(script.url, max_retries="0", http_read_timeout_ms="2000", **LOGIN))
        except (RegistryError, InvalidResponseError, RegistryUnavailableError) as error:
            assert "\n" not in str(error)
            assert SECRET not in str(error)


@pytest.mark.parametrize("name", ["avro.AvroConverter", "json.JsonSchemaConverter", "protobuf.ProtobufConverter"])
def test_a_restarted_task_registers_its_schema_again(registry: SchemaRegistry, name: str) -> None:
    request = json.dumps({"topic": "orders", "schema": '{"type":"struct","name":"R","fields":[{"type":"string","field":"a"}]}'})

    def start() -> Any:
        return load(f"io.confluent.connect.{name}", {"schema.registry.url": registry.url}, is_key=False)

    converter = start()
    converter.learn([request])
    sent = len(registry.requests)
    converter.learn([request])
    assert len(registry.requests) == sent  # as long as the task runs
    store = registry.store
    store.delete("orders-value", store.versions("orders-value"), permanent=True)
    start().learn([request])
    assert len(store.versions("orders-value")) == 1
