"""Find the Java that runs Spark and the embedded broker.

Looked for where Spark itself looks: `JAVA_HOME`, then `PATH`. `python -m headrace.jvm.java` prints it, or one
sentence and exit status 1; it needs the standard library only, so `make setup` asks it before anything is installed.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import SetupError

OLDEST = 17
"""The oldest Java that both Spark 4 and Kafka 4 run on."""

_INSTALL = {
    "apt-get": "`sudo apt-get install openjdk-17-jre-headless`",
    "dnf": "`sudo dnf install java-17-openjdk-headless`",
    "zypper": "`sudo zypper install java-17-openjdk-headless`",
    "pacman": "`sudo pacman -S jre17-openjdk-headless`",
    "apk": "`sudo apk add openjdk17-jre-headless`",
    "brew": "`brew install openjdk@17`",
}


@dataclass(frozen=True)
class Java:
    """A Java that is new enough: the `java` program, its version, and which build of it it is."""

    program: Path
    version: int
    """The feature version: 17, 21 …"""
    build: str


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """Find Java by `JAVA_HOME`, then `PATH` of the given environment.

    Raises SetupError, in one sentence that says how to install it, if there is none or it is older than 17. A
    `JAVA_HOME` that does not serve is an error even where `PATH` has a good one: Spark itself would take the former.
    """
    home = environ.get("JAVA_HOME")
    if home:
        program = Path(home, "bin", "java")
        place = f"JAVA_HOME={home}"
        if not os.access(program, os.X_OK):
            raise SetupError(f"Java {OLDEST} or newer is needed, but {place} has no bin/java; {_remedy(environ)}.")
    else:
        on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
        if not on_path:
            raise SetupError(f"Java {OLDEST} or newer is needed, but there is none on PATH; {_remedy(environ)}.")
        program, place = Path(on_path), f"{on_path} on PATH"
    about = _about(program)
    # `openjdk version "17.0.15"`, `"21" 2023-09-19`, `"24-ea"`; up to Java 8 it was `"1.8.0_392"`
    match = re.search(r'version "(?:1\.)?(\d+)', about)
    if match is None:
        raise SetupError(f"Java {OLDEST} or newer is needed, but {place} does not run; {_remedy(environ)}.")
    version = int(match[1])
    if version < OLDEST:
        raise SetupError(f"Java {OLDEST} or newer is needed, but {place} is version {version}; {_remedy(environ)}.")
    # `OpenJDK 64-Bit Server VM (build 17.0.15+6, mixed mode, sharing)`: what follows depends on options in the environment
    return Java(program, version, " ".join(re.findall(r"\(build ([^,)]+)", about)))


@functools.cache
def _about(program: Path) -> str:
    """The output of `java -version`, empty if it cannot be run (macOS ships such a stub)."""
    try:
        process = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stderr + process.stdout if process.returncode == 0 else ""


def _remedy(environ: Mapping[str, str]) -> str:
    """How to install Java here, by the first package manager on `PATH`; `JAVA_HOME` is for one that is elsewhere."""
    path = environ.get("PATH", os.defpath)
    commands = [command for tool, command in _INSTALL.items() if shutil.which(tool, path=path)]
    example = f", for example with {commands[0]}" if commands else ""
    return f"install it{example}, or set JAVA_HOME to one that you have"


if __name__ == "__main__":
    try:
        java = find_java()
    except SetupError as error:
        sys.exit(f"error: {error}")
    print(f"Java {java.version}: {java.program}")
