"""One deployment of a mirror source connector for the whole package, on the worker of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.mirror.flow import Flow


@pytest.fixture(scope="package")
def flow(worker: EmbeddedWorker, source: Cluster, destination: Cluster, topic_name: Callable[[str], str]) -> Iterator[Flow]:
    """MirrorSourceConnector, MirrorCheckpointConnector and MirrorHeartbeatConnector from `source` to `destination`."""
    running = Flow(worker, (source, destination), topic_name("flow"))
    with running:
        yield running
