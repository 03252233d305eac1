"""What the task makes of Spark's offsets (the rest is tested on real clusters, tests/kafka_source)."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.kafka_source.assignment import TASK_PARTITIONS
from headrace.connectors.kafka_source.connector import KafkaSourceConnector
from headrace.connectors.kafka_source.task import KafkaSourceTask, kind, parse_partition, source_partition
from headrace.errors import ConnectError, RetriableError


def test_source_partitions_are_those_of_the_connector_that_kip_310_names() -> None:
    assert source_partition(("a.b-c", 3)) == {"topic:partition": "a.b-c:3"}
    assert parse_partition({"topic:partition": "a.b-c:3"}) == ("a.b-c", 3)


@pytest.mark.parametrize("partition", [{}, {"topic:partition": "t"}, {"topic:partition": "t:x"}, {"cluster": "c"}])
def test_another_connectors_source_partition_is_refused(partition: dict[str, str]) -> None:
    with pytest.raises(RetriableError, match="is no source partition"):
        parse_partition(partition)


def test_the_string_deserializer_gives_text() -> None:
    assert kind("org.apache.kafka.common.serialization.StringDeserializer") == "string"
    assert kind("org.apache.kafka.common.serialization.ByteArrayDeserializer") == "bytes"


WHERE = {"topic:partition": "a:b:0"}


def test_offsets_that_a_task_can_read_are_agreed_to_and_anything_can_be_removed() -> None:
    changes: list[Any] = [(WHERE, {"offset": -1}), (WHERE, {"topicId": "x", "offset": 2**40}), ({"x": 1}, None), (None, None)]
    assert KafkaSourceConnector.alter_offsets({}, changes)


@pytest.mark.parametrize(
    ("partition", "offset", "text"),
    [
        (
            WHERE,
            {"position": 1},
            "Source offset {position=1} for source partition {topic:partition=a:b:0} is missing the 'offset' key",
        ),
        *[(WHERE, {"offset": bad}, "which must be an integer") for bad in ("1", None, 1.9, True)],
        (WHERE, {"offset": -2}, "which cannot be below -1"),
        *[
            (bad, {"offset": 1}, "has to be of the form {topic:partition=<topic>:<number>}")
            for bad in (
                None,
                {},
                {"topic": "t", "partition": 0},
                {"topic:partition": "t:00"},
                {"topic:partition": "t"},
                {**WHERE, "x": 1},
            )
        ],
    ],
)
def test_offsets_that_no_task_can_read_are_refused(partition: Any, offset: Any, text: str) -> None:
    with pytest.raises(ConnectError) as refused:
        KafkaSourceConnector.alter_offsets({}, [(partition, offset)])
    assert text in str(refused.value)


def test_a_task_takes_no_longer_to_stop_than_is_configured() -> None:
    task = KafkaSourceTask(TaskContext("c", 0))
    props = {"source.bootstrap.servers": "127.0.0.1:1", "source.topic.whitelist": "t", TASK_PARTITIONS: ""}
    task.start({**props, "max.shutdown.wait.ms": "7000"})
    assert task.shutdown_wait_s == 7
