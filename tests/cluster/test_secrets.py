"""A worker process whose connectors have values of config providers: they work, and the values are nowhere to be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.clusters import Cluster, record
from tests.process import WorkerProcess, worker_properties
from tests.support import wait_until

RUNNING_S = 180
WORKER = {
    "config.providers": "file,env",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    "config.providers.env.class": "EnvVarConfigProvider",
    "config.providers.env.param.allowlist.pattern": "CONNECT_.*",
    "consumer.ssl.key.password": "${env:CONNECT_WORKER_SECRET}",
}
CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter"


class Secrets:
    """A properties file, and what stands in it."""

    def __init__(self, file: Path, topic: str) -> None:
        self.file = file
        self.values = {"password": "tOp-s3cr3t", "size": "1000", "topic": topic, "converter": CONVERTER}
        self.write()

    def write(self, **changed: str) -> None:
        self.values |= changed
        self.file.write_text("".join(f"{key}={value}\n" for key, value in self.values.items()))

    def __getitem__(self, key: str) -> str:
        return f"${{file:{self.file}:{key}}}"


@pytest.fixture
def secrets(topic_name: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Secrets:
    monkeypatch.setenv("CONNECT_PASSWORD", "env-s3cr3t")
    monkeypatch.setenv("CONNECT_WORKER_SECRET", "worker-s3cr3t")
    monkeypatch.setenv("OTHER_VARIABLE", "not-allowed")
    monkeypatch.setenv("HEADRACE_LOG_LEVEL", "DEBUG")
    return Secrets(tmp_path / "secrets.properties", topic_name("lines"))


@pytest.fixture
def cluster(destination_broker: Broker) -> Cluster:
    return Cluster(destination_broker.bootstrap)


@pytest.fixture
def group(topic_name: Callable[[str], str]) -> str:
    return topic_name("secrets")


@pytest.fixture
def worker(cluster: Cluster, group: str, secrets: Secrets, tmp_path: Path) -> Iterator[WorkerProcess]:
    properties = worker_properties(group, f"http://127.0.0.1:{free_port()}") | WORKER
    properties |= {"bootstrap.servers": cluster.bootstrap, "value.converter": secrets["converter"]}
    with WorkerProcess(tmp_path, properties) as process:
        yield process.await_ready()


def config(secrets: Secrets, cluster: Cluster) -> dict[str, str]:
    return {
        "name": "copy",
        "connector.class": "KafkaSourceConnector",
        "source.bootstrap.servers": cluster.bootstrap,
        "source.topic.whitelist": secrets["topic"],
        "destination.topics.prefix": "copy.",
        "batch.max.records": secrets["size"],
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
        "my.password": f"{secrets['password']} and ${{env:CONNECT_PASSWORD}}",
        "my.other": "${env:OTHER_VARIABLE}",
        "producer.override.ssl.key.password": secrets["password"],
    }


def test_values_are_used_and_never_shown(worker: WorkerProcess, cluster: Cluster, group: str, secrets: Secrets) -> None:
    topic, given = secrets.values["topic"], config(secrets, cluster)
    cluster.create(topic)
    cluster.produce(topic, [record(value=b"one"), record(value=b"two")])
    answers: list[Any] = [worker.call("PUT", "/connector-plugins/KafkaSourceConnector/config/validate", given)]
    assert answers[0]["error_count"] == 0
    answers.append(worker.call("PUT", "/connectors/copy/config", given))
    wait_until(lambda: cluster.size(f"copy.{topic}") == 2, RUNNING_S, "two records")
    assert [r.value for r in cluster.read(f"copy.{topic}")] == [b"one", b"two"]
    wait_until(lambda: httpx.get(f"{worker.url}/connectors/copy/status").is_success, RUNNING_S, "the status, read back")

    shown = {path: worker.call("GET", "/connectors/copy" + path) for path in ("", "/config", "/tasks", "/status")}
    assert shown["/config"] == given
    (task,) = shown["/tasks"]
    assert task["config"].items() >= given.items()
    assert topic not in json.dumps(task)
    answers += [*shown.values(), *_broken(worker, given, secrets)]
    _nowhere([json.dumps(answers), worker.errors], cluster, group)


def _broken(worker: WorkerProcess, given: dict[str, str], secrets: Secrets) -> list[Any]:
    """What is answered once a value in the file is no longer a number."""
    secrets.write(size="no-number-s3cr3t")
    worker.call("POST", "/connectors/copy/restart?includeTasks=true")
    status = wait_until(lambda: _failed(worker), RUNNING_S, "a failed connector and a failed task")
    sentence = f"Invalid value {secrets['size']} for configuration batch.max.records: Not a number of type INT"
    assert sentence in status["connector"]["trace"]
    assert sentence in status["tasks"][0]["trace"]
    validated = worker.call("PUT", "/connector-plugins/KafkaSourceConnector/config/validate", given)
    refused = httpx.put(f"{worker.url}/connectors/copy/config", json=given, timeout=60)
    assert refused.status_code == 400
    assert sentence in refused.json()["message"]
    assert sentence in json.dumps(validated)
    secrets.file.unlink()
    unreadable = httpx.put(f"{worker.url}/connectors/other/config", json={**given, "name": "other"}, timeout=60)
    assert unreadable.status_code == 500
    assert unreadable.json()["message"] == f"Could not read properties from file {secrets.file}"
    return [status, validated, refused.json(), unreadable.json()]


def _failed(worker: WorkerProcess) -> Any:
    status = worker.call("GET", "/connectors/copy/status")
    states = [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
    return status if states == ["FAILED", "FAILED"] else None


def _nowhere(texts: list[str], cluster: Cluster, group: str) -> None:
    for kind in ("config", "offset", "status"):
        records = wait_until(lambda kind=kind: cluster.read(f"{group}-{kind}"), RUNNING_S, f"records of the {kind} topic")
        texts.append(repr([(r.key, r.value, r.headers) for r in records]))
    for text in texts:
        for secret in ("tOp-s3cr3t", "env-s3cr3t", "worker-s3cr3t", "no-number-s3cr3t", "not-allowed"):
            assert secret not in text
