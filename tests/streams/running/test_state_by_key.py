"""Batches that are planned once, over state that is read by key."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import Column
from pyspark.sql import functions as F

from headrace.streams import (
    BufferConfig,
    Consumed,
    EmitStrategy,
    JoinWindows,
    Materialized,
    Produced,
    Serdes,
    SessionWindows,
    SlidingWindows,
    StoreType,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from headrace.testing.topics_in_memory import TopicsInMemory
from headrace.testing.topology_test_driver import TopologyTestDriver
from tests.streams.running.conftest import STRINGS, feed


def _microseconds() -> Column:
    return F.unix_micros(F.current_timestamp())


LATER_OPERATORS = {
    "nothing": lambda stream: stream,
    "reduce": lambda stream: stream.group_by_key().reduce(lambda old, new: new, Materialized.as_("last")).to_stream(),
    "table": lambda stream: stream.to_table(Materialized.as_("table")).to_stream(),
    "peek": lambda stream: stream.peek(lambda key, value: None),
    "join": lambda stream: stream.map_values(lambda v: v.cast("string")).join(
        stream, lambda left, right: right, JoinWindows.of_time_difference_with_no_grace(1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("later", LATER_OPERATORS)
def test_the_present_time_is_that_of_each_batch_whatever_follows(drive, later):
    builder = StreamsBuilder()
    times = builder.stream("in", STRINGS).map_values(lambda _: _microseconds())
    LATER_OPERATORS[later](times).to("out", Produced.with_(Serdes.string(), Serdes.long()))
    with drive(builder) as driver:
        planned = time.time_ns() // 1000
        for number in range(2):
            feed(driver, "in", [("a", "x", 10 * number)])
        first, second = driver.create_output_topic("out", Serdes.string(), Serdes.long()).read_key_values()
    assert planned < first[1] < second[1]


RANDOM = {
    "rand": F.rand, "randn": F.randn, "uuid": F.uuid, "uniform": lambda: F.uniform(F.lit(0.0), F.lit(1.0)),
    "randstr": lambda: F.randstr(F.lit(20)), "shuffle": lambda: F.shuffle(F.sequence(F.lit(1), F.lit(30))),
}  # fmt: skip


@pytest.mark.parametrize("function", RANDOM)
def test_random_values_are_those_of_each_batch(drive, function):
    builder = StreamsBuilder()
    values = builder.stream("in", STRINGS).map_values(lambda _: RANDOM[function]().cast("string"))
    values.group_by_key().reduce(lambda old, new: new, Materialized.as_("last")).to_stream().to("out")
    with drive(builder) as driver:
        for _ in range(2):
            feed(driver, "in", [("a", "x", 0)])
        first, second = driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_key_values()
    assert first[1] != second[1]


def test_an_exchange_is_an_operator_and_no_word_of_a_record(drive):
    builder = StreamsBuilder()
    trades = builder.stream("in", Consumed.with_(Serdes.string(), Serdes.json("StockExchange string, type string")))
    trades = trades.filter(lambda key, trade: trade["type"] == "Exchange")
    trades.map_values(lambda trade: trade["StockExchange"]).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    with drive(builder) as driver:
        feed(driver, "in", [("a", '{"StockExchange": "XNYS", "type": "Exchange"}', 0)])
        assert driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_key_values() == [("a", "XNYS")]


def test_a_batch_runs_the_job_of_the_batch_before(drive):
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).group_by_key().count(Materialized.as_("counts"))
    with drive(builder) as driver:
        task = driver._tasks[0]
        feed(driver, "in", [("a", "x", 0)])
        job = task.plan.job()
        feed(driver, "in", [("a", "x", 1)])
        assert task.plan.job() is job
        assert driver.store("counts").get("a") == 2


def test_sessions_of_keys_that_begin_alike_are_kept_apart(drive):
    builder = StreamsBuilder()
    sessions = SessionWindows.of_inactivity_gap_with_no_grace(timedelta(milliseconds=10))
    builder.stream("in", STRINGS).group_by_key().windowed_by(sessions).count(Materialized.as_("sessions"))
    with drive(builder) as driver:
        for key in ("a", "ab", "a", "ab", "", "a" * 17, "a", "a" + "\0" * 9, "a\0", "a\0", "a" + "\0" * 9):
            feed(driver, "in", [(key, "x", 0)])
        counts = {key: count for (key, _, _), count in driver.store("sessions").all()}
    assert counts == {"a": 3, "ab": 2, "": 1, "a" * 17: 1, "a\0": 2, "a" + "\0" * 9: 2}


SESSIONS = SessionWindows.of_inactivity_gap_and_grace(10, 100)
SLIDING = SlidingWindows.of_time_difference_and_grace(10, 100)
JOINED = JoinWindows.of_time_difference_and_grace(10, 100)
BY_KEY = {  # operators that read the rows of a record's key
    "sessions": lambda stream: stream.group_by_key().windowed_by(SESSIONS).count(Materialized.as_("sessions")),
    "sliding": lambda stream: stream.group_by_key().windowed_by(SLIDING).count(Materialized.as_("sliding")),
    "join": lambda stream: stream.join(
        stream.filter(lambda key, value: value == "y"), lambda left, right: F.concat(left, right), JOINED
    ).to("out"),
}


@pytest.mark.parametrize("operator", BY_KEY)
def test_a_record_reads_rows_of_its_own_key_and_of_its_own_time(drive, spark, operator):
    """Also from what a changelog holds. In the order of bytes rows of `10` are among those of `1`."""
    topics = TopicsInMemory(spark)
    now, keys = 1_700_000_000_000, [f"1{number:03}" for number in range(1000)]

    def application() -> StreamsBuilder:
        builder = StreamsBuilder()
        BY_KEY[operator](builder.stream("in", STRINGS))
        return builder

    with drive(application(), topics=topics) as driver:
        feed(driver, "in", [(key, "y", now) for key in ("1", "", *keys)])
        for key in ("1", ""):
            assert 0 < _rows_read(driver, key, now + 1) < 30
    with drive(application(), topics=topics) as driver:
        feed(driver, "in", [("other", "x", now)])  # with which the restore is counted
        for key in ("1", ""):
            assert 0 < _rows_read(driver, key, now + 2) < 30


def _rows_read(driver: TopologyTestDriver, key: str, time: int) -> int:
    """How many rows of stores a batch of one record reads."""
    figures = driver._tasks[0].metrics
    before = figures["rows-read"]
    feed(driver, "in", [(key, "y", time)])
    return int(figures["rows-read"] - before)


@pytest.mark.parametrize("given", [{}, {"default.dsl.store": "in_memory"}])
def test_a_store_is_on_disk_or_in_memory(drive, spark, given):
    builder, topics = StreamsBuilder(), TopicsInMemory(spark)
    grouped = builder.stream("in", STRINGS).group_by_key()
    for name in ("open", "disk", "memory"):
        kinds = {"disk": StoreType.ROCKS_DB, "memory": StoreType.IN_MEMORY}
        grouped.count(replace(Materialized.as_(name), store_type=kinds.get(name)))
    on_disk = {"disk"} if given else {"open", "disk"}
    for times in (1, 2):  # the second from changelogs
        with drive(builder, topics=topics, config=given) as driver:
            feed(driver, "in", [("a", "x", 0)])
            assert [driver.store(name).get("a") for name in ("open", "disk", "memory")] == [times] * 3
            files = Path(driver._tasks[0].state.runtime._directory).glob("OPTIONS-*")
            named = {name for file in files for name in re.findall(r'\[CFOptions "(.*)"\]', file.read_text())}
            assert named == {"default", *on_disk}


def test_an_application_without_records_runs_no_batch(drive):
    builder = StreamsBuilder()
    windows = TimeWindows.of_size_and_grace(10, 5)
    grouped = builder.stream("in", STRINGS).group_by_key()
    grouped.windowed_by(windows).emit_strategy(EmitStrategy.on_window_close()).count()
    unbounded = BufferConfig.unbounded()
    grouped.count().suppress(Suppressed.until_time_limit(10, unbounded)).to_stream().to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 0)])
        (task,) = driver._tasks
        before = task.metrics["batches"]
        driver.advance_wall_clock_time(timedelta(hours=1))  # what waits, waits for stream time
        assert not task.step()
        assert task.metrics["batches"] == before


def test_a_state_is_larger_than_the_memory_that_it_may_take(drive):
    builder, megabytes = StreamsBuilder(), 2
    builder.stream("in", STRINGS).group_by_key().reduce(lambda _, value: value, Materialized.as_("values"))
    config = {"spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": str(megabytes)}
    with drive(builder, config=config) as driver:
        for first in range(0, 7000, 500):
            feed(driver, "in", [(f"{n:05}", random.Random(n).randbytes(500).hex(), n) for n in range(first, first + 500)])
        (task,) = driver._tasks
        values = dict(driver.store("values").all())
        assert task.metrics["block-cache-usage"] <= megabytes << 20
    assert sum(map(len, values.values())) > 3 * megabytes << 20
    assert [values[f"{n:05}"] == random.Random(n).randbytes(500).hex() for n in range(7000)] == [True] * 7000
