from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.errors import SetupError
from headrace.jvm.java import find_java

pytestmark = pytest.mark.slow


def fake_java(directory: Path, version_line: str, status: int = 0) -> Path:
    """A program named `java` that answers `-version` as given."""
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "java"
    program.write_text(f"#!/bin/sh\necho '{version_line}' >&2\nexit {status}\n")
    program.chmod(0o755)
    return program


def fake_tool(directory: Path, name: str) -> None:
    (directory / name).write_text("#!/bin/sh\n")
    (directory / name).chmod(0o755)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "21" 2023-09-19', 21),
        ('openjdk version "26-ea" 2026-03-17', 26),
    ],
)
def test_the_version_is_read_as_java_tells_it(tmp_path: Path, line: str, version: int):
    program = fake_java(tmp_path, line)
    found = find_java({"PATH": str(tmp_path)})
    assert (found.program, found.version) == (program, version)


def test_java_home_goes_before_path(tmp_path: Path):
    at_home = fake_java(tmp_path / "home" / "bin", 'openjdk version "21.0.1" 2023-10-17')
    fake_java(tmp_path / "path", 'openjdk version "17.0.1" 2021-10-19')
    assert find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path")}).program == at_home


def test_no_java_is_one_sentence_with_the_command_that_installs_it(tmp_path: Path):
    fake_tool(tmp_path, "apt-get")
    with pytest.raises(SetupError) as caught:
        find_java({"PATH": str(tmp_path)})
    assert str(caught.value) == (
        "Java 17 or newer is needed, but there is none on PATH; install it, for example with "
        "`sudo apt-get install openjdk-17-jre-headless`, or set JAVA_HOME to one that you have."
    )


def test_without_a_known_package_manager_the_sentence_names_none(tmp_path: Path):
    with pytest.raises(SetupError) as caught:
        find_java({"PATH": str(tmp_path)})
    assert str(caught.value) == (
        "Java 17 or newer is needed, but there is none on PATH; install it, or set JAVA_HOME to one that you have."
    )


@pytest.mark.parametrize("line", ['openjdk version "11.0.22" 2024-01-16', 'java version "1.8.0_392"'])
def test_a_java_that_is_too_old_is_named_with_its_version(tmp_path: Path, line: str):
    program = fake_java(tmp_path, line)
    version = 11 if "11" in line else 8
    with pytest.raises(SetupError) as caught:
        find_java({"PATH": str(tmp_path)})
    assert str(caught.value).startswith(f"Java 17 or newer is needed, but {program} on PATH is version {version}; install it")


def test_a_java_home_without_java_is_named_even_if_path_has_one(tmp_path: Path):
    fake_java(tmp_path / "path", 'openjdk version "17.0.1" 2021-10-19')
    with pytest.raises(SetupError, match=f"but JAVA_HOME={tmp_path}/none has no bin/java; install it"):
        find_java({"JAVA_HOME": f"{tmp_path}/none", "PATH": str(tmp_path / "path")})


def test_a_stub_that_does_not_run_java_is_named(tmp_path: Path):
    program = fake_java(tmp_path, "The operation couldn't be completed. Unable to locate a Java Runtime.".replace("'", ""), 1)
    with pytest.raises(SetupError, match=f"but {program} on PATH does not run; install it"):
        find_java({"PATH": str(tmp_path)})


def test_it_runs_with_the_standard_library_alone(tmp_path: Path):
    source = Path(__file__).parents[2] / "src"
    command = [sys.executable, "-S", "-m", "headrace.jvm.java"]
    environ = {"PYTHONPATH": str(source), "PATH": os.environ["PATH"], "JAVA_HOME": str(tmp_path)}
    answer = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"error: Java 17 or newer is needed, but JAVA_HOME={tmp_path} has no bin/java; ")
    assert answer.stderr.count("\n") == 1
