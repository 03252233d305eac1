"""The settings of the session."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.classic.column import Column

from headrace.spark import session
from headrace.spark.plane import cores


@pytest.fixture(autouse=True)
def without_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    """No jar is fetched."""
    monkeypatch.setattr(session, "jars", lambda conf: [])
    monkeypatch.setattr(session, "compiler_jars", lambda: [Path("janino.jar")])
    monkeypatch.setattr(session, "driver_jars", lambda: [Path("clients.jar"), Path("headrace.jar")])
    monkeypatch.setattr(session, "using", lambda name: [])


@pytest.mark.parametrize(("conf", "size"), [
    ({}, None),
    ({"spark.master": "local[4]"}, None),
    ({"spark.master": "spark://host:7077"}, "1024"),
    ({"spark.master": "spark://host:7077", "spark.rpc.message.maxSize": "512"}, "512"),
])  # fmt: skip
def test_executors_elsewhere_take_large_messages(conf: Mapping[str, str], size: str | None):
    assert session.settings(conf).get("spark.rpc.message.maxSize") == size


def test_by_default_each_core_has_a_slot_for_a_lane_and_one_for_other_jobs():
    settings = session.settings({})
    assert settings["spark.master"] == f"local[{2 * cores()}]"
    assert settings["spark.default.parallelism"] == str(cores())
    assert "spark.default.parallelism" not in session.settings({"spark.master": "local[4]"})


CLUSTER = {"spark.master": "spark://host:7077"}


@pytest.mark.parametrize(("conf", "own", "jars"), [
    ({}, "", None),
    ({"spark.jars": "my.jar", "spark.driver.extraClassPath": "/etc/spark"}, ":/etc/spark", "my.jar"),
    (CLUSTER, "", "clients.jar,headrace.jar"),
    (CLUSTER | {"spark.jars": "my.jar"}, "", "my.jar,clients.jar,headrace.jar"),
])  # fmt: skip
def test_the_driver_has_headrace_on_its_class_path_and_executors_get_it(conf: Mapping[str, str], own: str, jars: str | None):
    settings = session.settings(conf)
    assert (
        settings["spark.driver.extraClassPath"] == f"janino.jar:clients.jar:headrace.jar{own}"
    )  # the archive of classes begins with the same
    assert settings.get("spark.jars") == jars


def test_functions_of_machine_learning_are_registered_with_their_first_call(spark: SparkSession):
    jvm: Any = spark._jvm
    of_vectors = jvm.org.apache.spark.ml.functions
    vector = of_vectors.array_to_vector(F.array(F.lit(1.0), F.lit(2.5))._jc)
    assert spark.range(1).select(Column(of_vectors.vector_to_array(vector, "float64"))).collect() == [([1.0, 2.5],)]
    provider = jvm.java.lang.Class.forName("org.apache.spark.sql.ml.InternalFunctionRegistration")
    assert "headrace" in provider.getProtectionDomain().getCodeSource().getLocation().getPath()


def test_a_function_of_a_column_is_one_request_to_the_jvm(spark: SparkSession, monkeypatch: pytest.MonkeyPatch):
    client = spark.sparkContext._gateway._gateway_client  # type: ignore[union-attr]
    column, send, requests = F.upper(F.col("name")), client.send_command, list[tuple[int, str]]()

    def recorded(command: str, *more: Any) -> str:
        requests.append((threading.get_ident(), command))
        return send(command, *more)

    monkeypatch.setattr(client, "send_command", recorded)
    F.upper(column)
    # Other threads have requests of their own, and any releases what is unused.
    own = [command for thread, command in requests if thread == threading.get_ident() and not command.startswith("m\nd\n")]
    assert len(own) == 1


_IDLE = """
import time
from headrace.spark.session import session

spark = session({"spark.master": "local[1]", "spark.driver.extraJavaOptions": "-XX:G1PeriodicGCInterval=100"})
java = spark._jvm.java
factory = java.lang.management.ManagementFactory
options = factory.getPlatformMXBean(java.lang.Class.forName("com.sun.management.HotSpotDiagnosticMXBean"))
collections = lambda: sum(bean.getCollectionCount() for bean in factory.getGarbageCollectorMXBeans())
ended = lambda: options.getVMOption("G1PeriodicGCInterval").getValue() == "0"
while not ended():
    time.sleep(0.02)
before = collections()
java.lang.System.gc()
while collections() < before + 3 or not ended():
    time.sleep(0.02)
"""


@pytest.mark.slow
def test_an_idle_jvm_collects_garbage_twice_and_again_after_a_collection_of_another_cause() -> None:
    subprocess.run([sys.executable, "-c", _IDLE], timeout=300, check=True)
