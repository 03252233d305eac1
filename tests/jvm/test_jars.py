"""The jars, from a small mirror of two artifacts on this disk; the fixtures of the session use the real ones."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from headrace.errors import SetupError
from headrace.jvm import jars

pytestmark = pytest.mark.slow

POM = """<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>{name}</artifactId>
<version>1.0</version></project>"""

MODULE = """<ivy-module version="2.0"><info organisation="org.example" module="own"/>
<configurations><conf name="spark"/><conf name="broker"/><conf name="peers"/></configurations>
<dependencies>
<dependency org="org.example" name="one" rev="1.0" conf="spark->default"/>
<dependency org="org.example" name="two" rev="{two}" conf="broker->default"/>
<dependency org="org.example" name="absent" rev="3.0" conf="peers->default"/>
<dependency org="org.example" name="missing" rev="4.0" conf="peers->default"/>
</dependencies></ivy-module>"""

SETTINGS = """<ivysettings><settings defaultResolver="mirror"/><resolvers>
<ibiblio name="mirror" m2compatible="true" root="{root}"/></resolvers></ivysettings>"""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Maven repository on disk, an empty cache, and an ivy.xml that wants one artifact for each of two configurations."""
    for name in ("one", "two"):
        place = tmp_path / "repository" / "org" / "example" / name / "1.0"
        place.mkdir(parents=True)
        (place / f"{name}-1.0.pom").write_text(POM.format(name=name))
        (place / f"{name}-1.0.jar").write_bytes(name.encode())
    (tmp_path / "settings.xml").write_text(SETTINGS.format(root=(tmp_path / "repository").as_uri() + "/"))
    (tmp_path / "ivy.xml").write_text(MODULE.format(two="1.0"))
    monkeypatch.setenv("HEADRACE_IVY_SETTINGS", str(tmp_path / "settings.xml"))
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(jars, "IVY_FILE", tmp_path / "ivy.xml")
    return tmp_path


def test_a_configuration_is_retrieved_on_first_use(mirror: Path):
    told: list[str] = []
    (one,) = jars.jars("spark", told.append)
    assert one.name == "one-1.0.jar"
    assert one.read_bytes() == b"one"
    assert told == ["resolving the jars of 'spark'", "fetching one-1.0.jar"]


def test_the_second_use_starts_nothing(mirror: Path, monkeypatch: pytest.MonkeyPatch):
    first = jars.jars("spark")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert jars.jars("spark", pytest.fail) == first


def test_what_is_not_asked_for_is_not_retrieved(mirror: Path):
    jars.classpath("broker")
    made = [path.name for path in (mirror / "home" / "jars").iterdir() if path.is_dir()]
    assert [name.partition("-")[0] for name in made] == ["broker"]


def test_a_changed_ivy_file_is_resolved_again(mirror: Path):
    before = jars.jars("broker")
    newer = mirror / "repository" / "org" / "example" / "two" / "2.0"
    newer.mkdir()
    (newer / "two-2.0.jar").write_bytes(b"newer")
    (newer / "two-2.0.pom").write_text(POM.format(name="two").replace("1.0", "2.0"))
    (mirror / "ivy.xml").write_text(MODULE.format(two="2.0"))
    assert [jar.name for jar in jars.jars("broker")] == ["two-2.0.jar"]
    assert before[0].exists(), "another version of headrace may use it"


def test_all_that_cannot_be_found_is_said_in_one_sentence(mirror: Path):
    with pytest.raises(SetupError) as caught:
        jars.jars("peers")
    assert str(caught.value) == (
        "Ivy could not retrieve the jars of 'peers': org.example#absent;3.0: not found; org.example#missing;4.0: not found; "
        "check the network, or name a mirror by an Ivy settings file in HEADRACE_IVY_SETTINGS."
    )
    with pytest.raises(SetupError):
        jars.jars("peers")  # nothing half-made was taken for the whole


def test_a_server_that_cannot_be_reached_is_said_with_the_reason(mirror: Path):
    (mirror / "settings.xml").write_text(SETTINGS.format(root="http://127.0.0.1:9/"))
    with pytest.raises(SetupError, match=r"one;1\.0: not found \(java\.net\.ConnectException: Connection refused\); check"):
        jars.jars("spark")


def test_settings_that_ivy_cannot_read_are_said(mirror: Path):
    (mirror / "settings.xml").write_text("<ivysettings")
    with pytest.raises(SetupError, match="settings"):
        jars.jars("spark")


def test_what_a_killed_run_left_is_swept_away(mirror: Path):
    target = jars.jars("spark")[0].parent
    half = target.with_name(target.name + ".partial")
    target.rename(half)
    (half / "half-of-a.jar").touch()
    assert [jar.name for jar in jars.jars("spark")] == ["one-1.0.jar"]
    assert not half.exists()


def test_processes_that_start_together_retrieve_once(mirror: Path):
    program = (
        "import pathlib, sys; from headrace.jvm import jars; jars.IVY_FILE = pathlib.Path(sys.argv[1]); jars.jars('spark', print)"
    )
    command = [sys.executable, "-c", program, str(mirror / "ivy.xml")]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    output = [run.communicate(timeout=600)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert sum("fetching one-1.0.jar" in text for text in output) == 1


def test_a_cache_that_cannot_be_written_is_said(mirror: Path, monkeypatch: pytest.MonkeyPatch):
    (mirror / "file").touch()
    monkeypatch.setenv("HEADRACE_HOME", str(mirror / "file" / "home"))
    with pytest.raises(SetupError) as caught:
        jars.jars("spark")
    assert str(caught.value) == (
        f"The cache directory {mirror}/file/home cannot be written (Not a directory); set HEADRACE_HOME to one that can."
    )


def test_the_cache_is_where_the_desktop_standard_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HEADRACE_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert jars.home() == Path("/c/headrace")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/h")
    assert jars.home() == Path("/h/.cache/headrace")


def test_an_artifact_that_the_wheel_lacks_is_said():
    with pytest.raises(SetupError, match="The jar of nonesuch is not in the installed pyspark"):
        jars.wheel_jar("nonesuch")


def test_a_jar_of_the_wheel_is_copied_without_its_signature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    for artifact in ("janino", "commons-compiler"):
        with zipfile.ZipFile(jars.wheel_jar(artifact)) as signed, zipfile.ZipFile(jars.unsigned_jar(artifact)) as copy:
            assert copy.testzip() is None
            left_out = set(signed.namelist()) - set(copy.namelist())
            assert all(name.startswith("META-INF/") for name in left_out)
            assert any(name.endswith(".SF") for name in left_out)
            assert not any(name.endswith((".SF", ".DSA", ".RSA")) for name in copy.namelist())


def test_the_broker_and_the_clients_in_sparks_jvm_are_of_the_version_that_is_said():
    """docs/decisions/0022-kafka-4.4.md."""
    kafka = {conf: {jar.name for jar in jars.jars(conf) if jar.name.startswith("kafka")} for conf in ("broker", "spark")}
    assert "kafka_2.13-4.4.0.jar" in kafka["broker"]
    assert {jar for jars in kafka.values() for jar in jars if "clients" in jar} == {"kafka-clients-4.4.0.jar"}


def test_the_extension_jar_holds_every_class():
    with zipfile.ZipFile(jars.extension_jar()) as jar:
        compiled = {name.removesuffix(".class") for name in jar.namelist()}
    sources = {str(file.relative_to(jars.JAVA_SOURCES).with_suffix("")) for file in jars.JAVA_SOURCES.rglob("*.java")}
    assert sources <= compiled
    assert sources


def test_java_that_does_not_compile_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "Wrong.java").write_text("public class Wrong { int a() { return b; } }\n")
    monkeypatch.setattr(jars, "JAVA_SOURCES", tmp_path)
    with pytest.raises(SetupError, match=r"^headrace's Java classes do not compile: .*b.*"):
        jars.extension_jar()
