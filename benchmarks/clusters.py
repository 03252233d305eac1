"""The two brokers between which everything is mirrored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headrace.embedded import Broker

_SETTINGS = {"log.segment.delete.delay.ms": "1000"}
"""A deleted topic keeps its files open for that long, by default a minute: with 5,000 partitions that came to over 20,000."""


@contextmanager
def two_brokers() -> Iterator[tuple[str, str]]:
    """Run a source and a destination, each a real single-node Kafka; gives their `host:port`."""
    with Broker(name="source", settings=_SETTINGS) as source, Broker(name="destination", settings=_SETTINGS) as destination:
        yield source.bootstrap, destination.bootstrap
