"""The client of registries, against the one in memory."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from headrace.embedded.ports import free_port
from headrace.errors import ConfigError, ConnectError, DataError, RetriableError
from headrace.registry.client import Registry
from headrace.registry.errors import RegistryError, RegistryUnavailableError
from headrace.registry.options import RegistryConfig
from headrace.registry.settings import RegistrySettings, registry_settings
from headrace.registry.subjects import strategy_of, subject_of
from headrace.testing.registry import SchemaRegistry
from tests.certificates import PASSWORD, Certificates
from tests.registry.scripted_server import response, scripted_server

QUICK = {"max.retries": "1", "retries.wait.ms": "1"}
TEXT = '"string"'


def settings(url: str, **props: str) -> RegistrySettings:
    """Of properties, written with `_` for `.`."""
    options = {"schema.registry.url": url, **QUICK, **{key.replace("_", "."): value for key, value in props.items()}}
    return registry_settings(RegistryConfig(options))


def client(url: str, **props: str) -> Registry:
    return Registry(settings(url, **props))


def test_a_schema_is_registered_and_asked_for_once(registry: SchemaRegistry) -> None:
    registry_client = client(registry.url)
    id = registry_client.register("orders-value", TEXT)
    assert registry_client.register("orders-value", TEXT) == id
    assert [registry_client.schema(id).text for _ in range(3)] == [TEXT] * 3
    assert registry.requests == ["POST /subjects/orders-value/versions", f"GET /schemas/ids/{id}"]
    assert registry_client.lookup("orders-value", TEXT) == id
    assert registry_client.latest("orders-value").text == TEXT
    assert [(place.subject, place.version) for place in registry_client.subject_versions(id)] == [("orders-value", 1)]
    assert registry_client.schema(registry.store.schemas[id].guid).id == id


def test_answers_that_were_not_used_for_longest_are_asked_for_again(
    registry: SchemaRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.registry.client._MAX_CACHED_RESPONSES", 3)
    ids = [registry.register(f"s{n}", {"type": "fixed", "name": "F", "size": n}) for n in range(1, 5)]
    registry_client = client(registry.url)
    for id in [*ids[:3], ids[0], ids[3], ids[0], ids[1]]:  # the fourth drives out the second, which was not used since
        registry_client.schema(id)
    asked = [int(request.rpartition("/")[2]) for request in registry.requests if request.startswith("GET /schemas/ids/")]
    assert asked == [*ids, ids[1]]


def test_references_are_read_from_versions_that_are_softly_deleted(registry: SchemaRegistry) -> None:
    registry.register("items", {"type": "record", "name": "Item", "fields": []})
    reference = {"name": "Item", "subject": "items", "version": 1}
    id = registry.register("boxes", {"type": "array", "items": "Item"}, references=(reference,))
    for subject in ("boxes", "items"):
        registry.answer("DELETE", f"/subjects/{subject}", {}, None)
    registry_client = client(registry.url)
    assert [json.loads(text)["name"] for text in registry_client.reference_texts(registry_client.schema(id))] == ["Item"]


def test_a_subject_may_have_any_name(registry: SchemaRegistry) -> None:
    assert client(registry.url).register("a/b c?-value", TEXT) == 1
    assert list(registry.store.subjects) == ["a/b c?-value"]


def test_servers_that_do_not_answer_are_passed_over(registry: SchemaRegistry) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    assert client(f"{gone},{registry.url}").register("s", TEXT) == 1


def test_a_registry_that_is_down_may_be_asked_again_later(registry: SchemaRegistry) -> None:
    registry_client, url = client(registry.url), registry.url
    registry.stop()
    with pytest.raises(RegistryUnavailableError, match=f"The schema registry does not answer \\({url}\\)"):
        registry_client.register("s", TEXT)
    registry.start()
    assert registry_client.register("s", TEXT) == 1


def test_what_the_registry_refuses_is_said_in_its_words(registry: SchemaRegistry) -> None:
    registry_client = client(registry.url)
    with pytest.raises(RegistryError, match=r"refuses \(404, error 40403\): Schema 7 not found") as raised:
        registry_client.schema(7)
    assert raised.value.is_missing
    registry_client.register("s", '"int"')
    with pytest.raises(RegistryError, match=r'409.*incompatible with an earlier schema for subject "s".*TYPE_MISMATCH'):
        registry_client.register("s", '"string"')


@pytest.mark.parametrize("props", [
    {"basic_auth_credentials_source": "USER_INFO", "basic_auth_user_info": "anna:secret"},
    {"basic_auth_credentials_source": "USER_INFO", "schema_registry_basic_auth_user_info": "anna:secret"},
    {"schema_registry_basic_auth_credentials_source": "USER_INFO", "schema_registry_basic_auth_user_info": "anna:secret"},
    {"basic_auth_credentials_source": "SASL_INHERIT",
     "sasl_jaas_config": 'org.apache.PlainLoginModule required username="anna" password="secret";'},
])  # fmt: skip
def test_it_logs_in_by_name_and_password(props: dict[str, str]) -> None:
    with SchemaRegistry(user=("anna", "secret")) as registry:
        assert client(registry.url, **props).register("s", TEXT) == 1
        assert client(registry.url.replace("://", "://anna:secret@")).register("s", TEXT) == 1


def test_each_url_has_its_own_login() -> None:
    with SchemaRegistry(user=("anna", "secret")) as one, SchemaRegistry(user=("berta", "other")) as two:
        urls = one.url.replace("://", "://anna:secret@"), two.url.replace("://", "://berta:other@")
        both = client(",".join(urls))
        assert both.register("s", TEXT) == 1
        one.stop()
        assert both.register("t", TEXT) == 1
        with pytest.raises(RegistryError, match="401"):  # the login of the first is not sent to the second
            client(f"{urls[0]},{two.url}").register("t", TEXT)
        assert {"secret", "other"} <= set(settings(",".join(urls)).secrets)


def test_options_of_the_client_may_have_the_prefix_of_the_registry() -> None:
    given = {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": "t", "proxy_host": "p", "proxy_port": "8",
             "http_read_timeout_ms": "5", "ssl_endpoint_identification_algorithm": "none"}  # fmt: skip
    prefixed = settings("http://host", **{f"schema_registry_{name}": value for name, value in given.items()})
    assert (prefixed.headers, prefixed.proxy, prefixed.read_ms) == ((("Authorization", "Bearer t"),), "http://p:8", 5)
    assert prefixed.tls == (("ssl.endpoint.identification.algorithm", ""),)
    assert settings("http://host", schema_registry_http_read_timeout_ms="5", http_read_timeout_ms="6").read_ms == 6
    with pytest.raises(ConfigError, match=r"http\.read\.timeout\.ms"):
        settings("http://host", schema_registry_http_read_timeout_ms="x")


def test_a_wrong_login_is_named_and_shown_nowhere() -> None:
    with SchemaRegistry(user=("anna", "secret")) as registry:
        registry_settings = settings(registry.url.replace("://", "://anna:wrong-word@"))
        with pytest.raises(RegistryError, match=r"refuses \(401, error 401\): Unauthorized; check basic.auth") as raised:
            Registry(registry_settings).register("s", TEXT)
        assert "wrong-word" not in str(raised.value) + repr(registry_settings)
    with pytest.raises(ConfigError) as invalid:
        settings("ftp://anna:wrong-word@host")
    assert "wrong-word" not in str(invalid.value)


@pytest.fixture
def tokens() -> Iterator[tuple[str, list[str]]]:
    """Where a token is had, and the forms that were sent there."""
    forms: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            forms.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            body = json.dumps({"access_token": "t0k3n", "expires_in": 3600}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/token", forms
    server.shutdown()
    server.server_close()


def test_it_sends_a_token(registry: SchemaRegistry, tokens: tuple[str, list[str]]) -> None:
    registry.token = "t0k3n"
    static = {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": "t0k3n"}
    assert client(registry.url, **static).register("s", TEXT) == 1
    oauth = {
        "bearer_auth_credentials_source": "OAUTHBEARER", "bearer_auth_issuer_endpoint_url": tokens[0],
        "bearer_auth_client_id": "id", "bearer_auth_client_secret": "secret", "bearer_auth_scope": "schemas",
    }  # fmt: skip
    registry_client = client(registry.url, **oauth)
    assert [registry_client.register(f"s{n}", TEXT) for n in range(2)] == [1, 1]
    assert tokens[1] == ["grant_type=client_credentials&scope=schemas"]
    with pytest.raises(RegistryError, match="401"):
        client(registry.url).register("s", TEXT)


def oauth(url: str) -> dict[str, str]:
    return {
        "bearer_auth_credentials_source": "OAUTHBEARER", "bearer_auth_issuer_endpoint_url": url,
        "bearer_auth_client_id": "id", "bearer_auth_client_secret": "s3cr3t-word",
    }  # fmt: skip


GRANTED = response(body='{"access_token": "t0k3n"}')


def test_a_token_endpoint_that_does_not_answer_is_asked_again(registry: SchemaRegistry) -> None:
    registry.token = "t0k3n"
    with scripted_server(response("503 Service Unavailable", "<html>"), GRANTED) as script:
        assert client(registry.url, **oauth(script.url)).register("s", TEXT) == 1
        assert len(script.requests) == 2
        assert "accept: application/vnd" not in script.requests[0].lower()
    with (
        scripted_server(response("429 Too Many Requests")) as script,
        pytest.raises(RegistryUnavailableError, match=f"no token, as {script.url} answered 429 Too Many Requests"),
    ):
        client(registry.url, **oauth(script.url)).register("s", TEXT)


@pytest.mark.parametrize(("sent", "why"), [
    (response("401 Unauthorized", "<html>"), "answered 401 Unauthorized; check bearer.auth.client.id"),
    (response("302 Found", Location="http://localhost/login"), "answered 302 Found; check bearer.auth.client.id"),
    (response(body="<html>"), "has no access_token; check bearer.auth.issuer.endpoint.url"),
    (response(body="[]"), "has no access_token"), (response(body='{"access_token": 1}'), "has no access_token"),
    (response(body='{"access_token": "s3cr3t-word\\n"}'), "has no access_token"),
    (response(body='{"access_token": "s3cr3t-w\u00f6rd"}'), "has no access_token"),
])  # fmt: skip
def test_what_is_no_token_is_said_in_a_sentence(sent: bytes, why: str) -> None:
    with scripted_server(sent) as script, pytest.raises(ConnectError, match=re.escape(why)) as raised:
        client("http://localhost:1", max_retries="0", **oauth(script.url)).register("s", TEXT)
    assert not isinstance(raised.value, RetriableError)
    assert "s3cr3t" not in str(raised.value)


def test_a_token_is_fetched_through_the_proxy(registry: SchemaRegistry) -> None:
    with scripted_server(GRANTED, response(body='{"id": 7}')) as script:
        _, _, port = script.url.rpartition(":")
        proxy = {"proxy_host": "127.0.0.1", "proxy_port": port}
        assert client("http://registry.invalid", **proxy, **oauth("http://tokens.invalid/token")).register("s", TEXT) == 7
        assert [request.split()[:2] for request in script.requests] == [
            ["POST", "http://tokens.invalid/token"], ["POST", "http://registry.invalid/subjects/s/versions"],
        ]  # fmt: skip
        assert "Authorization: Basic" in script.requests[0]
        assert "Authorization: Bearer t0k3n" in script.requests[1]


@pytest.mark.slow
def test_a_token_is_fetched_with_the_certificates_of_the_registry(tmp_path: Path, registry: SchemaRegistry) -> None:
    made = Certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.path("server.pem"))
    trust = {"schema_registry_ssl_truststore_type": "PEM", "schema_registry_ssl_truststore_location": made.path("ca.pem")}
    registry.token = "t0k3n"
    with scripted_server(GRANTED, tls=context) as script:
        assert client(registry.url, **trust, **oauth(script.url)).register("s", TEXT) == 1
        with pytest.raises(RegistryUnavailableError, match=r"no token, as .*certificate verify failed"):
            client(registry.url, **oauth(script.url)).register("s", TEXT)


@pytest.mark.slow
def test_it_shows_a_certificate(tmp_path: Path) -> None:
    made = Certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.path("server.pem"))
    context.load_verify_locations(made.path("ca.pem"))
    context.verify_mode = ssl.CERT_REQUIRED
    prefix = "schema_registry_ssl_"
    trust = {f"{prefix}truststore_type": "PEM", f"{prefix}truststore_location": made.path("ca.pem")}
    key = {f"{prefix}keystore_type": "PEM", f"{prefix}keystore_location": made.path("client.pem"),
           f"{prefix}key_password": PASSWORD}  # fmt: skip
    with SchemaRegistry(tls=context) as registry:
        assert client(registry.url, **trust, **key).register("s", TEXT) == 1
        with pytest.raises(RegistryUnavailableError):
            client(registry.url, **trust).register("s", TEXT)


def test_what_is_no_registry_is_named() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    with pytest.raises(ConnectError, match="is no schema registry: it sends no JSON"):
        client(f"http://127.0.0.1:{server.server_port}").schema(1)
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("props", "why"), [
    ({"basic_auth_credentials_source": "USER_INFO"}, "has to be name:password"),
    ({"basic_auth_credentials_source": "OTHER"}, "it has to be URL, USER_INFO or SASL_INHERIT"),
    ({"bearer_auth_credentials_source": "STATIC_TOKEN"}, "bearer.auth.token is missing"),
    ({"bearer_auth_credentials_source": "OAUTHBEARER"}, "OAUTHBEARER needs"),
    ({"proxy_host": "http://p", "proxy_port": "8080"}, "value http://p for configuration proxy.host: it has to be a host"),
    ({"proxy_host": "p:1", "proxy_port": "8080"}, "Invalid value p:1 for configuration proxy.host: it has to be a host"),
    ({"proxy_host": "::1", "proxy_port": "8080"}, "value ::1 for configuration proxy.host: .*; an IPv6 address in brackets"),
    ({"proxy_host": "p", "proxy_port": "70000"}, "proxy.port: Value must be no more than 65535"),
    ({"basic_auth_credentials_source": "SASL_INHERIT", "sasl_jaas_config": 'OAuthBearerLoginModule required clientId="x";'},
     "SASL_INHERIT, but sasl.jaas.config has no username"),
    ({"basic_auth_credentials_source": "SASL_INHERIT", "sasl_jaas_config": 'PlainLoginModule required username="x";'},
     "SASL_INHERIT, but sasl.jaas.config has no password"),
])  # fmt: skip
def test_settings_that_cannot_be_are_refused(props: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        settings("http://localhost", **props)


def test_subjects_are_named_as_confluents_clients_name_them() -> None:
    package = "io.confluent.kafka.serializers.subject."
    strategies = [strategy_of("o", package + name) for name in ("TopicNameStrategy", "RecordNameStrategy")]
    assert subject_of(strategies[0], "t", True, None) == "t-key"
    assert subject_of(strategies[1], "t", False, "a.B") == "a.B"
    assert subject_of("TopicRecordNameStrategy", "t", False, "a.B") == "t-a.B"
    with pytest.raises(DataError, match="the message value must only be a record schema"):
        subject_of("RecordNameStrategy", "t", False, None)
    with pytest.raises(ConfigError, match="MyStrategy"):
        strategy_of("value.subject.name.strategy", "com.example.MyStrategy")
