"""Host names of brokers that cannot be resolved: a wrong setting at the first start, an outage later."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.errors import ConnectError, HeadraceError, RetriableError
from headrace.runtime.feed_errors import feed_error
from headrace.spark import known_servers
from headrace.spark.feeds import Feed, read_update
from headrace.spark.plane import Handle
from headrace.spark.transactions import TaskTransactions

RUNS = {"partitions": [{"topic": "t", "partition": 0, "next": 0, "records": 0, "bytes": 0, "upstream": -1, "downstream": -1,
                        "unbroken": 0, "age": [0] * 5, "latency": [0] * 5}]}  # fmt: skip
UNRESOLVED = {"kind": "error", "report": None, "place": None, "target": None, "size": 0,
              "javaClass": "org.apache.kafka.common.config.ConfigException",
              "message": "No resolvable bootstrap urls given in bootstrap.servers"}  # fmt: skip


def handle(target: str) -> Handle:
    return Handle(None, 1, Feed("c-0", {"bootstrap.servers": "source:9092"}, {"bootstrap.servers": target}, []))


def error(feed: Handle, **failure: Any) -> HeadraceError:
    put(feed, ended=True, failure={**UNRESOLVED, **failure})
    update = feed.update(0)
    assert update is not None and update.failure is not None
    return feed_error(update.failure, {}, lambda topic: pytest.fail(topic))


def put(feed: Handle, **news: Any) -> None:
    nothing = {"ended": False, "partitions": [], "counts": [], "topics": [], "needs": [], "failures": [], "written": []}
    feed.put(read_update({**nothing, "unnamed": 0, "transactions": [], **news}))


def test_names_that_a_feed_had_resolved_are_an_outage_and_others_a_wrong_setting() -> None:
    first = handle("target:9092")
    assert type(error(first)) is ConnectError
    put(first, **RUNS)
    first.update(0)
    assert type(error(first)) is RetriableError
    again = error(handle("target:9092"))  # the next run of the task, or another task
    assert (type(again), str(again)) == (
        RetriableError, "Records could not be copied: No resolvable bootstrap urls given in bootstrap.servers",
    )  # fmt: skip
    assert type(error(handle("wrong:9092"))) is ConnectError
    assert type(error(first, place="topic=t, partition=0, offset=1")) is ConnectError  # of the producer of dead letters
    assert type(error(first, message="Invalid value")) is ConnectError


def test_a_fence_waits_for_names_that_were_resolved_before(spark: SparkSession) -> None:
    servers = {"bootstrap.servers": "no-such-host.invalid:9092"}
    for expected in (ConnectError, RetriableError):
        with pytest.raises(ConnectError, match="No resolvable bootstrap urls") as raised:
            TaskTransactions("id", servers).fence(spark)
        assert type(raised.value) is expected
        known_servers.remember(servers)
