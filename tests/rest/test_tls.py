"""https:// listeners of a real server, with stores of every kind."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping

import httpx
import pytest

from headrace.cluster.herder import Herder
from headrace.errors import ConfigError
from headrace.kafka.ssl_context import openssl_name
from headrace.rest import RestServer, tls
from tests.certificates import NEEDS_KEYTOOL, PASSWORD, Certificates
from tests.rest.conftest import worker_config

pytestmark = pytest.mark.slow

Serve = Callable[[Mapping[str, str]], str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secure(herder: Herder) -> Iterator[Serve]:
    """Starts a server with an https:// listener; returns its address."""
    servers = []

    def start(settings: Mapping[str, str]) -> str:
        servers.append(RestServer(herder, worker_config({"listeners": "https://localhost:0", **settings})))
        servers[-1].start()
        return servers[-1].urls[0]

    yield start
    for server in servers:
        server.stop()


def trusting(made: Certificates, client: bool = False) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=made.path("ca.pem"))
    if client:
        context.load_cert_chain(made.path("client.pem"))
    return context


def pem(made: Certificates) -> dict[str, str]:
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": made.path("server.pem")}


def test_a_key_and_its_chain_as_text_serve(made: Certificates, secure: Serve) -> None:
    url = secure({
        "ssl.keystore.type": "PEM", "ssl.keystore.key": made.text("server.key"),
        "ssl.keystore.certificate.chain": made.text("server.crt"),
    })  # fmt: skip
    assert url.startswith("https://localhost:")
    assert httpx.get(url + "/", verify=trusting(made), timeout=100).json()["version"] == "4.3.0"
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(url + "/", timeout=100)


def test_a_listener_of_each_scheme_serves_the_same(made: Certificates, secure: Serve) -> None:
    server = secure({**pem(made), "listeners": "http://localhost:0,https://localhost:0"})
    assert httpx.get(server + "/connectors", timeout=100).json() == []


@pytest.mark.parametrize("kind", ["PKCS12", pytest.param("JKS", marks=NEEDS_KEYTOOL)])
def test_a_javas_store_serves(kind: str, made: Certificates, secure: Serve) -> None:
    store = made.jks("server") if kind == "JKS" else made.path("server.p12")
    url = secure({"ssl.keystore.type": kind, "ssl.keystore.location": store, "ssl.keystore.password": PASSWORD})
    assert httpx.get(url + "/connectors", verify=trusting(made), timeout=100).json() == []


def test_clients_have_to_show_a_certificate_where_they_are_required_to(made: Certificates, secure: Serve) -> None:
    url = secure({
        **{f"listeners.https.{name}": value for name, value in pem(made).items()},
        "listeners.https.ssl.client.auth": "required",
        "listeners.https.ssl.truststore.type": "PEM", "listeners.https.ssl.truststore.location": made.path("ca.pem"),
        "ssl.keystore.location": "/not/for/listeners",
    })  # fmt: skip
    assert httpx.get(url + "/connectors", verify=trusting(made, client=True), timeout=100).json() == []
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError, httpx.ConnectError)):
        httpx.get(url + "/connectors", verify=trusting(made), timeout=100)


def test_workers_of_one_configuration_reach_each_other(made: Certificates, secure: Serve) -> None:
    settings = {
        **pem(made), "ssl.client.auth": "required",
        "ssl.truststore.type": "PEM", "ssl.truststore.certificates": made.text("ca.pem"),
    }  # fmt: skip
    url = secure(settings)
    assert httpx.get(url + "/connectors", verify=tls.client_context(worker_config(settings)), timeout=100).json() == []


def test_only_the_enabled_protocols_and_suites_are_spoken(made: Certificates, secure: Serve) -> None:
    suite = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
    url = secure({**pem(made), "ssl.enabled.protocols": "TLSv1.2", "ssl.cipher.suites": suite})
    context = trusting(made)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with pytest.raises(httpx.ConnectError):
        httpx.get(url + "/", verify=context, timeout=100)
    context = trusting(made)
    context.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(httpx.ConnectError):
        httpx.get(url + "/", verify=context, timeout=100)
    assert httpx.get(url + "/", verify=trusting(made), timeout=100).status_code == 200


@pytest.mark.parametrize(
    ("java", "openssl"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ("TLS_DHE_RSA_WITH_AES_256_CBC_SHA256", "DHE-RSA-AES256-SHA256"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
    ],
)
def test_suites_have_another_name_in_openssl(java: str, openssl: str) -> None:
    assert openssl_name(java) == openssl
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(openssl)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({}, "An https:// listener needs a key: set ssl.keystore.location, or ssl.keystore.key and its certificate chain."),
        ({"ssl.keystore.location": "/no/such.jks"}, "/no/such.jks cannot be read (No such file or directory)."),
        ({"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "server.p12", "ssl.keystore.password": "wrong"},
         "cannot be read as a store of type PKCS12 (keystore password was incorrect)."),
        ({"ssl.keystore.type": "PEM", "ssl.keystore.location": "server.crt"},
         "The key of ssl.keystore.* cannot be used (no key"),
        ({"ssl.keystore.type": "PEM", "ssl.keystore.location": "server.pem", "ssl.client.auth": "required"},
         "ssl.client.auth needs the certificates that clients are trusted by: set ssl.truststore.location."),
        ({"ssl.enabled.protocols": "SSLv3"}, "for configuration ssl.enabled.protocols: there are TLSv1.2 and TLSv1.3"),
    ],
)  # fmt: skip
def test_what_cannot_serve_is_one_sentence(settings: dict[str, str], complaint: str, made: Certificates, herder: Herder) -> None:
    if not settings.get("ssl.keystore.location", "/").startswith("/"):
        settings = {**settings, "ssl.keystore.location": made.path(settings["ssl.keystore.location"])}
    with pytest.raises(ConfigError) as error:
        RestServer(herder, worker_config({"listeners": "https://localhost:0", **settings}))
    assert complaint in str(error.value)
    assert "wrong" not in str(error.value)
