"""Two real Kafka clusters and what goes with them, one of each for the whole session."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator

import pytest

from headrace.embedded import Broker


@pytest.fixture(scope="session")
def source_broker() -> Iterator[Broker]:
    """The cluster that records are mirrored from. Whoever stops or kills it must start it again."""
    with Broker(name="source") as broker:
        yield broker


@pytest.fixture(scope="session")
def destination_broker() -> Iterator[Broker]:
    """The cluster that the worker lives on, and mirrors to. Whoever stops or kills it must start it again."""
    with Broker(name="destination") as broker:
        yield broker


_numbers = itertools.count(1)
_session = uuid.uuid4().hex[:6]


@pytest.fixture(scope="session")
def topic_name() -> Callable[[str], str]:
    """Makes a name that nothing else in the session has: `topic_name("orders")` is `orders-3f9a01-7`."""
    return lambda stem="topic": f"{stem}-{_session}-{next(_numbers)}"
