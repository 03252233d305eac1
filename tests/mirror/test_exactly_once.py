"""A worker with `exactly.once.source.support=enabled`: records and their offsets in one transaction (KIP-618)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.mirror.mirror import MIRROR_S, Mirror
from tests.process import worker_properties
from tests.support import wait_until

PARTITIONS = 3


@pytest.fixture(scope="module")
def exact(destination_broker: Broker) -> Iterator[EmbeddedWorker]:
    props = worker_properties("exact", f"http://127.0.0.1:{free_port()}") | {"exactly.once.source.support": "enabled"}
    with EmbeddedWorker(destination_broker.bootstrap, props) as running:
        yield running


@pytest.fixture
def mirror(
    exact: EmbeddedWorker, source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> Iterator[Callable[..., Mirror]]:
    made: list[Mirror] = []

    def create(whitelist: str, config: Mapping[str, str | None] | None = None) -> Mirror:
        required = {"exactly.once.support": "required", "topic.creation.default.partitions": str(PARTITIONS)}
        made.append(Mirror(exact, (source, destination), topic_name("exact"), whitelist, {**required, **(config or {})}))
        made[-1].create()
        return made[-1]

    yield create
    for one in made:
        one.delete()


def test_records_and_offsets_are_committed_together_and_once(
    mirror: Callable[..., Mirror], source: Cluster, destination: Cluster, topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("topic")
    source.create(topic, PARTITIONS)
    sent = [record(b"k%d" % n, b"%d" % n, [("h", b"x")], 1_700_000_000_000 + n, n % PARTITIONS) for n in range(300)]
    source.produce(topic, sent)
    one = mirror(topic)
    end = 99
    wait_until(lambda: list(one.offsets().values()) == [end] * PARTITIONS, MIRROR_S, f"all is copied; {one.status()}")
    copied = destination.read(one.prefix + topic)
    assert sorted(copied) == sorted(sent)
    assert one.topics() == {one.prefix + topic}
    assert one.states() == ["RUNNING", "RUNNING"]
