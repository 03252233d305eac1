"""The command line of a JVM with the jars of the Ivy configuration `peers`: MirrorMaker, Connect and Kafka's tools."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from headrace.spark.jars import classpath
from headrace.spark.java import find_java


def java(options: Sequence[str] = ()) -> list[str]:
    """Return `java OPTIONS -cp JARS`; the jars are fetched first if they are not there yet."""
    return [str(find_java().program), *options, "-cp", classpath("peers")]


def java_version() -> str:
    """Return the first line of `java -version`."""
    answer = subprocess.run([str(find_java().program), "-version"], capture_output=True, text=True, check=True)
    return answer.stderr.splitlines()[0]
