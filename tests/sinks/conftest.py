"""Sinks on the worker of the session, which reads the destination cluster's topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace.testing.registry import SchemaRegistry
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import deploying
from tests.sinks.sink import Sink


@pytest.fixture(scope="session")
def cluster(destination: Cluster) -> Cluster:
    """The worker's cluster."""
    return destination


@pytest.fixture
def sink(worker: EmbeddedWorker, topic_name: Callable[[str], str]) -> Iterator[Callable[..., Sink]]:
    """Creates sinks (`deploying`), and deletes them after the test."""
    yield from deploying(worker, Sink, lambda: topic_name("sink"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a FileStreamSink may write."""
    return tmp_path / "out.txt"


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    """An empty one."""
    with SchemaRegistry() as registry:
        yield registry
