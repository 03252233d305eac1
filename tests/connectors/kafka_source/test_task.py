"""What the task makes of Spark's offsets (the rest is tested on real clusters, tests/kafka_source)."""

from __future__ import annotations

import pytest

from headrace.connectors.kafka_source.task import kind, parse_partition, source_partition
from headrace.errors import RetriableError


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
