"""A worker with a `plugin.path`, for all tests of plugins in Java."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace import plugins
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.jvm.jars import claimed
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import Deployed, deploying
from tests.java_plugins import archives
from tests.process import worker_properties
from tests.spark_formats.conftest import postgres, sql  # noqa: F401 - fixtures

CREATION = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
WORKERS_CONVERTERS = {f"{part}.converter": "org.apache.kafka.connect.json.JsonConverter" for part in ("key", "value")}
WORKERS_CONVERTERS |= {f"{part}.converter.schemas.enable": "false" for part in ("key", "value")}


@pytest.fixture(scope="session")
def plugin_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all processes of a run, which only read it: whoever asks first makes it. So it is scanned once, too."""
    temporary = tmp_path_factory.getbasetemp()
    shared = (temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary) / "plugin-path"
    with claimed(shared, None) as made_in:
        if made_in:
            archives.plugin_path(made_in)
    return shared / "plugins"


@pytest.fixture(scope="package")
def java_worker(destination_broker: Broker, plugin_path: Path) -> Iterator[EmbeddedWorker]:
    """A worker of its own group with Kafka's JSON converter; what it makes known is forgotten at the end."""
    props = worker_properties("java-plugins", f"http://127.0.0.1:{free_port()}")
    props |= {"plugin.path": str(plugin_path), "plugin.discovery": "service_load", "offset.flush.interval.ms": "500"}
    props |= WORKERS_CONVERTERS
    with EmbeddedWorker(destination_broker.bootstrap, props) as running:
        yield running
    plugins.set_java_plugins([])


@pytest.fixture
def cluster(destination: Cluster) -> Cluster:
    return destination


@pytest.fixture
def connector(java_worker: EmbeddedWorker, topic_name: Callable[[str], str]) -> Iterator[Callable[..., Deployed]]:
    """Creates connectors (`deploying`), and deletes them after the test."""
    yield from deploying(java_worker, Deployed, lambda: topic_name("java"), CREATION)
