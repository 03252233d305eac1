"""Classes of our Java by themselves: the cases in `java`, each class of them in a JVM of its own, without Spark."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from headrace.jvm.jars import classpath, connect_classpath, extension_jar, wheel_jar
from headrace.jvm.java import find_java

SOURCES = Path(__file__).with_name("java")
CASES = [
    "io.headrace.JsonScanCases", "io.headrace.PolledRecordsCases", "io.headrace.connect.ChainCallsCases",
    "io.headrace.connect.ContextLoaderCases", "io.headrace.connect.DefinitionsCases", "io.headrace.connect.OffsetsToStoreCases",
    "io.headrace.connect.PrintedCases", "io.headrace.connect.SecretsInterceptorCases",
    "io.headrace.connect.SourceTaskHostCases", "io.headrace.connect.StoredOffsetsCases", "io.headrace.connect.TimestampCases",
    "io.headrace.hosts.MailboxCases", "io.headrace.hosts.PluginLinesCases", "io.headrace.hosts.PluginThreadsCases",
    "io.headrace.lanes.LanesCases",
]  # fmt: skip


@pytest.fixture(scope="module")
def class_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Our classes, those of Spark and of Kafka Connect, and the cases."""
    classes = tmp_path_factory.mktemp("cases")
    others = [*wheel_jar("ivy").parent.glob("*.jar"), *connect_classpath()]
    path = os.pathsep.join([str(extension_jar()), classpath("spark"), *map(str, others)])
    sources = [str(file) for file in sorted(SOURCES.rglob("*.java"))]
    command = [str(find_java().program), "-jar", classpath("compiler"), "-17", "-nowarn", "-cp", path, "-d", str(classes)]
    compiled = subprocess.run([*command, *sources], capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr
    return os.pathsep.join([str(classes), path])


def test_all_cases_are_run() -> None:
    files = (file.relative_to(SOURCES).with_suffix("") for file in SOURCES.rglob("*Cases.java"))
    assert sorted(".".join(file.parts) for file in files if file.name != "Cases") == CASES


@pytest.mark.slow
@pytest.mark.parametrize("cases", CASES)
def test_a_java_class_does_as_its_cases_say(cases: str, class_path: str) -> None:
    command = [str(find_java().program), "-cp", class_path, "io.headrace.Cases", cases]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(ran.stdout.splitlines()) >= 3
