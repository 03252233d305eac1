"""The JVM of a Spark session, whose standard error is this process's own, but for what plugins of Kafka Connect log.

Their lines say whose they are, and go into headrace's own log, as the connector's. Spark's launcher adds Java's incubating vector
module, and Java has no option against its warning about that: that line is left out.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog

from headrace.config import Password
from headrace.config.redaction import maskable

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkConf

log = structlog.get_logger(__name__)

_UNWANTED = b"WARNING: Using incubator modules: jdk.incubator.vector"
_STANDARD_ERROR = 2
_OF_PLUGIN = re.compile(
    r"\S+ (?P<level>[A-Z]+) +spark (?P<logger>[^:]*): "
    r"\[(?P<connector>[^|\]]+)\|(?:worker|task-(?P<task>\d+))[^\]]*\] (?P<text>.*)"
)
"""A line of `spark/log4j2.properties` with the context that Kafka Connect gives the threads of a connector."""


_secrets: frozenset[str] = frozenset()
_secret_words: re.Pattern[str] | None = None


def hide(secrets: Iterable[str]) -> None:
    """Have these texts not shown in lines of JVMs from now on, where they stand as words of their own.

    They are passwords of plugins, which may say them in what they log or throw: their `maskable` texts.
    """
    global _secrets, _secret_words
    more = set(maskable(secrets))
    if more <= _secrets:
        return
    _secrets |= more
    longest_first = sorted(_secrets, key=len, reverse=True)
    # Line breaks of messages are escaped (log4j2.properties): the letter of the escape is no part of the word behind it.
    _secret_words = re.compile(rf"(?:(?<!\w)|(?<=\\[nrt]))(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def launch(conf: SparkConf) -> JavaGateway:
    """Start the JVM of a Spark session with these settings."""
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.java_gateway import launch_gateway

    # Else the script starts a Python process to find Spark's home, and its launcher is a JVM with the settings of a server.
    quicker = {"SPARK_HOME": _find_spark_home(), "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    missing = {name: value for name, value in quicker.items() if name not in os.environ}
    os.environ.update(missing)
    reading, writing = os.pipe()
    threading.Thread(target=pass_on, args=(reading,), name="spark-standard-error", daemon=True).start()
    try:
        return launch_gateway(conf, {"stderr": writing})
    finally:
        os.close(writing)
        for name in missing:  # processes that this one starts may have another Spark
            del os.environ[name]


def pass_on(source: int) -> None:
    """Pass on the lines that come from a pipe's descriptor until it ends; close it."""
    with open(source, "rb") as lines:
        for line in lines:
            pass_line(line)


def pass_line(line: bytes) -> None:
    """Write a line of a JVM to standard error, or, if a plugin has logged it, into the log."""
    if _secret_words is not None:
        line = _secret_words.sub(Password.HIDDEN, line.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    match = _OF_PLUGIN.match(line.decode(errors="replace"))
    if match is not None:
        task = {"task": int(match["task"])} if match["task"] else {}
        level = logging.getLevelNamesMapping().get(match["level"], logging.INFO)
        log.log(level, match["text"].rstrip(), connector=match["connector"], **task, plugin_logger=match["logger"])
    elif line.strip() != _UNWANTED:
        os.write(_STANDARD_ERROR, line)
