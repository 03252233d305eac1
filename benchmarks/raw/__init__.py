"""The limit that no mirror can pass: a bare consumer and producer in a JVM (`RawLoop.java`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.java import GC, compiled, java
from benchmarks.load import PARTITIONS, create_topic
from benchmarks.process import Child

_SOURCES = Path(__file__).with_name("java")


@contextmanager
def copying(source: str, topic: str, destination: str, copy: str, batch_bytes: str, workdir: Path) -> Iterator[Child]:
    """Copy `topic` to the new topic `copy` for as long as the context lasts; gives the process, a cold JVM."""
    classes = workdir / "raw"
    if not classes.exists():
        compiled(_SOURCES, classes)
    create_topic(destination, copy)
    options = ["-Xmx1G", *GC, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
    arguments = [source, topic, str(PARTITIONS), destination, copy, batch_bytes]
    child = Child(
        f"RawLoop ({copy})", [*java(options, classes), "io.headrace.bench.RawLoop", *arguments], workdir / f"{copy}.log"
    )
    try:
        yield child
    finally:
        child.stop()
