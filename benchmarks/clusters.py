"""The two brokers between which everything is mirrored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headrace.embedded import Broker


@contextmanager
def two_brokers() -> Iterator[tuple[str, str]]:
    """Run a source and a destination, each a real single-node Kafka; gives their `host:port`."""
    with Broker(name="source") as source, Broker(name="destination") as destination:
        yield source.bootstrap, destination.bootstrap
