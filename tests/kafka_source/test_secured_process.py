"""A worker as operators run it beyond their own machine: HTTPS, users with roles, its log and metrics over REST."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.rest import passwords
from tests.certificates import Certificates
from tests.cli.command import headrace
from tests.process import WorkerProcess, worker_properties
from tests.support import wait_until

SECRET = "brokers-that-nobody-may-know.invalid:9092"
ANNA, RITA = ("anna", "anna's password"), ("rita", "rita's password")
FAILING = {
    "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": "${file:FILE:servers}",
    "source.topic.whitelist": "orders", "topic.list.timeout.ms": "500",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def secured(destination_broker: Broker, made: Certificates) -> Iterator[WorkerProcess]:
    users = made.directory / "users"
    users.write_text("".join(f"{name}={role}:{passwords.hashed(password)}\n" for (name, password), role in
                             ((ANNA, "admin"), (RITA, "read"))))  # fmt: skip
    (made.directory / "secrets").write_text(f"servers={SECRET}\n")
    properties = {
        **worker_properties("secured", f"https://localhost:{free_port()}"),
        "bootstrap.servers": destination_broker.bootstrap,
        "listeners.https.ssl.keystore.type": "PEM", "listeners.https.ssl.keystore.location": made.path("server.pem"),
        "rest.authentication": "basic", "rest.authentication.users.file": str(users),
        "config.providers": "file", "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }  # fmt: skip
    with WorkerProcess(made.directory, properties) as worker:
        yield worker.await_ready()


@pytest.fixture
def as_user(secured: WorkerProcess, made: Certificates) -> Iterator[Any]:
    """A client: `as_user(ANNA)`, None for a stranger."""
    trusting = ssl.create_default_context(cafile=made.path("ca.pem"))
    clients: list[httpx.Client] = []

    def client(who: tuple[str, str] | None) -> httpx.Client:
        clients.append(httpx.Client(base_url=secured.url, auth=who, verify=trusting, timeout=60))
        return clients[-1]

    yield client
    for one in clients:
        one.close()


def test_users_do_over_https_what_their_role_allows_and_see_why_a_connector_failed(
    secured: WorkerProcess, made: Certificates, as_user: Any
) -> None:
    stranger, rita, anna = as_user(None), as_user(RITA), as_user(ANNA)
    config = {key: value.replace("FILE", made.path("secrets")) for key, value in FAILING.items()}
    assert stranger.get("/connectors").status_code == 401
    assert stranger.get("/health").status_code == 200
    assert rita.post("/connectors", json={"name": "c", "config": config}).status_code == 403
    created = anna.post("/connectors", json={"name": "c", "config": config})
    assert (created.status_code, created.headers["location"]) == (201, f"{secured.url}/connectors/c")

    def failed() -> bool:
        answer = rita.get("/connectors/c/status")
        return answer.status_code == 200 and answer.json()["connector"]["state"] == "FAILED"

    wait_until(failed, 180, "the connector fails")
    entries = rita.get("/headrace/connectors/c/logs?level=ERROR").json()["entries"]
    assert [(e["level"], e["event"], e["task"]) for e in entries] == [("ERROR", "connector.failed", None)]
    assert "ConnectException" in entries[0]["details"]["cause"]
    every = rita.get("/headrace/connectors/c/logs").json()["entries"]
    assert {"Retrieving initial topic list from kafka.", "connector.failed"} <= {e["event"] for e in every}
    assert 'kafka_connect_connector_metrics_status_info{connector="c",status="failed"} 1.0' in rita.get("/metrics").text
    for shown in (str(every), rita.get("/connectors/c/status").text, rita.get("/metrics").text, secured.errors):
        assert SECRET not in shown
        assert "rita's password" not in shown

    url = secured.url.replace("https://", "https://rita:rita's%20password@")
    environ = {"SSL_CERT_FILE": made.path("ca.pem")}
    told = headrace("connectors", "logs", "c", "--url", url, environ=environ)
    assert (told.returncode, told.stderr) == (0, "")
    assert f"ERROR {secured.url.removeprefix('https://')} connector.failed" in told.stdout
    refused = headrace("connectors", "pause", "c", "--url", url, environ=environ)
    assert (refused.returncode, refused.stderr) == (1, "error: This needs the role operate; rita has read.\n")


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("lines=many", "'lines' is 'many'; it has to be a whole number from 0 on."),
        ("task=-1", "'task' is '-1'; it has to be a whole number from 0 on."),
        ("level=LOUD", "'level' is 'LOUD'; it has to be one of ALL, TRACE, DEBUG, INFO, WARN, ERROR, FATAL, OFF."),
    ],
)
def test_a_bad_look_at_the_log_is_one_sentence(query: str, complaint: str, as_user: Any) -> None:
    answer = as_user(RITA).get(f"/headrace/connectors/c/logs?{query}")
    assert (answer.status_code, answer.json()["message"]) == (400, complaint)


def test_the_log_of_an_unknown_connector_is_not_found(as_user: Any) -> None:
    assert as_user(RITA).get("/headrace/connectors/nobody/logs").status_code == 404
