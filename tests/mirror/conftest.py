"""Mirrors on the worker of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.mirror.mirror import Mirror
from tests.process import worker_properties


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


@pytest.fixture(scope="package")
def exact(destination_broker: Broker) -> Iterator[EmbeddedWorker]:
    """A worker that delivers exactly once."""
    props = worker_properties("exact", f"http://127.0.0.1:{free_port()}") | {"exactly.once.source.support": "enabled"}
    with EmbeddedWorker(destination_broker.bootstrap, props) as running:
        yield running


@pytest.fixture
def exact_mirror(
    exact: EmbeddedWorker, source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> Iterator[Callable[..., Mirror]]:
    """The same as `mirror`, on that worker."""
    made: list[Mirror] = []

    def create(whitelist: str, config: Mapping[str, str | None] | None = None) -> Mirror:
        required = {"exactly.once.support": "required", **(config or {})}
        made.append(Mirror(exact, (source, destination), topic_name("exact"), whitelist, required))
        made[-1].create()
        return made[-1]

    yield create
    for one in made:
        one.delete()
