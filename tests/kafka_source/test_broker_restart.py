"""A broker that is restarted while a mirror copies: nobody has to help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from headrace.embedded import Broker
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.support import wait_until

COUNT, PARTITIONS = 60_000, 3


@pytest.mark.parametrize("which", ["source", "destination"])
def test_every_record_arrives_in_order_although_a_broker_is_restarted(
    which: str,
    request: pytest.FixtureRequest,
    source: Cluster,
    mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
) -> None:
    topic = topic_name(f"restart-{which}")
    broker: Broker = request.getfixturevalue(f"{which}_broker")
    source.create(topic, PARTITIONS)
    source.produce(topic, (record(None, b"%d" % n, partition=n % PARTITIONS) for n in range(COUNT)))
    one = mirror(topic, {"topic.creation.default.partitions": str(PARTITIONS), "batch.max.records": "6000"})
    one.await_copied(topic, 6000)
    broker.restart()
    wait_until(
        lambda: sum(one.offsets_if_known().values()) == COUNT - PARTITIONS,
        2 * CONNECTOR_S,
        lambda: f"all is copied; {one.status()}; {one.offsets_if_known()}",
    )
    copied = one.destination.read(one.prefix + topic)
    for partition in range(PARTITIONS):
        sent = [b"%d" % n for n in range(partition, COUNT, PARTITIONS)]
        assert list(dict.fromkeys(r.value for r in copied if r.partition == partition)) == sent
    assert max(Counter(r.value for r in copied).values()) <= 2  # at least once, by batches
    one.await_states("RUNNING", "RUNNING")
    source.produce(topic, [record(None, b"after")])
    wait_until(lambda: one.destination.read(one.prefix + topic).count(record(None, b"after")) == 1, CONNECTOR_S, "it continues")
