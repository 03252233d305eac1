"""A `plugin.path` with plugins that are compiled here, and with real ones from the Maven repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from headrace import plugins
from headrace.cli.plugins.add import add
from headrace.jvm.jars import classpath, wheel_jar
from headrace.jvm.java import find_java
from headrace.spark import plugin_scan

SOURCES = Path(__file__).with_name("java")
COUNTING = "org.example.CountingSourceConnector"
DEBEZIUM = "io.debezium:debezium-connector-postgres:3.6.1.Final:tar.gz:plugin"
NEEDY = "org.example.NeedyConnector"
SHOUT, IS_ODD, PLAIN = "org.example.Shout", "org.example.IsOdd", "org.example.PlainConverter"
AVRO = "io.confluent.connect.avro.AvroConverter"  # of a name that headrace has itself
THROWING_CONFIG, THROWING_VERSION = "org.example.ThrowingConfigConnector", "org.example.ThrowingVersionConnector"
JOURNAL = "org.example.JournalSinkConnector"
TEST_PLUGINS = "org.apache.kafka:connect-test-plugins:4.3.0"
RUNTIME_TESTS = "org.apache.kafka:connect-runtime:4.3.0:jar:test"
MONITORABLE = "org.apache.kafka.connect.integration.Monitorable{}Connector"
_MONITORABLE_CLASSES = (
    "connect/integration/(Monitorable|Testable|RuntimeHandles|ConnectorHandle|TaskHandle|StartAndStop).*[.]class|runtime/Sample"
)
MYSQL = "io.debezium:debezium-connector-mysql:3.6.1.Final:tar.gz:plugin"
MONGODB = "io.debezium:debezium-connector-mongodb:3.6.1.Final:tar.gz:plugin"
JDBC = "io.debezium:debezium-connector-jdbc:3.6.0.Final:tar.gz:plugin"
SOURCE, SINK = "connect.source.SourceConnector", "connect.sink.SinkConnector"
PROVIDER, VAULT = "common.config.provider.ConfigProvider", "org.example.Vault"
DESCRIBE, LABEL = "org.example.Describe", "org.example.Label"
DEFAULTED, REPLACE = "org.example.Defaulted", "org.example.Defaulted$Replace"
CHAIN = {
    "connect.transforms.Transformation": f"{SHOUT}\n{DESCRIBE}\n{REPLACE}\norg.example.ThrowingConstructor",
    "connect.transforms.predicates.Predicate": IS_ODD,
    "connect.storage.Converter": f"{PLAIN}\n{AVRO}\n{LABEL}",
    "connect.storage.HeaderConverter": LABEL,
}


def compiled(into: Path) -> Path:
    """The classes of the plugins that are made for these tests."""
    sources = [str(file) for file in sorted(SOURCES.rglob("*.java"))]
    logging = map(wheel_jar, ("slf4j-api", "log4j-api", "log4j-1.2-api"))
    class_path = os.pathsep.join([classpath("connect"), *map(str, logging)])
    command = [str(find_java().program), "-jar", classpath("compiler"), "-17", "-nowarn", "-cp", class_path]
    subprocess.run([*command, "-d", str(into), *sources], check=True, capture_output=True)
    return into


def archive(path: Path, classes: Path, version: str, services: Mapping[str, str], leave_out: str = "-") -> None:
    """A jar with these classes but those of a name, and a manifest that names the plugins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as jar:
        for file in sorted(classes.rglob("*.class")):
            if leave_out not in file.name:
                jar.write(file, file.relative_to(classes))
        for interface, name in services.items():
            jar.writestr(f"META-INF/services/org.apache.kafka.{interface}", name)
        jar.writestr("version.txt", version)


def of_kafkas_tests(path: Path, scratch: Path) -> None:
    """A jar with the two connectors that Kafka tests metrics of plugins with, out of the archive of all its tests."""
    add([RUNTIME_TESTS], scratch)
    (whole,) = scratch.glob("*/*.jar")
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(whole) as tests, zipfile.ZipFile(path, "w") as jar:
        for name in tests.namelist():
            if re.search(_MONITORABLE_CLASSES, name):
                jar.writestr(name, tests.read(name))
        for interface, name in ((SOURCE, MONITORABLE.format("Source")), (SINK, MONITORABLE.format("Sink"))):
            jar.writestr(f"META-INF/services/org.apache.kafka.{interface}", name)


def plugin_path(directory: Path) -> Path:
    """Two versions of one connector, one that needs what is not there, a broken archive, an uber jar, a zip, and real ones."""
    classes = compiled(directory / "classes")
    path = directory / "plugins"
    archive(path / "counting-1" / "counting.jar", classes, "1.0", {SOURCE: COUNTING, **CHAIN})
    archive(path / "throwing" / "throwing.jar", classes, "1.0", {SOURCE: f"{THROWING_CONFIG}\n{THROWING_VERSION}"})
    archive(path / "counting-2" / "counting.jar", classes, "2.0-beta", {SOURCE: COUNTING, **CHAIN})
    archive(path / "needy" / "needy.jar", classes, "1.0", {SOURCE: NEEDY}, leave_out="Helper")
    archive(path / "journal-uber.jar", classes, "1.0", {SINK: JOURNAL})
    archive(path / "vault.zip", classes, "1.0", {PROVIDER: VAULT})
    (path / "broken").mkdir()
    (path / "broken" / "broken.jar").write_bytes(b"no archive")
    add(["org.apache.kafka:connect-file:4.3.0"], path)
    add([DEBEZIUM], path)
    add([JDBC], path)
    add([TEST_PLUGINS], path)
    of_kafkas_tests(path / "monitorable" / "monitorable.jar", directory / "tests")
    add([MYSQL], path)
    add([MONGODB], path)
    add(["org.apache.kafka:connect-mirror:4.3.0", "org.apache.kafka:connect-mirror-client:4.3.0"], path)
    return path


@contextmanager
def scanned(monkeypatch: pytest.MonkeyPatch, directory: Path, class_name: str, kind: str) -> Iterator[str]:
    """Gives a `plugin.path` in this directory of which the scan, which would be Java's, has found this class."""
    location = directory / "plugins" / "its"
    location.mkdir(parents=True)
    plugin = {"class": class_name, "type": kind, "version": "1.0", "location": f"file:{location}/", "path": str(location)}
    plugin |= {"aliases": [class_name.rpartition(".")[2], class_name.rpartition(".")[2]], "manifest": True}
    found = {"plugins": [plugin], "locations": {f"file:{location}/": []}, "problems": []}
    monkeypatch.setattr(plugin_scan, "connect_classpath", lambda progress: [directory / "host.jar"])
    monkeypatch.setattr(plugin_scan, "ask_in_own_jvm", lambda requests: json.loads(json.dumps(found)))
    monkeypatch.setenv("HEADRACE_HOME", str(directory / "home"))
    before = plugins.java_plugins()
    yield str(location.parent)
    plugins.set_java_plugins(before)
