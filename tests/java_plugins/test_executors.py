"""Plugins in Java where Spark's executors are processes of their own: they run there, and each task in one place only."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.java_plugins.archives import COUNTING, JOURNAL, SHOUT, VAULT
from tests.java_plugins.conftest import CREATION
from tests.java_plugins.test_chain_of_others import source as copying
from tests.java_plugins.test_chain_of_others import words
from tests.java_plugins.test_sink import lines, values
from tests.java_plugins.test_source import records_of
from tests.kafka_source.test_executors import executors
from tests.process import WorkerProcess, worker_properties
from tests.support import QUICK_JVM, wait_until

JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
TEXT = {"key.converter": STRING, "value.converter": STRING}


@pytest.fixture(scope="module")
def worker(destination_broker: Broker, plugin_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerProcess]:
    """A worker with two executors, whose plugins are at a path that executors have not: theirs come from the driver.

    What Spark is started with comes from a config provider in Java.
    """
    properties = worker_properties("java-executors", f"http://127.0.0.1:{free_port()}") | {
        "bootstrap.servers": destination_broker.bootstrap, "plugin.path": "/proc/self/cwd/plugins",
        "plugin.discovery": "service_load", "offset.flush.interval.ms": "500", "value.converter": JSON,
        "offset.flush.timeout.ms": "600000",
        "value.converter.schemas.enable": "false", "key.converter": STRING,
        "config.providers": "vault", "config.providers.vault.class": VAULT, "config.providers.vault.param.prefix": "",
        "spark.master": "local-cluster[2,1,1024]", "spark.executor.memory": "${vault:10:24m}",
        "spark.executor.extraJavaOptions": QUICK_JVM,
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(plugin_path.parent)
        process = WorkerProcess(tmp_path_factory.mktemp("executors"), properties)
        with process:
            yield process.await_ready()


def threads(pid: int, name: str) -> int:
    """How many threads of a process have names that begin like this."""
    names = []
    for file in Path(f"/proc/{pid}/task").glob("*/comm"):
        with contextlib.suppress(OSError):
            names.append(file.read_text())
    return sum(found.startswith(name) for found in names)


def task_threads(pid: int) -> int:
    """How many threads of tasks in Java a process has."""
    return threads(pid, "task-thread-")


def asking(worker: WorkerProcess) -> int:
    """How many executors ask the driver for work."""
    return sum(threads(pid, "plugin-lease") for pid in executors(worker.process.pid))


def test_tasks_are_spread_over_executors_and_start_on_another_one_when_theirs_is_gone(
    worker: WorkerProcess, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    topic, name, journal = topic_name("sunk"), topic_name("sink"), tmp_path / "journal"
    destination.create(topic, 2)
    destination.produce(topic, [record(b"k", b"%d" % n, partition=n % 2) for n in range(4)])
    config = {"connector.class": JOURNAL, "topics": topic, "tasks.max": "2", "journal": str(journal), **TEXT}
    wait_until(lambda: asking(worker) == 2, CONNECTOR_S, "both executors to be there")
    worker.call("POST", "/connectors", {"name": name, "config": config})
    wait_until(lambda: sorted(values(journal)) == list("0123"), CONNECTOR_S, lambda: f"{lines(journal)} {worker.errors}")
    running = executors(worker.process.pid)
    assert [task_threads(pid) for pid in running] == [1, 1]
    assert not any(map(task_threads, worker.children()))
    offsets = f"/connectors/{name}/offsets"
    wait_until(lambda: len(worker.call("GET", offsets)["offsets"]) == 2, CONNECTOR_S, "commits")
    os.kill(running[0], signal.SIGKILL)
    destination.produce(topic, [record(b"k", b"%d" % n, partition=n % 2) for n in range(4, 8)])
    wait_until(lambda: set(values(journal)) == set("01234567"), CONNECTOR_S, lambda: f"{lines(journal)} {worker.errors}")
    wait_until(lambda: "plugin.task.executor-lost" in worker.errors, CONNECTOR_S, "the task to be started again")
    wait_until(
        lambda: sum(map(task_threads, executors(worker.process.pid))) == 2, CONNECTOR_S, lambda: f"two tasks; {worker.errors}"
    )
    status = worker.call("GET", f"/connectors/{name}/status")
    assert [task["state"] for task in status["tasks"]] == ["RUNNING", "RUNNING"]
    worker.call("DELETE", f"/connectors/{name}")
    wait_until(lambda: not any(map(task_threads, executors(worker.process.pid))), CONNECTOR_S, "the tasks to end")


def logged(worker: WorkerProcess, name: str, words: str) -> list[tuple[str, str]]:
    """The level and text of lines about the connector's task 0 with these words in the log over REST."""
    entries = worker.call("GET", f"/headrace/connectors/{name}/logs?lines=1000")["entries"]
    return [(entry["level"].lower(), entry["event"]) for entry in entries if entry["task"] == 0 and words in entry["event"]]


def test_a_source_on_an_executor_reads_and_stores_its_offsets_and_logs_as_in_the_driver(
    worker: WorkerProcess, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    topic, name, journal = topic_name("numbers"), topic_name("source"), tmp_path / "journal"
    config = {"connector.class": COUNTING, "topic": topic, "records": "7", "journal": str(journal), **CREATION}
    config |= {"warn": "yes", "secret": "hunter2hunter2"}
    worker.call("PUT", "/admin/loggers/org.example", {"level": "INFO"})
    worker.call("POST", "/connectors", {"name": name, "config": config})
    assert [json.loads(r.value or b"")["n"] for r in records_of(destination, topic, 7)] == list(range(7))
    wait_until(lambda: "stored 7" in lines(journal), CONNECTOR_S, lambda: str(lines(journal)))
    assert not any(map(task_threads, worker.children()))
    wait_until(lambda: logged(worker, name, "at the end"), CONNECTOR_S, lambda: f"its line of level INFO; {worker.errors}")
    ((level, text),) = logged(worker, name, "logging in")
    expected = "logging in with [hidden]: java.lang.IllegalStateException: refused"
    assert (level[:4], text) == ("warn", expected)
    logs = [file.read_text() for pid in executors(worker.process.pid) for file in Path(f"/proc/{pid}/cwd").glob("std*")]
    assert any(logs)
    assert not [log for log in logs if "logging in" in log or "hunter2" in log]
    worker.call("PUT", "/admin/loggers/org.example", {"level": "WARN"})
    worker.call("POST", f"/connectors/{name}/tasks/0/restart")
    wait_until(lambda: "start at 7" in lines(journal), CONNECTOR_S, lambda: str(lines(journal)))
    worker.call("DELETE", f"/connectors/{name}")


def test_a_source_whose_records_spark_writes_has_them_written_by_executors_and_its_warnings_in_its_log(
    worker: WorkerProcess, destination: Cluster, topic_name: Callable[[str], str]
):
    topic, name = topic_name("polled"), topic_name("source")
    config = {"connector.class": COUNTING, "topic": topic, "records": "5", "retry": "yes", "transforms": "twice", **CREATION}
    config |= {"transforms.twice.type": "headrace.transforms.Sql", "transforms.twice.value.twice": "value.n * 2"}
    worker.call("POST", "/connectors", {"name": name, "config": config})
    assert [json.loads(r.value or b"")["twice"] for r in records_of(destination, topic, 5)] == [0, 2, 4, 6, 8]
    found = wait_until(lambda: logged(worker, name, "will poll again"), CONNECTOR_S, lambda: f"a warning; {worker.errors}")
    assert found[0][0].startswith("warn")
    worker.call("DELETE", f"/connectors/{name}")


def test_chains_on_executors_have_transforms_in_java(
    worker: WorkerProcess, destination: Cluster, topic_name: Callable[[str], str]
):
    topic, copy, name = topic_name("words"), topic_name("copy"), topic_name("chain")
    words(destination, topic, {"n": 1, "word": "one"}, {"n": 2, "word": "two"})
    chain = {"connector.class": "KafkaSource", "transforms": "loud,copy", "transforms.loud.type": SHOUT, **CREATION}
    chain["key.converter"] = "org.apache.kafka.connect.converters.ByteArrayConverter"
    worker.call("POST", "/connectors", {"name": name, "config": {**copying(destination, topic, copy), **chain}})
    assert [json.loads(r.value or b"")["word"] for r in records_of(destination, copy, 2)] == ["ONE", "TWO"]
    worker.call("DELETE", f"/connectors/{name}")
