"""What a sink's feed makes of the updates of the data plane."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.file_stream.sink import FileStreamSinkTask
from headrace.kafka.positions import StartPositions
from headrace.runtime.sink.feed import SinkFeed
from headrace.spark.feeds import FeedFailure, Update, read_update
from tests.runtime.test_sink_plan import plan


def update(**records: int) -> Update:
    """One with these totals of records read, of partition 0 of each topic."""
    zero = {"partition": 0, "next": 0, "bytes": 0, "upstream": -1, "downstream": -1, "unbroken": 0, "age": [0] * 5}
    partitions = [{**zero, "topic": topic, "records": total, "latency": [0] * 5} for topic, total in records.items()]
    lists = dict.fromkeys(("counts", "topics", "needs", "failures", "written", "transactions"), ())
    return read_update({"ended": False, "unnamed": 0, "partitions": partitions, **lists})


def test_a_topic_is_active_by_what_has_been_read_since_the_last_update() -> None:
    task, unused = FileStreamSinkTask(TaskContext("c", 0)), cast("Any", None)
    feed = SinkFeed(task, plan({"topics": "a,b"}), unused, unused, StartPositions({}))
    assert [set(feed.active_topics(update(**totals))) for totals in (
        {"a": 1, "b": 5}, {"b": 6}, {}, {"a": 1, "b": 6}, {"a": 2},
    )] == [{"a", "b"}, {"b"}, set(), set(), {"a"}]  # fmt: skip


def test_a_topic_is_active_by_the_first_record_of_the_next_feed() -> None:
    task, unused = FileStreamSinkTask(TaskContext("c", 0)), cast("Any", None)
    feed = SinkFeed(task, plan({"topics": "a"}), unused, unused, StartPositions({}))
    feed.active_topics(update(a=5))
    feed.feed_begins()
    assert set(feed.active_topics(update(a=1))) == {"a"}


@pytest.mark.parametrize(("step", "active"), [("transform:x", {"a"}), ("output.value", {"a"}), ("input.value", set())])
def test_the_topic_of_a_record_that_fails_the_task_is_active_if_the_converters_have_read_it(step: str, active: set[str]) -> None:
    task, unused = FileStreamSinkTask(TaskContext("c", 0)), cast("Any", None)
    feed = SinkFeed(task, plan({"topics": "a"}), unused, unused, StartPositions({}))
    report = json.dumps({"topic": "a", "partition": "0", "offset": "0", "failure": {"step": step, "class": "DataException"}})
    failure = FeedFailure("record", report, "topic=a, partition=0, offset=0", None, 0, "", "")
    assert set(feed.active_topics(replace(update(), ended=True, failure=failure))) == active
