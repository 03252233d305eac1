"""Topologies on Spark, with topics in memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from headrace.streams import Consumed, Serdes, StreamsBuilder
from headrace.testing.topology_test_driver import TopologyTestDriver
from tests.clusters import Cluster
from tests.streams.running.application import Application
from tests.support import INTERPRETED, everything

STRINGS = Consumed.with_(Serdes.string(), Serdes.string())


@pytest.fixture
def drive(spark) -> Callable[..., TopologyTestDriver]:
    """Makes a driver of what a builder has; with generated code if all is tested."""
    settings = {} if everything() else INTERPRETED  # of the application, as its session has none of another session's

    def make(builder: StreamsBuilder, **more: Any) -> TopologyTestDriver:
        config = {"application.id": "app", "bootstrap.servers": "none:1", **settings, **more.pop("config", {})}
        return TopologyTestDriver(builder.build(config), config, spark, **more)

    return make


def feed(driver: TopologyTestDriver, topic: str, batch: list) -> None:
    """Pipe strings in one batch."""
    driver.create_input_topic(topic, Serdes.string(), Serdes.string()).pipe_batch(batch)


def randomly(seed: int, count: int, *, times: int = 100, nulls: bool = True) -> list:
    """Records with few keys, out of order."""
    chance = random.Random(seed)
    keys = ["a", "b", "c", *([None] if nulls else [])]
    values = ["x", "y", "z", *([None] if nulls else [])]
    return [(chance.choice(keys), chance.choice(values), chance.randrange(times)) for _ in range(count)]


def batches(seed: int, sizes: tuple[int, ...] = (7, 1, 9), **more: Any) -> list[list]:
    """Some batches, whose times grow a little."""
    batches_of_records = []
    for number, size in enumerate(sizes):
        rows = randomly(seed * 100 + number, size, **more)
        batches_of_records.append([(k, v, t + 40 * number) for k, v, t in rows])
    return batches_of_records


@pytest.fixture
def make(destination: Cluster, topic_name: Callable[[str], str]) -> Callable[..., Application]:
    """Makes an application; settings as keywords, `_` for `.`."""
    return lambda **config: Application(destination, topic_name, **{k.replace("_", "."): v for k, v in config.items()})
