"""The first lines of a task whose records are refused: those of Kafka Connect."""

from __future__ import annotations

import pytest

from headrace.errors import ConnectError
from headrace.runtime.feed_errors import feed_error
from headrace.spark.feeds import FeedFailure

PLACE = "topic=a, partition=0, offset=1"


@pytest.mark.parametrize(("exactly", "target", "sentence"), [
    (None, "b", f"Unrecoverable exception from producer send callback for a record of b ({PLACE}): no key"),
    ("c-0", "b", "Failed to flush offsets and/or records for task c-0: Unrecoverable exception from producer send callback for a "
     f"record of b ({PLACE}): no key"),
    ("c-0", None, f"Records could not be copied ({PLACE}): no key"),
])  # fmt: skip
def test_a_refusal_has_kafkas_sentence_with_exactly_once_that_of_a_commit(
    exactly: str | None, target: str | None, sentence: str
) -> None:
    refused = FeedFailure("error", None, PLACE, target, 1, "org.apache.kafka.common.InvalidRecordException", "no key")
    error = feed_error(refused, {}, lambda topic: pytest.fail(topic), exactly)
    assert (type(error), str(error)) == (ConnectError, sentence)
