"""Mirrors on the worker of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.registry import SchemaRegistry
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.kafka_source.mirror import Mirror
from tests.process import worker_properties


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    """A registry of its own for a test."""
    with SchemaRegistry() as registry:
        yield registry


@pytest.fixture
def mirror(
    worker: EmbeddedWorker, source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> Iterator[Callable[..., Mirror]]:
    """Creates mirrors, by `mirror(whitelist, more_config)`, and deletes them after the test."""
    yield from _mirrors(worker, (source, destination), lambda: topic_name("mirror"), {})


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
    yield from _mirrors(exact, (source, destination), lambda: topic_name("exact"), {"exactly.once.support": "required"})


def _mirrors(
    worker: EmbeddedWorker, clusters: tuple[Cluster, Cluster], name: Callable[[], str], always: Mapping[str, str]
) -> Iterator[Callable[..., Mirror]]:
    made: list[Mirror] = []

    def create(whitelist: str, config: Mapping[str, str | None] | None = None) -> Mirror:
        made.append(Mirror(worker, clusters, name(), whitelist, {**always, **(config or {})}))
        made[-1].create()
        return made[-1]

    yield create
    for one in made:
        one.delete()
