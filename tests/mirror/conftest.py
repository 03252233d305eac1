"""Mirrors on the worker of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.mirror.mirror import Mirror


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
