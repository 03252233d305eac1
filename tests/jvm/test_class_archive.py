"""The archives of classes: those of this machine are in use, and a changed jar asks for another one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.embedded import Broker
from headrace.jvm import class_archive
from headrace.jvm.jars import jars
from headrace.jvm.java import _about, find_java

pytestmark = pytest.mark.slow


def mapped(pid: int | None) -> str:
    """The files that a process has in its memory."""
    return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="what a process has mapped is read from /proc")
def test_spark_and_the_broker_take_their_classes_from_the_archives(spark: SparkSession, destination_broker: Broker):
    gateway: Any = spark.sparkContext._gateway
    assert f"{class_archive.archive('spark')}\n" in mapped(gateway.proc.pid)
    assert f"{class_archive.archive('broker')}\n" in mapped(destination_broker.pid)


def test_a_jar_that_changes_has_another_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "one.jar").write_bytes(b"1")
    monkeypatch.setattr(class_archive, "jars", lambda conf: [tmp_path / "one.jar"])
    second = 1_000_000_000
    os.utime(tmp_path / "one.jar", ns=(7 * second + 5, 7 * second + 5))
    before = class_archive.archive("broker")
    os.utime(tmp_path / "one.jar", ns=(7 * second, 7 * second))  # what a layer of an image keeps of it
    assert class_archive.archive("broker") == before
    os.utime(tmp_path / "one.jar", ns=(8 * second, 8 * second))
    assert class_archive.archive("broker") != before


def test_options_in_the_environment_do_not_ask_for_another_one(monkeypatch: pytest.MonkeyPatch):
    asked = find_java().build
    _about.cache_clear()
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")  # `java -version` says `emulated-client` with it
    assert find_java().build == asked != ""


def test_without_an_archive_java_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    broker = jars("broker")
    monkeypatch.setattr(class_archive, "jars", lambda conf: broker)
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    assert class_archive.using("broker") == class_archive.using("spark") == []
    class_archive.archive("broker").parent.mkdir()
    class_archive.archive("broker").touch()  # this Java could not make one
    assert class_archive.using("broker") == []
    class_archive.archive("broker").write_bytes(b"classes")
    assert class_archive.using("broker")[0] == f"-XX:SharedArchiveFile={class_archive.archive('broker')}"
