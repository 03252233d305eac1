"""A `plugin.path` with plugins that are compiled here, and with real ones from the Maven repository."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Iterable
from pathlib import Path

from headrace.cli.plugins.add import add
from headrace.spark.jars import classpath
from headrace.spark.java import find_java

SOURCES = Path(__file__).with_name("java")
COUNTING = "org.example.CountingSourceConnector"
DEBEZIUM = "io.debezium:debezium-connector-postgres:3.6.1.Final:tar.gz:plugin"
NEEDY = "org.example.NeedyConnector"
SERVICE = "META-INF/services/org.apache.kafka.connect.source.SourceConnector"


def compiled(into: Path) -> Path:
    """The classes of the plugins that are made for these tests."""
    sources = [str(file) for file in sorted(SOURCES.rglob("*.java"))]
    command = [str(find_java().program), "-jar", classpath("compiler"), "-17", "-nowarn", "-cp", classpath("connect")]
    subprocess.run([*command, "-d", str(into), *sources], check=True, capture_output=True)
    return into


def archive(path: Path, classes: Path, version: str, services: Iterable[str], leave_out: str = "-") -> None:
    """A jar with these classes but those of a name, and a manifest that names the plugins."""
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as jar:
        for file in sorted(classes.rglob("*.class")):
            if leave_out not in file.name:
                jar.write(file, file.relative_to(classes))
        jar.writestr(SERVICE, "\n".join(services))
        jar.writestr("version.txt", version)


def plugin_path(directory: Path) -> Path:
    """Two versions of one connector, one that needs what is not there, a broken archive, connect-file and Debezium's."""
    classes = compiled(directory / "classes")
    path = directory / "plugins"
    archive(path / "counting-1" / "counting.jar", classes, "1.0", [COUNTING])
    archive(path / "counting-2" / "counting.jar", classes, "2.0-beta", [COUNTING])
    archive(path / "needy" / "needy.jar", classes, "1.0", [NEEDY], leave_out="Helper")
    (path / "broken").mkdir()
    (path / "broken" / "broken.jar").write_bytes(b"no archive")
    add(["org.apache.kafka:connect-file:4.3.0"], path)
    add([DEBEZIUM], path)
    return path
