"""Two real Kafka clusters and what goes with them, one of each for the whole session."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.embedded import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write golden files from what the tests see, instead of comparing")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with a file in `golden/` beside the test: `golden("help.txt", text)`; `--rewrite` writes the file."""

    def compare(name: str, text: str) -> None:
        file = Path(request.path).parent / "golden" / name
        if request.config.getoption("--rewrite"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")

    return compare


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


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The process's Spark session, the one that workers in this process use as well."""
    from headrace.spark.session import session

    return session()
