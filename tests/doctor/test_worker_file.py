"""Worker files with one thing wrong, read by the doctor: no broker, no Java."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from headrace.doctor import worker_file
from headrace.doctor.finding import Severity
from headrace.rest import passwords
from tests.certificates import Certificates
from tests.java_plugins.archives import scanned
from tests.process import worker_properties

THRIFT = "com.x.ThriftConverter"
OPEN, CLEAR = "ANYBODY WHO REACHES", "Passwords cross the network in the clear"


def found(changes: Mapping[str, str], scans: bool = True) -> list[tuple[str, str]]:
    """Status and message of what is not well."""
    props = worker_properties("doctor", "http://127.0.0.1:0") | {"bootstrap.servers": "localhost:9092", **changes}
    findings = worker_file.read(props, scans)[1]
    return [(finding.status.value, finding.message) for finding in findings if finding.status is not Severity.OK]


@pytest.fixture
def plugin_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with scanned(monkeypatch, tmp_path, THRIFT, "converter") as path:
        yield path


def test_a_converter_on_the_plugin_path_is_right(plugin_path: str) -> None:
    assert found({"plugin.path": plugin_path, "key.converter": THRIFT}, scans=True) == []


def test_without_the_jars_the_remedy_says_what_is_missing(plugin_path: str) -> None:
    props = {"plugin.path": plugin_path, "key.converter": THRIFT, "bootstrap.servers": "localhost:9092", "group.id": "g"}
    config, findings = worker_file.read(props, scans=False)
    assert config is None
    assert findings[0].remedy.endswith("a class on plugin.path is found once Java and the jars are there")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rest.authentication": "basic"}, "rest.authentication=basic needs rest.authentication.users.file"),
        ({"rest.authentication": "basic", "rest.authentication.users.file": "/nope"}, "/nope"),
        ({"rest.extension.classes": "com.x.Y"}, "com.x.Y is a Java class"),
        ({"listeners": "https://127.0.0.1:0"}, "An https:// listener needs a key"),
        ({"listeners": "http://127.0.0.1:99999"}, "a port that is not between 0 and 65535"),
        ({"admin.listeners": "http://127.0.0.1:99999"}, "a port that is not between 0 and 65535"),
        ({"admin.listeners": "https://127.0.0.1:0"}, "An https:// listener needs a key"),
        ({"response.http.headers.config": "bogus"}, "bogus"),
        (
            {"openlineage.integration.enabled": "true", "openlineage.integration.job.owners": "nonsense"},
            "it has to be of the form role=name",
        ),
    ],
)
def test_what_no_worker_starts_with_is_wrong(changes: dict[str, str], message: str) -> None:
    ((status, said),) = found(changes)
    assert status == "wrong"
    assert message in said


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"listeners": "http://0.0.0.0:0", "ssl.client.auth": "required"}, f"{OPEN} http://0.0.0.0:0"),
        ({"admin.listeners": "http://0.0.0.0:0"}, f"{OPEN} http://0.0.0.0:0"),
        ({"listeners": "http://:0", "users": "admin"}, f"{CLEAR} at http://:0"),
    ],
)
def test_a_listener_that_is_open_to_the_network_is_warned_of(changes: dict[str, str], message: str, tmp_path: Path) -> None:
    if changes.pop("users", None):
        (tmp_path / "users").write_text(f"anna=admin:{passwords.hashed('anna')}\n")
        changes = {**changes, "rest.authentication": "basic", "rest.authentication.users.file": str(tmp_path / "users")}
    ((status, said),) = found(changes)
    assert (status, said[: len(message)]) == ("warning", message)


@pytest.mark.slow
def test_a_listener_that_asks_for_certificates_is_not_open(tmp_path: Path) -> None:
    made = Certificates(tmp_path)
    names = {"ssl.keystore.type": "PEM", "ssl.keystore.location": made.path("server.pem")}
    names |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": made.path("ca.pem")}
    props = {"listeners": "https://0.0.0.0:0", **{f"listeners.https.{name}": value for name, value in names.items()}}
    assert found({**props, "listeners.https.ssl.client.auth": "required"}) == []
    assert [status for status, _ in found(props)] == ["warning"]
