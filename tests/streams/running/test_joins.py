"""Joins give what one record after the other gives, in the order of a Kafka Streams task."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from headrace.streams import (
    Consumed,
    JoinWindows,
    KafkaStreams,
    Materialized,
    Serdes,
    SessionWindows,
    StreamsBuilder,
    TimeWindows,
)
from headrace.streams.serdes import WindowedSerde
from tests.clusters import record
from tests.streams.running import reference
from tests.streams.running.application import WAIT_S
from tests.streams.running.conftest import STRINGS, batches, feed, randomly
from tests.support import seeds, wait_until


def both(left, right):
    """What the joiners make: `left-right`, None for a side that is not there."""
    return F.concat_ws("-", F.coalesce(left, F.lit("None")), F.coalesce(right, F.lit("None")))


def _side(number, rows) -> list:
    """Records whose values tell them apart."""
    return [(key, value and f"{value}{i}{number}", t + 25 * number) for i, (key, value, t) in enumerate(rows)]


def _out(driver):
    return driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_records()


def _feed_both(driver, left, right) -> None:
    """Both topics in one batch."""
    for topic, batch in (("left", left), ("right", right)):
        rows = driver.create_input_topic(topic, Serdes.string(), Serdes.string())._rows(batch)
        for key, value, at, _ in rows:
            driver.topics.append(topic, key, value, at)
    driver.pipe("left", [])


@pytest.mark.parametrize(
    ("kind", "seed", "limit"), [*((kind, seed, "500000") for kind in ("inner", "left") for seed in seeds(1, 2)), ("left", 3, "3")]
)
def test_a_record_gets_the_row_that_the_table_has_at_its_turn(drive, kind, seed, limit):
    builder = StreamsBuilder()
    stream, table = builder.stream("left", STRINGS), builder.table("right", STRINGS)
    (stream.join if kind == "inner" else stream.left_join)(table, both).to("out")
    rows = {}
    with drive(builder, config={"headrace.max.batch.records": limit}) as driver:
        for number, (left, right) in enumerate(zip(batches(seed), batches(seed + 50), strict=True)):
            right = [] if number == 1 else right
            expected = []
            for side, (key, value, t) in reference.merged(left, right):
                if side == 1 and key is not None:
                    rows[key] = value
                elif side == 0 and value is not None and (key is not None or kind == "left"):
                    row = rows.get(key) if key is not None else None
                    if row is not None or kind == "left":
                        expected.append((key, f"{value}-{row}", t))
            _feed_both(driver, left, right)
            assert sorted(map(str, [(r.key, r.value, r.timestamp) for r in _out(driver)])) == sorted(map(str, expected))


def test_what_is_left_out_leaves_the_order_of_the_others_as_it_is(drive):
    builder = StreamsBuilder()
    stream, table = builder.stream("left", STRINGS), builder.table("right", STRINGS)
    numbers = stream.map_values(lambda value: value.cast("int").cast("string"))
    numbers.join(table, both).to("out")
    left = [("a", "bad" if i == 7 else f"{i}", 10 * i) for i in range(12)]
    with drive(builder, config={"processing.exception.handler": "continue"}) as driver:
        _feed_both(driver, left, [("a", f"{i}", 30 * i) for i in range(4)])
        assert [r.value for r in _out(driver)] == [f"{i}-{(i - 1) // 3}" for i in range(1, 12) if i != 7]


def test_a_stream_meets_the_rows_of_a_table_that_was_mapped_and_filtered(drive):
    builder = StreamsBuilder()
    table = builder.table("right", STRINGS).map_values(lambda v: F.upper(v)).filter(lambda k, v: v != "NO")
    builder.stream("left", STRINGS).left_join(table, both).to("out")
    with drive(builder) as driver:
        feed(driver, "right", [("a", "x", 1), ("b", "no", 1)])
        feed(driver, "left", [("a", "1", 2), ("b", "2", 2)])
        assert sorted(r.value for r in _out(driver)) == ["1-X", "2-None"]


@pytest.mark.parametrize("kind", seeds("outer", "left", "inner"))
def test_tables_give_the_rows_that_both_have(drive, kind):
    builder = StreamsBuilder()
    left, right = builder.table("left", STRINGS), builder.table("right", STRINGS)
    join = {"inner": left.join, "left": left.left_join, "outer": left.outer_join}[kind]
    join(right, both, Materialized.as_("store")).to_stream().to("out")
    state, rows, expected = {}, ({}, {}), {}
    with drive(builder) as driver:
        for left_batch, right_batch in zip(batches(7), batches(57), strict=True):
            _feed_both(driver, left_batch, right_batch)
            for side, (key, value, time) in reference.merged(left_batch, right_batch):
                if key is None:
                    continue
                rows[side][key] = value, time
                (one, _), (other, _) = rows[0].get(key, (None, 0)), rows[1].get(key, (None, 0))
                expected.pop(key, None)
                if {"inner": one and other, "left": one, "outer": one or other}[kind]:
                    there = [row[1] for row in (rows[0].get(key), rows[1].get(key)) if row and row[0]]
                    expected[key] = f"{one}-{other}", max(time, *there)
            state |= {r.key: (r.value, r.timestamp) for r in _out(driver)}
            assert {k: row for k, row in state.items() if row[0] is not None} == expected
            assert dict(driver.store("store").all()) == {k: value for k, (value, _) in expected.items()}


def test_the_time_of_a_row_of_two_tables_is_not_that_of_a_row_that_is_gone(drive):
    """In one batch as in two; the first record of each batch is ahead, so that the right table's record comes first."""
    builder = StreamsBuilder()
    left, right = builder.table("left", STRINGS), builder.table("right", STRINGS)
    left.left_join(right, both).to_stream().to("left_joined")
    left.outer_join(right, both).to_stream().to("outer_joined")
    left.join(right, both).to_stream().to("joined")
    with drive(builder) as driver:
        names = ("left_joined", "outer_joined", "joined")
        out = {name: driver.create_output_topic(name, Serdes.string(), Serdes.string()) for name in names}
        _feed_both(driver, [("a", "x", 10)], [("a", "r", 20)])
        assert {name: topic.read_records()[-1].timestamp for name, topic in out.items()} == dict.fromkeys(names, 20)
        _feed_both(driver, [("other", None, 150), ("a", "y", 50)], [("a", None, 100)])
        found = {name: [(r.value, r.timestamp) for r in topic.read_records() if r.key == "a"] for name, topic in out.items()}
        assert found == {"left_joined": [("y-None", 50)], "outer_joined": [("y-None", 50)], "joined": [(None, 100)]}


@pytest.mark.parametrize("kind", ["inner", "left", "outer"])
@pytest.mark.parametrize("seed", seeds(1, 2))
def test_streams_meet_within_their_window_and_stay_alone_after_it(drive, kind, seed):
    builder = StreamsBuilder()
    left, right = builder.stream("left", STRINGS), builder.stream("right", STRINGS)
    join = {"inner": left.join, "left": left.left_join, "outer": left.outer_join}[kind]
    join(right, both, JoinWindows.of_time_difference_and_grace(6, 4).before(3)).to("out")
    expected = reference.StreamJoin(3, 6, 4, kind)
    with drive(builder) as driver:
        for number in range(3):
            sides = [_side(number, randomly(seed * 10 + number + side, 12, times=40)) for side in (0, 77)]
            _feed_both(driver, *sides)
            results = sorted((str(r.key), r.value, r.timestamp) for r in _out(driver))
            assert results == sorted((str(key), *rest) for key, *rest in expected.take(reference.merged(*sides)))


def test_a_result_of_streams_has_the_headers_of_the_record_that_led_to_it(drive):
    builder = StreamsBuilder({"topology.optimization": "all"})
    left, right = builder.stream("left", STRINGS), builder.stream("right", STRINGS)
    windows = JoinWindows.of_time_difference_and_grace(10, 10)
    left.left_join(right, both, windows).to("out")
    left.join(left, both, windows).to("itself")
    with drive(builder, config={"topology.optimization": "all"}) as driver:
        for n, (topic, key) in enumerate((("left", b"a"), ("right", b"a"), ("left", b"a"), ("left", None))):
            driver.pipe(topic, [(key, b"%d" % n, n, [("trace", b"%d" % n)])])
        traces = [(r.value, dict(r.headers)["trace"]) for r in _out(driver)]
        assert traces == [("0-1", b"1"), ("2-1", b"2"), ("3-None", b"3")]
        itself = driver.create_output_topic("itself", Serdes.string(), Serdes.string()).read_records()
        assert [(r.value, dict(r.headers)["trace"]) for r in itself] == [
            ("0-0", b"0"), ("2-0", b"2"), ("0-2", b"2"), ("2-2", b"2"),
        ]  # fmt: skip


def test_a_global_table_is_looked_up_by_any_key(drive):
    builder = StreamsBuilder()
    rows = builder.global_table("right", STRINGS)
    builder.stream("left", STRINGS).left_join(rows, lambda k, v: v, both).to("out")
    with drive(builder) as driver:
        feed(driver, "right", [("x", "one", 1), ("y", "two", 1), ("y", None, 2)])
        feed(driver, "left", [("a", "x", 3), ("a", "y", 4)])
        assert [(r.key, r.value) for r in _out(driver)] == [("a", "x-one"), ("a", "y-None")]


def test_a_record_of_a_global_table_that_its_serde_cannot_read_is_left_out_where_the_handler_says_so(drive):
    builder = StreamsBuilder()
    rows = builder.global_table("right", Consumed.with_(Serdes.string(), Serdes.boolean()))
    builder.stream("left", STRINGS).join(rows, lambda k, v: v, lambda v, row: row.cast("string")).to("out")
    with drive(builder, config={"deserialization.exception.handler": "continue"}) as driver:
        values = {b"x": b"\x01", b"y": b"\x02", b"z": b"too long", b"w": b"\x00"}
        driver.pipe("right", [(key, value, 1, None) for key, value in values.items()])
        feed(driver, "left", [(key.decode(), key.decode(), 3) for key in values])
        assert [(r.key, r.value) for r in _out(driver)] == [("x", "true"), ("w", "false")]


def test_the_last_record_of_a_key_is_the_row_of_a_global_table_whatever_its_time(drive):
    builder = StreamsBuilder()
    builder.stream("left", STRINGS).left_join(builder.global_table("right", STRINGS), lambda k, v: k, both).to("out")
    with drive(builder) as driver:
        feed(driver, "right", [("k", "a", 10), ("k", "b", 5), ("gone", "c", 10), ("gone", None, 5)])
        feed(driver, "left", [("k", "x", 20), ("gone", "x", 20)])
        assert [r.value for r in _out(driver)] == ["x-b", "x-None"]


def test_a_global_table_whose_topic_is_created_again_is_loaded_again(drive):
    builder = StreamsBuilder()
    builder.stream("left", STRINGS).left_join(builder.global_table("right", STRINGS), lambda k, v: k, both).to("out")
    with drive(builder) as driver:
        feed(driver, "right", [("kept", "a", 1), ("kept", "b", 2), ("gone", "c", 3), ("deleted", "d", 4)])
        for again in ([("kept", "e", 5), ("deleted", "d", 6), ("deleted", None, 7)], []):
            del driver.topics.rows["right"]
            feed(driver, "right", again)
            feed(driver, "left", [(key, "x", 20) for key in ("kept", "gone", "deleted")])
        assert [r.value for r in _out(driver)] == ["x-e", "x-None", "x-None"] + ["x-None"] * 3


def test_a_joiner_of_a_global_table_gets_the_record_s_key_and_the_mapped_one(drive):
    builder = StreamsBuilder()
    rows = builder.global_table("right", STRINGS)
    stream = builder.stream("left", STRINGS)
    all_ = lambda key, mapped, value, row: F.concat_ws("-", key, mapped, value, row)  # noqa: E731
    stream.join(rows, lambda k, v: F.upper(v), all_).merge(
        stream.left_join(rows, lambda k, v: F.nullif(v, F.lit("y")), lambda key, value, row: F.concat_ws("-", key, value, row))
    ).to("out")
    with drive(builder) as driver:
        feed(driver, "right", [("X", "one", 1), ("x", "two", 1)])
        feed(driver, "left", [("a", "x", 3), ("b", "y", 4)])
        assert [(r.key, r.value) for r in _out(driver)] == [("a", "a-X-x-one"), ("a", "a-x-two"), ("b", "b-y")]


def test_the_rows_of_sessions_are_joined(drive):
    builder = StreamsBuilder()
    sessions = builder.stream("in", STRINGS).group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(5, 100))
    counts, values = sessions.count(), sessions.reduce(lambda one, other: F.concat(one, other))
    counts.join(values, lambda n, v: F.concat_ws("-", n, v)).to_stream().to("out")
    serde, state = WindowedSerde("session_windowed", None, Serdes.string()), {}
    with drive(builder) as driver:
        for batch in ([("a", "x", 1), ("a", "y", 20)], [("a", "z", 4)], [("a", "u", 8), ("b", "v", 8)]):
            feed(driver, "in", batch)
            for r in driver.create_output_topic("out", serde, Serdes.string()).read_records():
                state[r.key["key"], r.key["start"], r.key["end"]] = r.value
    assert {k: v for k, v in state.items() if v} == {("a", 1, 8): "3-xzu", ("a", 20, 20): "1-y", ("b", 8, 8): "1-v"}


@pytest.mark.parametrize("counts", [True, False])
def test_a_stream_meets_every_change_of_a_windowed_table(drive, counts):
    builder = StreamsBuilder()
    stream, windows = builder.stream("in", STRINGS), TimeWindows.of_size_and_grace(10, 0)
    some = stream.filter(lambda k, v: v != "y").group_by_key().windowed_by(windows).count().to_stream()
    every = stream.group_by_key().windowed_by(windows)
    table = every.count() if counts else every.reduce(lambda one, other: F.concat(one, other))
    some.join(table, lambda n, v: F.concat_ws("-", n, v)).to("out")
    serde = WindowedSerde("time_windowed", None, Serdes.string(), 10)
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("a", "y", 2), ("a", "z", 3), ("a", "y", 4), ("b", "x", 12), ("b", "x", 13)])
        results = driver.create_output_topic("out", serde, Serdes.string()).read_records()
    # The stream comes before the table.
    expected = {("a", 0): "2-2", ("b", 10): "2-1"} if counts else {("a", 0): "2-xy", ("b", 10): "2-x"}
    assert {(r.key["key"], r.key["start"]): r.value for r in results} == expected


def test_with_more_than_a_batch_takes_no_topic_runs_ahead_of_another_and_windows_go_where_their_keys_do(make):
    app = make(headrace_max_batch_records="4")
    rows, keys, windows = (f"{app.id}-{name}" for name in ("rows", "keys", "windows"))
    for topic, partitions in ((rows, 2), (keys, 4), (windows, 4)):
        app.cluster.create(topic, partitions)
    # In their topic a few rows stand for as much time as many records do; partitions go by themselves.
    for p, key in enumerate((b"a", b"b")):
        app.cluster.produce(rows, [record(key, b"%d" % i, timestamp=1000 * i, partition=p) for i in range(1, 9 - 7 * p)])
        app.cluster.produce(app.source, [record(key, b"%d" % (i // 4), timestamp=250 * i + 1, partition=p) for i in range(4, 24)])
    builder = StreamsBuilder()
    stream = builder.stream(app.source, STRINGS)
    stream.join(builder.table(rows, STRINGS), lambda v, row: F.concat_ws("-", v, row)).to(app.sink)
    stream.to(keys)
    grouped = stream.group_by_key()
    grouped.windowed_by(TimeWindows.of_size_with_no_grace(250)).count().to_stream().to(windows)
    grouped.windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(100)).count().to_stream().to(windows)
    with KafkaStreams(builder.build(app.config), app.config) as streams:
        streams.start()
        wait_until(
            lambda: [len(app.cluster.read(t)) for t in (app.sink, windows)] == [40, 80],
            WAIT_S,
            lambda: f"all results; {streams.error}",
        )
    results = [(r.key, r.value) for r in app.cluster.read(app.sink)]
    partitions = {r.key: r.partition for r in app.cluster.read(keys)}
    of_windows = app.cluster.read(windows)
    assert len({r.key for r in of_windows}) == 80
    assert {(r.key[:1], r.partition) for r in of_windows} == set(partitions.items())
    assert [value for key, value in results if key == b"a"] == [b"%d-%d" % (i // 4, i // 4) for i in range(4, 24)]
    assert [value for key, value in results if key == b"b"] == [b"%d-1" % (i // 4) for i in range(4, 24)]
