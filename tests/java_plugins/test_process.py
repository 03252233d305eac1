"""`connector.engine=process`: a connector in a JVM of its own, which takes nobody along."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.connect_config.engine import heap
from headrace.errors import ConfigError
from headrace.spark import host_process
from tests.clusters import Cluster
from tests.deployed import CONNECTOR_S, Deployed
from tests.java_plugins.archives import COUNTING, JOURNAL, LABEL
from tests.java_plugins.test_sink import TEXT, await_values, texts
from tests.java_plugins.test_source import OWN, records_of
from tests.support import wait_until

Create = Callable[..., Deployed]
PROCESS = {"connector_engine": "process"}
WHY = {
    "exit": "has ended: it has called System.exit(7)",
    "memory": "has ended: it was out of memory (java.lang.OutOfMemoryError: Java heap space); its heap is 64m",
}


@pytest.fixture
def topic(topic_name: Callable[[str], str]) -> str:
    return topic_name("numbers")


@pytest.mark.parametrize("how", WHY)
def test_what_ends_the_process_fails_the_connector_alone_and_it_restarts(
    connector: Create, cluster: Cluster, topic: str, tmp_path: Path, how: str
):
    settings = {**PROCESS, "connector_engine_heap": "64m", "records": "9", "journal": str(tmp_path / "journal")}
    dying = connector(COUNTING, topic=topic, die=how, task_restart_policy="all" if how == "exit" else "none", **settings)
    assert WHY[how] in dying.trace()
    other = connector(COUNTING, topic=f"{topic}-other", records="3")
    other.await_states("RUNNING", "RUNNING")
    if how == "memory":
        dying.await_states("FAILED", "FAILED")
        dying.restart("?includeTasks=true")
        dying.await_states("RUNNING", "RUNNING")
    wait_until(lambda: {json.loads(r.value or b"")["n"] for r in cluster.read(topic)} == set(range(9)), CONNECTOR_S, "nine")
    assert len(records_of(cluster, f"{topic}-other", 3)) == 3
    (process,) = host_process.running(dying.name)
    dying.delete()
    wait_until(lambda: not process.alive, CONNECTOR_S, "the process to end with its connector")


def test_a_sink_runs_in_a_process(connector: Create, cluster: Cluster, topic: str, tmp_path: Path):
    cluster.create(topic)
    cluster.produce(topic, texts("a", "b"))
    sink = connector(JOURNAL, topics=topic, journal=str(journal := tmp_path / "journal"), **TEXT, **PROCESS)
    await_values(journal, "a", "b")
    assert len(host_process.running(sink.name)) == 1


def test_a_heap_is_a_number_and_a_unit():
    assert heap({"connector.engine": "process", "connector.engine.heap": "1g"}) == "1g"
    assert heap({"connector.engine.heap": "1g"}) is None
    with pytest.raises(ConfigError, match="it has to be a number and k, m or g, like 512m"):
        heap({"connector.engine": "process", "connector.engine.heap": "much"})


def test_a_class_that_a_converter_lacks_is_the_records_failure_and_the_process_lives(connector: Create, topic: str):
    converter = {"header_converter": LABEL, "header_converter_refuse": "1", "header_converter_linkage": "yes"}
    trace = connector(COUNTING, topic=topic, **PROCESS, **converter, **OWN).trace()
    assert "java.lang.NoClassDefFoundError: no class for header 1" in trace
    assert "has ended" not in trace
