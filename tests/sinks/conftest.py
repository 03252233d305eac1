"""Sinks on the worker of the session, which reads the destination cluster's topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.sinks.sink import Sink


@pytest.fixture(scope="session")
def cluster(destination: Cluster) -> Cluster:
    """The worker's cluster."""
    return destination


@pytest.fixture
def sink(worker: EmbeddedWorker, topic_name: Callable[[str], str]) -> Iterator[Callable[..., Sink]]:
    """Creates sinks, by `sink(class, setting="value", …)` (`_` stands for a dot), and deletes them after the test."""
    made: list[Sink] = []

    def create(connector: str, /, *, initial_state: str | None = None, **settings: str) -> Sink:
        config = {"connector.class": connector, **{name.replace("_", "."): value for name, value in settings.items()}}
        made.append(Sink(worker, topic_name("sink"), config))
        made[-1].create(initial_state)
        return made[-1]

    yield create
    for one in made:
        one.delete()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a FileStreamSink may write."""
    return tmp_path / "out.txt"
