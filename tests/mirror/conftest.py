"""A worker on the destination cluster, in this process, for all tests of the mirror; and what they produce and read with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from datetime import datetime
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.mirror.clusters import Cluster
from tests.mirror.mirror import Mirror
from tests.mirror.process import worker_properties


@pytest.fixture(scope="session")
def worker(destination_broker: Broker) -> Iterator[EmbeddedWorker]:
    props = worker_properties("mirror-tests", f"http://127.0.0.1:{free_port()}")
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
    worker: EmbeddedWorker, source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> Iterator[Callable[..., Mirror]]:
    """Creates mirrors, by `mirror(whitelist, more_config)`, and deletes them after the test."""
    made: list[Mirror] = []

    def create(whitelist: str, config: Mapping[str, str | None] | None = None) -> Mirror:
        made.append(Mirror(worker, (source, destination), topic_name("mirror"), whitelist, config or {}))
        made[-1].create()
        return made[-1]

    yield create
    for one in made:
        one.delete()


@pytest.fixture
def events() -> Iterator[list[MutableMapping[str, Any]]]:
    """What is logged during the test, as it happens: `{"event": …, "log_level": …, "connector": …, …}`."""
    with capture_logs(processors=[structlog.contextvars.merge_contextvars, _echo]) as entries:
        yield entries


def _echo(_logger: object, level: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    print(datetime.now().isoformat(timespec="milliseconds"), level, dict(entry))  # where pytest shows it if the test fails
    return entry
