"""The command line of a JVM with the jars of the Ivy configuration `peers`: MirrorMaker, Connect and Kafka's tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.process import BenchmarkError
from headrace.jvm.jars import classpath, wheel_jar
from headrace.jvm.java import find_java

# The garbage collector as Kafka's own scripts (kafka-run-class.sh) set it up.
GC = (
    *("-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35"),
    "-XX:+ExplicitGCInvokesConcurrent",
)


def java(options: Sequence[str] = (), own: Path | None = None, more: Sequence[Path] = ()) -> list[str]:
    """Return `java OPTIONS -cp OWN:JARS`; the jars are fetched first if they are not there yet. own: classes; more: jars."""
    jars = os.pathsep.join([*([str(own)] if own else []), *map(str, more), classpath("peers")])
    return [str(find_java().program), *options, "-cp", jars]


def compiled(sources: Path, into: Path, more: Sequence[Path] = ()) -> Path:
    """Compile the Java files below `sources` with the Janino of the PySpark wheel; other files are copied. Returns `into`.

    more: jars that they need.
    """
    shutil.copytree(sources, into, ignore=shutil.ignore_patterns("*.java"), dirs_exist_ok=True)
    janino = os.pathsep.join(str(wheel_jar(name)) for name in ("janino", "commons-compiler"))
    command = [str(find_java().program), "-cp", janino, "org.codehaus.commons.compiler.samples.CompilerDemo"]
    command += [
        "-d",
        str(into),
        "-classpath",
        os.pathsep.join([str(into), *map(str, more), classpath("peers")]),
        *map(str, sorted(sources.rglob("*.java"))),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise BenchmarkError(f"{sources} does not compile: {result.stderr or result.stdout}")
    return into


def java_version() -> str:
    """Return the first line of `java -version`."""
    answer = subprocess.run([str(find_java().program), "-version"], capture_output=True, text=True, check=True)
    return answer.stderr.splitlines()[0]
