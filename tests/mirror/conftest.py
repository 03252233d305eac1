"""A worker on the destination cluster, in this process, for all tests of the mirror; and what they produce and read with."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.mirror.clusters import Cluster
from tests.mirror.mirror import Mirror

WORKER = {
    "group.id": "mirror-tests",
    "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
    "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
    "config.storage.topic": "mirror-tests-configs", "config.storage.replication.factor": "1",
    "offset.storage.topic": "mirror-tests-offsets", "offset.storage.replication.factor": "1",
    "status.storage.topic": "mirror-tests-status", "status.storage.replication.factor": "1",
}  # fmt: skip


@pytest.fixture(scope="session")
def worker(destination_broker: Broker) -> Iterator[EmbeddedWorker]:
    props = {**WORKER, "listeners": f"http://127.0.0.1:{free_port()}"}
    with EmbeddedWorker(destination_broker.bootstrap, props) as running:
        yield running


@pytest.fixture(scope="session")
def source(source_broker: Broker) -> Cluster:
    return Cluster(source_broker.bootstrap)


@pytest.fixture(scope="session")
def destination(destination_broker: Broker) -> Cluster:
    return Cluster(destination_broker.bootstrap)


@pytest.fixture
def mirror(
    worker: EmbeddedWorker, source_broker: Broker, topic_name: Callable[[str], str]
) -> Iterator[Callable[..., Mirror]]:
    """Creates mirrors, by `mirror(whitelist, **more_config)`, and deletes them after the test."""
    made: list[Mirror] = []

    def create(whitelist: str, config: dict[str, str] | None = None) -> Mirror:
        made.append(Mirror(worker, topic_name("mirror"), source_broker.bootstrap, whitelist, config or {}))
        made[-1].create()
        return made[-1]

    yield create
    for one in made:
        one.delete()
