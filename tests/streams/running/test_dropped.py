"""Records that an operator leaves out are counted, and logged in Kafka's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from pyspark.sql import functions as F

from headrace.streams import (
    EmitStrategy,
    JoinWindows,
    Materialized,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
)
from tests.streams.running.conftest import STRINGS, feed
from tests.support import captured_logs

NULL_KEY, NULL_KEY_OR_VALUE = "Skipping record due to null key.", "Skipping record due to null key or value."
NULL_JOIN_KEY, WINDOW = "Skipping record due to null join key or value.", "Skipping record for expired window."
PUT = "Skipping record for expired put."


def _count(b: StreamsBuilder) -> None:
    b.stream("in", STRINGS).group_by_key().count()


def _tumbling(b: StreamsBuilder) -> None:
    b.stream("in", STRINGS).group_by_key().windowed_by(TimeWindows.of_size_with_no_grace(10)).count()


def _hopping(b: StreamsBuilder) -> None:
    windows = TimeWindows.of_size_with_no_grace(10).advance_by(5)
    counts = b.stream("in", STRINGS).group_by_key().windowed_by(windows).count()
    # A join needs all single changes, so that Spark computes the same rows twice.
    counts.to_stream().join(counts, lambda n, m: n + m).to("out")


def _sliding(b: StreamsBuilder) -> None:
    windows = SlidingWindows.of_time_difference_with_no_grace(10)
    b.stream("in", STRINGS).group_by_key().windowed_by(windows).emit_strategy(EmitStrategy.ON_WINDOW_CLOSE).count()


def _sessions(b: StreamsBuilder) -> None:
    b.stream("in", STRINGS).group_by_key().windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(10)).count()


def _cogrouped(b: StreamsBuilder) -> None:
    stream, add = b.stream("in", STRINGS), lambda k, v, n: n + 1
    cogrouped = stream.group_by_key().cogroup(add).cogroup(stream.group_by_key(), add)
    cogrouped.windowed_by(TimeWindows.of_size_with_no_grace(10)).aggregate(lambda: F.lit(0).cast("bigint"))


def _table(b: StreamsBuilder) -> None:
    table = b.table("in", STRINGS)
    table.to_stream().to("out")
    table.filter(lambda k, v: v == "x").to_stream().to("filtered")


def _versions(b: StreamsBuilder) -> None:
    b.table("in", STRINGS, Materialized.as_(Stores.persistent_versioned_key_value_store("versions", 20)))


def _join(b: StreamsBuilder) -> None:
    b.stream("in", STRINGS).join(b.table("rows", STRINGS), lambda v, w: v).to("out")


def _left_join(b: StreamsBuilder) -> None:
    b.stream("in", STRINGS).left_join(b.table("rows", STRINGS), lambda v, w: v).to("out")


def _global_join(b: StreamsBuilder) -> None:
    b.stream("in", STRINGS).join(b.global_table("rows", STRINGS), lambda k, v: F.nullif(v, F.lit("y")), lambda v, w: v).to("out")


def _stream_join(b: StreamsBuilder) -> None:
    other = b.stream("other", STRINGS)
    b.stream("in", STRINGS).join(other, lambda v, w: v, JoinWindows.of_time_difference_with_no_grace(10)).to("out")


def _stream_left_join(b: StreamsBuilder) -> None:
    other = b.stream("other", STRINGS)
    b.stream("in", STRINGS).left_join(other, lambda v, w: v, JoinWindows.of_time_difference_with_no_grace(10)).to("out")


def _self_join(b: StreamsBuilder) -> None:
    stream = b.stream("in", STRINGS)
    stream.join(stream, lambda v, w: v, JoinWindows.of_time_difference_with_no_grace(10)).to("out")


@pytest.mark.parametrize(
    ("define", "expected"),
    [
        (_count, {NULL_KEY_OR_VALUE: 2}),
        (_tumbling, {NULL_KEY: 1, WINDOW: 2}),
        (_hopping, {NULL_KEY: 1, WINDOW: 4}),
        (_sliding, {NULL_KEY_OR_VALUE: 2, WINDOW: 2}),
        (_sessions, {NULL_KEY: 1, WINDOW: 2}),
        (_cogrouped, {NULL_KEY: 2, WINDOW: 4}),
        (_table, {NULL_KEY: 1}),
        (_versions, {NULL_KEY: 1, PUT: 2}),
        (_join, {NULL_JOIN_KEY: 2}),
        (_left_join, {NULL_JOIN_KEY: 1}),
        (_global_join, {NULL_JOIN_KEY: 2}),
        (_stream_join, {NULL_KEY_OR_VALUE: 2}),
        (_stream_left_join, {NULL_KEY_OR_VALUE: 1}),
        (_self_join, {NULL_KEY_OR_VALUE: 2}),
    ],
)
def test_records_that_an_operator_leaves_out_are_counted_and_logged_once(
    drive, define: Callable[[StreamsBuilder], None], expected: dict[str, int]
):
    builder = StreamsBuilder()
    define(builder)
    config = {"topology.optimization": "all"} if define is _self_join else {}
    with drive(builder, config=config) as driver, captured_logs() as logs:
        feed(driver, "in", [("a", "x", 100), ("a", "y", 8), ("b", "x", 6), (None, "x", 101), ("b", None, 102)])
        feed(driver, "in", [("a", "x", 103)])
        assert sum(task.metrics["dropped"] for task in driver._tasks) == sum(expected.values())
    skipped = [line for line in logs if line["event"].startswith("Skipping")]
    assert Counter(line["event"] for line in skipped) == expected
    assert {line["partition"] for line in skipped} == {0}
