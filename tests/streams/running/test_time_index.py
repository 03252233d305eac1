"""What waits for stream time is read by the range of time that a batch brings: rows read are counted, not seconds."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import functions as F

from headrace.streams import (
    BufferConfig,
    EmitStrategy,
    Joined,
    JoinWindows,
    KStream,
    Materialized,
    Produced,
    Serdes,
    SessionWindows,
    Stores,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from headrace.testing.topics_in_memory import TopicsInMemory
from headrace.testing.topology_test_driver import TopologyTestDriver
from tests.streams.running.conftest import STRINGS, feed

WAITING = 3_000  # records, which wait in seven stores
FAR = 10_000_000


def _waiting(builder: StreamsBuilder) -> Mapping[str, KStream]:
    """By topic, results that come FAR after the time of a record."""
    stream, other = builder.stream("in", STRINGS), builder.stream("other", STRINGS)
    grouped, closing = stream.group_by_key(), EmitStrategy.on_window_close()
    windows, sessions = TimeWindows.of_size_and_grace(10, FAR), SessionWindows.of_inactivity_gap_and_grace(10, FAR)
    until_closed, a_time = Suppressed.until_window_closes(BufferConfig.unbounded()), BufferConfig.unbounded()
    table = builder.table("rows", STRINGS, Materialized.as_(Stores.persistent_versioned_key_value_store("history", 2 * FAR)))
    joined = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string()).with_grace_period(FAR)
    within = JoinWindows.of_time_difference_and_grace(10, FAR)
    return {
        "windows": grouped.windowed_by(windows).emit_strategy(closing).count().to_stream(),
        "sessions": grouped.windowed_by(sessions).emit_strategy(closing).count().to_stream(),
        "suppressed": grouped.windowed_by(windows).count().suppress(until_closed).to_stream(),
        "bounded": grouped.count().suppress(Suppressed.until_time_limit(FAR, BufferConfig.max_records(2 * WAITING))).to_stream(),
        "held": grouped.count().suppress(Suppressed.until_time_limit(FAR, a_time)).to_stream(),
        "alone": stream.outer_join(other, lambda mine, theirs: F.coalesce(mine, theirs), within),
        "waited": stream.left_join(table, lambda value, row: value, joined),
    }


def test_a_batch_reads_what_is_due_and_not_what_waits(drive, spark):
    topics, builder = TopicsInMemory(spark), StreamsBuilder()
    results = _waiting(builder)
    for topic, stream in results.items():
        one = stream.map(lambda key, value: (F.lit("key"), F.lit("value")))
        one.to(topic, Produced.with_(Serdes.string(), Serdes.string()))
    with drive(builder, topics=topics) as driver:
        feed(driver, "in", [(f"k{number}", "x", 100 * number) for number in range(WAITING)])
        assert _counts(driver, results) == dict.fromkeys(results, 0)
        assert _rows_read(driver, FAR + 250) < 300
        assert _counts(driver, results) == dict.fromkeys(results, 3)  # those at 0, 100 and 200
    with drive(builder, topics=topics) as driver:  # from what the changelogs say
        feed(driver, "in", [("later", "x", FAR + 250)])  # with which the restore is counted
        assert _rows_read(driver, FAR + 350) < 300
        assert _counts(driver, results) == dict.fromkeys(results, 4)


def _rows_read(driver: TopologyTestDriver, time: int) -> int:
    """How many rows of stores a batch of one record reads."""
    figures = driver._tasks[0].metrics
    before = figures["rows-read"]
    feed(driver, "in", [("later", "x", time)])
    return int(figures["rows-read"] - before)


def _counts(driver: TopologyTestDriver, results: Mapping[str, KStream]) -> dict[str, int]:
    """How many results each topic has."""
    strings = Serdes.string(), Serdes.string()
    return {topic: len(driver.create_output_topic(topic, *strings).read_records()) for topic in results}
