"""What the options of the Kafka sink make of records and clients; without a cluster."""

from __future__ import annotations

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.kafka_sink.clients import ADMIN, PRODUCER
from headrace.connectors.kafka_sink.task import KafkaSinkTask
from headrace.record import HEADERS_TYPE

PROPS = {"target.bootstrap.servers": "127.0.0.1:1"}


@pytest.mark.parametrize(
    ("changes", "written", "keeps_partition"),
    [
        ({}, {}, False),
        ({"include.message.headers": "false"}, {"headers": f"cast(NULL as {HEADERS_TYPE})"}, False),
        ({"destination.partition": "source"}, {}, True),
        ({"destination.partition": "partitioner"}, {"partition": "int(NULL)"}, True),
        ({"destination.topics.prefix": "a."}, {"topic": "concat('a.', topic)"}, False),
    ],
)
def test_a_lane_writes_records_as_configured(changes: dict[str, str], written: dict[str, str], keeps_partition: bool) -> None:
    task = KafkaSinkTask(TaskContext("c", 0))
    task.start({**PROPS, **changes})
    target = task.lane_target()
    assert (target.written, target.keeps_partition) == (written, keeps_partition)


def test_each_client_gets_the_settings_of_its_prefix() -> None:
    props = {
        **PROPS, "target.client.rack": "r", "target.linger.ms": "7", "connector.admin.retries": "3",
        "connector.producer.acks": "1",
    }  # fmt: skip
    admin, producer = ADMIN.settings(props), PRODUCER.settings(props)
    assert admin == {"bootstrap.servers": "127.0.0.1:1", "client.rack": "r", "retries": "3"}
    assert {name: producer.get(name) for name in ("linger.ms", "acks", "retries", "client.rack")} == {
        "linger.ms": "7", "acks": "1", "retries": PRODUCER.settings(PROPS).get("retries"), "client.rack": "r",
    }  # fmt: skip
