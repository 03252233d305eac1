"""What the task makes of Spark's offsets (the rest is tested on real clusters, tests/mirror)."""

from __future__ import annotations

import pytest

from headrace.connectors.kafka_source.task import advanced, kind, parse_partition, source_partition, summary
from headrace.errors import RetriableError


def test_only_partitions_that_moved_are_part_of_a_batch() -> None:
    before, after = {"t": {0: 5, 1: 7}}, {"t": {0: 9, 1: 7}}
    assert advanced(before, after) == {("t", 0): (5, 9)}


def test_source_partitions_are_those_of_the_connector_that_kip_310_names() -> None:
    assert source_partition(("a.b-c", 3)) == {"topic:partition": "a.b-c:3"}
    assert parse_partition({"topic:partition": "a.b-c:3"}) == ("a.b-c", 3)


@pytest.mark.parametrize("partition", [{}, {"topic:partition": "t"}, {"topic:partition": "t:x"}, {"cluster": "c"}])
def test_another_connectors_source_partition_is_refused(partition: dict[str, str]) -> None:
    with pytest.raises(RetriableError, match="is no source partition"):
        parse_partition(partition)


def test_a_batch_is_summed_up_in_words() -> None:
    assert summary({("t", 0): (0, 10), ("t", 1): (5, 6)}) == "t-0 offsets 0 to 9, t-1 offsets 5 to 5"
    many = {("t", p): (0, 1) for p in range(7)}
    assert summary(many).endswith("and 2 more partitions")


def test_the_string_deserializer_gives_text() -> None:
    assert kind("org.apache.kafka.common.serialization.StringDeserializer") == "string"
    assert kind("org.apache.kafka.common.serialization.ByteArrayDeserializer") == "bytes"
