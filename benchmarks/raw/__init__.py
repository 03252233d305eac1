"""The limit that no mirror can pass: a bare consumer and producer in a JVM (`RawLoop.java`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from benchmarks.java import GC, compiled, java
from benchmarks.load import PARTITIONS, create_topic
from benchmarks.process import Child

_SOURCES = Path(__file__).with_name("java")


@contextmanager
def copying(source: str, destination: str, topics: Sequence[tuple[str, str]], batch_bytes: str, workdir: Path) -> Iterator[Child]:
    """Copy topics, one after the other, to new topics (name, name of the copy); gives the process, a new JVM."""
    classes = workdir / "raw"
    if not classes.exists():
        compiled(_SOURCES, classes)
    for _, copy in topics:
        create_topic(destination, copy)
    options = ["-Xmx1G", *GC, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
    arguments = [source, str(PARTITIONS), destination, batch_bytes, *chain.from_iterable(topics)]
    child = Child("RawLoop", [*java(options, classes), "io.headrace.bench.RawLoop", *arguments], workdir / "raw.log")
    try:
        yield child
    finally:
        child.stop()
