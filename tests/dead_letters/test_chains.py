"""Which letters of a sink can be replayed, as far as configurations tell: no broker is asked."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.dead_letters.chains import attempts
from headrace.dead_letters.letter import LetterId
from headrace.errors import BadRequestError
from headrace.preview.run import prepare
from headrace.runtime.worker_config import WorkerConfig
from tests.dead_letters.test_letter import letter

JSON = "org.apache.kafka.connect.json.JsonConverter"
WORKER = {"bootstrap.servers": "a:9092,b:9092", "key.converter": JSON, "value.converter": JSON}
CONSUMER, PRODUCER = "consumer.override.bootstrap.servers", "producer.override.bootstrap.servers"


def outcome(overrides: dict[str, str]) -> str:
    """The result for a letter of a sink with these overrides."""

    def no_spark() -> Any:
        raise AssertionError("a sink's letters go back as they are")

    preview = prepare({"connector.class": "FileStreamSink", "topics": "orders", **overrides}, WorkerConfig(dict(WORKER)))
    letter_id = LetterId(0, 7)
    return attempts(preview, {letter_id: letter(topic="orders")}, no_spark)[letter_id].outcome


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {CONSUMER: "a:9092"},
        {CONSUMER: "b:9092,a:9092"},
        {CONSUMER: "PLAINTEXT://A:9092"},
        {CONSUMER: "a:9092", PRODUCER: "b:9092"},
        {CONSUMER: "far:1,far:2", PRODUCER: "far:2"},
    ],
)
def test_a_letter_goes_back_to_its_cluster_however_that_is_written(overrides: dict[str, str]):
    assert outcome(overrides) == "ready"


@pytest.mark.parametrize("overrides", [{CONSUMER: "far:1"}, {PRODUCER: "far:1"}, {CONSUMER: "far:1", PRODUCER: "near:1"}])
def test_a_letter_of_a_sink_that_reads_another_cluster_is_refused(overrides: dict[str, str]):
    with pytest.raises(BadRequestError, match="The connector reads from another cluster than its dead letters are in"):
        outcome(overrides)
