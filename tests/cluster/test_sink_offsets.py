"""Offsets of sinks as REST takes them (KIP-875); the requests themselves are played in tests/conformance and tests/sinks."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.cluster.sink_offsets import parse
from headrace.errors import BadRequestError

GOOD = {"kafka_topic": "t", "kafka_partition": 0}


def test_numbers_may_be_texts() -> None:
    changes = [({"kafka_topic": "t", "kafka_partition": "1"}, {"kafka_offset": "7"}), (GOOD, None)]
    assert parse(changes) == {("t", 1): 7, ("t", 0): None}


@pytest.mark.parametrize(("partition", "offset", "sentence"), [
    (None, None, "cannot be null or missing"),
    ({"kafka_topic": "t"}, None, "must contain the keys 'kafka_topic' and 'kafka_partition'"),
    ({"kafka_topic": None, "kafka_partition": 0}, None, "Kafka topic names must be valid strings and may not be null"),
    ({"kafka_topic": "t", "kafka_partition": None}, None, "Kafka partitions must be valid numbers and may not be null"),
    ({"kafka_topic": "t", "kafka_partition": "one"}, None, "partition value in the provided offsets: 'one'"),
    (GOOD, {}, "should either be null or contain the key 'kafka_offset'"),
    (GOOD, {"kafka_offset": None}, "offset value in the provided offsets: 'null'"),
    (GOOD, {"kafka_offset": 1.5}, "offset value in the provided offsets: '1.5'"),
    ({"kafka_topic": "t", "kafka_partition": 2**31}, None, "partition value in the provided offsets: '2147483648'"),
    (GOOD, {"kafka_offset": 2**63}, "offset value in the provided offsets: '9223372036854775808'"),
    (GOOD, {"kafka_offset": True}, "offset value in the provided offsets: 'true'"),
])  # fmt: skip
def test_what_is_no_offset_is_refused_in_kafkas_words(partition: Any, offset: Any, sentence: str) -> None:
    with pytest.raises(BadRequestError, match=sentence):
        parse([(partition, offset)])
