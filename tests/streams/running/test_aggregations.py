"""Aggregations give what one record after the other gives, whatever the batches are."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import functions as F

from headrace.streams import (
    BufferConfig,
    Consumed,
    EmitStrategy,
    Grouped,
    Materialized,
    Serdes,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from headrace.streams.engine import store_table
from headrace.streams.serdes import WindowedSerde
from headrace.testing.topics_in_memory import TopicsInMemory
from tests.streams.running import reference
from tests.streams.running.conftest import STRINGS, batches, feed
from tests.support import seeds

SEEDS = seeds(1, 2)


def _grouped(builder: StreamsBuilder):
    return builder.stream("in", STRINGS).group_by_key()


def _out(driver, key=None, value=None):
    return driver.create_output_topic("out", key or Serdes.string(), value or Serdes.string()).read_records()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_count_is_passed_on_once_for_each_key_and_batch(drive, seed):
    builder, state = StreamsBuilder(), {}
    _grouped(builder).count(Materialized.as_("counts")).to_stream().to("out")
    with drive(builder) as driver:
        for batch in batches(seed):
            feed(driver, "in", batch)
            expected = reference.table(batch, state, lambda n, _: (n or 0) + 1)
            assert {r.key: r.value for r in _out(driver, value=Serdes.long())} == expected
        assert dict(driver.store("counts").all()) == state


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reducer_sees_the_values_in_their_order(drive, seed):
    builder, state = StreamsBuilder(), {}
    _grouped(builder).reduce(lambda one, other: F.concat(one, other)).to_stream().to("out")
    with drive(builder) as driver:
        for batch in batches(seed):
            feed(driver, "in", batch)
            expected = reference.table(batch, state, lambda before, r: (before or "") + r[1])
            assert {r.key: r.value for r in _out(driver)} == expected


def test_a_result_has_the_greatest_time_of_what_went_into_it(drive):
    builder = StreamsBuilder()
    _grouped(builder).count().to_stream().to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 50), ("a", "x", 20)])
        feed(driver, "in", [("a", "x", 30)])
        assert [r.timestamp for r in _out(driver, value=Serdes.long())] == [50, 50]


def test_an_aggregate_that_was_null_begins_anew_with_the_time_of_the_next_record(drive):
    builder = StreamsBuilder()
    add = lambda k, v, total: F.when(v != "skip", F.concat(total, v))  # noqa: E731
    _grouped(builder).aggregate(lambda: "", add).to_stream().to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "skip", 20), ("a", "x", 10), ("a", "y", 5)])
        feed(driver, "in", [("a", "z", 12), ("a", "skip", 30), ("a", "w", 1)])
        assert [(r.value, r.timestamp) for r in _out(driver)] == [("xy", 10), ("w", 1)]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_aggregate_that_is_null_deletes_the_key_and_begins_anew(drive, seed):
    builder, state = StreamsBuilder(), {}
    add = lambda key, value, total: F.when(value != "z", F.concat(total, value))  # noqa: E731
    _grouped(builder).aggregate(lambda: "<", add, Materialized.as_("store")).to_stream().to("out")
    with drive(builder) as driver:
        for batch in batches(seed):
            feed(driver, "in", batch)
            step = lambda before, r: None if r[1] == "z" else (before or "<") + r[1]  # noqa: E731
            expected = _with_nulls(batch, state, step)
            assert {r.key: r.value for r in _out(driver)} == expected
        assert dict(driver.store("store").all()) == {k: v for k, v in state.items() if v is not None}


def _with_nulls(batch, state, step):
    before, touched = dict(state), []
    for record in batch:
        if record[0] is not None and record[1] is not None:
            state[record[0]] = step(state.get(record[0]), record)
            touched.append(record[0])
    return {key: state[key] for key in touched if state[key] is not None or before.get(key) is not None}


@pytest.mark.parametrize("windows", seeds((20, 5, 10), (20, 20, 0), (20, 20, 30)))
def test_windows_take_late_records_until_their_grace_is_over(drive, windows):
    size, advance, grace = windows
    builder, expected = StreamsBuilder(), reference.Windows(size, advance, grace)
    chosen = TimeWindows.of_size_and_grace(size, grace).advance_by(advance)
    _grouped(builder).windowed_by(chosen).count(Materialized.as_("store")).to_stream().to("out")
    serde = WindowedSerde("time_windowed", None, Serdes.string(), size)
    with drive(builder) as driver:
        for batch in batches(5):
            feed(driver, "in", batch)
            results = _out(driver, serde, Serdes.long())
            assert {(r.key["key"], r.key["start"]): r.value for r in results} == expected.take(batch)
        assert {(k[0], k[1]): n for k, n in driver.store("store").all()} == expected.kept()


def test_a_window_is_passed_on_once_when_it_closes(drive):
    builder = StreamsBuilder()
    windows = _grouped(builder).windowed_by(TimeWindows.of_size_and_grace(10, 5))
    windows.emit_strategy(EmitStrategy.on_window_close()).count().to_stream().to("out")
    serde = WindowedSerde("time_windowed", None, Serdes.string(), 10)
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "x", 12), ("a", "x", 2)])
        assert _out(driver, serde, Serdes.long()) == []
        feed(driver, "in", [("b", "x", 15)])
        assert [(r.key["key"], r.key["start"], r.value) for r in _out(driver, serde, Serdes.long())] == [("a", 0, 2)]


def test_suppress_holds_changes_back_until_the_window_closes(drive):
    builder = StreamsBuilder()
    counts = _grouped(builder).windowed_by(TimeWindows.of_size_and_grace(10, 5)).count()
    counts.suppress(Suppressed.until_window_closes(BufferConfig.unbounded())).to_stream().to("out")
    serde = WindowedSerde("time_windowed", None, Serdes.string(), 10)
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("a", "x", 2)])
        feed(driver, "in", [("a", "x", 12), ("a", "x", 3)])
        assert _out(driver, serde, Serdes.long()) == []
        feed(driver, "in", [("b", "x", 15)])
        assert [(r.key["key"], r.key["start"], r.value) for r in _out(driver, serde, Serdes.long())] == [("a", 0, 3)]


def _held(builder, buffer):
    counts = _grouped(builder).count()
    counts.suppress(Suppressed.until_time_limit(1000, buffer)).to_stream().to("out")


def test_a_buffer_that_is_full_passes_the_oldest_on(drive):
    builder = StreamsBuilder()
    _held(builder, BufferConfig.max_records(2))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "x", 2), ("a", "x", 3)])
        assert _out(driver, value=Serdes.long()) == []
        feed(driver, "in", [("c", "x", 4)])
        assert [(r.key, r.value) for r in _out(driver, value=Serdes.long())] == [("b", 1)]
        feed(driver, "in", [("a", "x", 5), ("d", "x", 6)])
        assert [(r.key, r.value) for r in _out(driver, value=Serdes.long())] == [("a", 3)]


def test_a_buffer_that_is_full_ends_the_application_if_it_has_to(drive):
    builder = StreamsBuilder()
    _held(builder, BufferConfig.max_records(2).shut_down_when_full())
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "x", 2)])
        with pytest.raises(Exception, match=r"buffer exceeded its max capacity. Currently \[3/2\] records and \[117/922"):
            feed(driver, "in", [("c", "x", 3)])


def test_the_bytes_of_a_buffer_are_those_that_kafka_counts(drive):
    builder = StreamsBuilder()
    rows = builder.table("in", STRINGS)
    rows.suppress(Suppressed.until_time_limit(1000, BufferConfig.max_bytes(100))).to_stream().to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "1234", 1), ("b", "éé", 2)])  # 28 bytes, the topic, the key and the value
        assert _out(driver) == []
        feed(driver, "in", [("c", None, 3)])  # one byte more than it may hold
        assert [(r.key, r.value) for r in _out(driver)] == [("a", "1234")]
        feed(driver, "in", [("c", "1", 4)])
        feed(driver, "in", [("c", "123456789012345678901234567890123", 5)])  # the value before it counts, too
        assert _out(driver) == []
        feed(driver, "in", [("c", "1234567890123456789012345678901234", 6)])
        assert [(r.key, r.value) for r in _out(driver)] == [("b", "éé")]


@pytest.mark.parametrize(("bound", "most"), [(BufferConfig.max_records(4), 4), (BufferConfig.max_bytes(160), 160)])
def test_a_full_buffer_is_as_plain_python_has_it(drive, spark, bound, most):
    chance, topics, builder = random.Random(most), TopicsInMemory(spark), StreamsBuilder()
    rows = builder.table("in", STRINGS)
    rows.suppress(Suppressed.until_time_limit(100_000, bound)).to_stream().to("out")
    held: dict[str, tuple[int, str, int]] = {}  # since when a key waits, its value, and its bytes
    time, expected, table, passed = 0, [], {}, {}
    for sizes in ((5, 2), (3, 1, 6)):
        with drive(builder, topics=topics) as driver:  # the second one reads the changelogs
            for size in sizes:
                batch = []
                for _ in range(size):
                    time += 1
                    batch.append((chance.choice("abcdefgh"), "x" * chance.randrange(9), time))
                feed(driver, "in", batch)
                last = {key: (value, at) for key, value, at in batch}
                for key, (value, at) in last.items():
                    values = [value, passed.get(key, ""), *({table.get(key, "")} - {passed.get(key, "")})]
                    held[key] = held.get(key, (at,))[0], value, len("in") + 29 + sum(map(len, values))
                    table[key] = value
                while (len(held) if most == 4 else sum(size for _, _, size in held.values())) > most:
                    oldest = min(held, key=lambda key: held[key])
                    passed[oldest] = held.pop(oldest)[1]
                    expected.append((oldest, passed[oldest]))
    changelog = [((row[4] or b"").decode(), (row[5] or b"").decode()) for row in topics.rows["out"]]
    assert sorted(changelog) == sorted(expected)
    assert len(expected) > 4


def test_a_buffer_with_too_many_bytes_ends_the_application_if_it_has_to(drive):
    builder = StreamsBuilder()
    _held(builder, BufferConfig.max_bytes(77).shut_down_when_full())
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("a", "x", 2)])
        with pytest.raises(
            Exception, match=r"exceeded its max capacity. Currently \[2/9223372036854775807\] records and \[78/77\]"
        ):
            feed(driver, "in", [("b", "x", 3)])


@pytest.mark.parametrize("seed", seeds(3, 4))
def test_sessions_merge_and_take_late_records_as_kafka_does(drive, seed):
    builder, expected = StreamsBuilder(), reference.Sessions(8, 17)
    _grouped(builder).windowed_by(SessionWindows.of_inactivity_gap_and_grace(8, 17)).count(Materialized.as_("s")).to_stream().to(
        "out"
    )
    serde, state = WindowedSerde("session_windowed", None, Serdes.string()), {}
    with drive(builder) as driver:
        for batch in batches(seed, (8, 3, 8)):
            feed(driver, "in", batch)
            expected.take(batch)
            for r in _out(driver, serde, Serdes.long()):
                state[r.key["key"], r.key["start"], r.key["end"]] = r.value
            assert {k: n for k, n in state.items() if n is not None} == expected.all()
        assert dict(driver.store("s").all()) == expected.kept()


def test_sessions_that_a_record_reaches_are_passed_on_and_no_others(drive):
    """Also one that the record leaves as it was; and also of a type that Spark cannot compare."""
    builder, serde = StreamsBuilder(), WindowedSerde("session_windowed", None, Serdes.string())
    sessions = _grouped(builder).windowed_by(SessionWindows.of_inactivity_gap_and_grace(10, 1000))
    sessions.reduce(F.greatest).to_stream().to("greatest")
    total = lambda k, v, total: F.struct((total["n"] + 1).alias("n"), total["m"].alias("m"))  # noqa: E731
    merge = lambda k, one, other: F.struct((one["n"] + other["n"]).alias("n"), one["m"].alias("m"))  # noqa: E731
    counted = sessions.aggregate(
        lambda: F.expr("named_struct('n', 0L, 'm', map('x', 1L))"), total, merge,
        Materialized.with_(Serdes.string(), Serdes.json("n bigint, m map<string,bigint>")),
    )  # fmt: skip
    counted.map_values(lambda v: v["n"].cast("string")).to_stream().to("counted")
    with drive(builder) as driver:
        out = {name: driver.create_output_topic(name, serde, Serdes.string()) for name in ("greatest", "counted")}

        def passed_on() -> dict[str, list]:
            return {name: [(*r.key[1:], r.value) for r in topic.read_records()] for name, topic in out.items()}

        feed(driver, "in", [("k", "5", 0), ("k", "7", 10), ("k", "8", 100)])
        first = passed_on()
        feed(driver, "in", [("k", "6", 5)])
        second = passed_on()
        feed(driver, "in", [("k", "4", 12)])
        assert (first, second, passed_on()) == (
            {"greatest": [(0, 10, "7"), (100, 100, "8")], "counted": [(0, 10, "2"), (100, 100, "1")]},
            {"greatest": [(0, 10, "7")], "counted": [(0, 10, "3")]},
            {"greatest": [(0, 10, None), (0, 12, "7")], "counted": [(0, 10, None), (0, 12, "4")]},
        )


def test_a_session_is_passed_on_once_when_no_record_can_reach_it(drive):
    builder = StreamsBuilder()
    windows = _grouped(builder).windowed_by(SessionWindows.of_inactivity_gap_and_grace(8, 5))
    windows.emit_strategy(EmitStrategy.on_window_close()).count().to_stream().to("out")
    serde = WindowedSerde("session_windowed", None, Serdes.string())
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 20), ("a", "x", 25)])
        feed(driver, "in", [("b", "x", 37), ("a", "x", 15)])
        assert _out(driver, serde, Serdes.long()) == []
        feed(driver, "in", [("b", "x", 39)])
        results = [(r.key["key"], r.key["start"], r.key["end"], r.value) for r in _out(driver, serde, Serdes.long())]
        assert results == [("a", 15, 25, 3)]


def test_the_reference_of_sliding_windows_keeps_to_their_definition():
    """KIP-450: [t - d, t] and (t, t + d] of every record, each with what is in it; nothing begins before 0."""
    size, chance = 10, random.Random(1)
    for _ in range(100):
        times = [chance.randrange(60) for _ in range(30)]
        found = reference.Sliding(size, 1000, lambda n, _: (n or 0) + 1)
        found.take([("a", "x", t) for t in times])
        starts = {max(t - size, 0) for t in times} | {t + 1 for t in times}
        counts = {("a", start): sum(start <= t <= start + size for t in times) for start in starts}
        assert found.all() == {window: n for window, n in counts.items() if n}


@pytest.mark.parametrize(("seed", "grace"), seeds((4, 8), (3, 100), (5, 0)))
def test_windows_slide_over_the_records_as_kafka_slides_them(drive, seed, grace):
    builder = StreamsBuilder()
    windows = _grouped(builder).windowed_by(SlidingWindows.of_time_difference_and_grace(10, grace))
    windows.reduce(lambda one, other: F.concat(one, other), Materialized.as_("store")).to_stream().to("out")
    expected = reference.Sliding(10, grace, lambda before, r: (before or "") + r[1])
    serde = WindowedSerde("time_windowed", None, Serdes.string(), 10)
    with drive(builder) as driver:
        for batch in batches(seed, (9, 1, 12)):
            feed(driver, "in", batch)
            assert {(r.key["key"], r.key["start"]): r.value for r in _out(driver, serde)} == expected.take(batch)
        assert {(k[0], k[1]): v for k, v in driver.store("store").all()} == expected.kept()


def test_a_sliding_window_is_passed_on_once_when_it_closes(drive):
    builder = StreamsBuilder()
    windows = _grouped(builder).windowed_by(SlidingWindows.of_time_difference_and_grace(10, 5))
    windows.emit_strategy(EmitStrategy.on_window_close()).count().to_stream().to("out")
    serde = WindowedSerde("time_windowed", None, Serdes.string(), 10)
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 20), ("a", "x", 22), ("b", "x", 25)])
        assert _out(driver, serde, Serdes.long()) == []
        feed(driver, "in", [("b", "x", 26)])  # at 25, [10, 20] would still take a record
        assert [(r.key["key"], r.key["start"], r.value) for r in _out(driver, serde, Serdes.long())] == [("a", 10, 1)]


def test_a_record_whose_aggregate_is_null_advances_stream_time(drive):
    builder, grace = StreamsBuilder(), 5
    add, merge = lambda k, v, total: F.when(v != "skip", F.concat(total, v)), lambda k, one, other: F.concat(one, other)
    grouped, tumbling = _grouped(builder), TimeWindows.of_size_and_grace(10, grace)
    serde, session_serde = WindowedSerde("time_windowed", None, Serdes.string(), 10), WindowedSerde("session_windowed")
    closing = grouped.windowed_by(tumbling).emit_strategy(EmitStrategy.on_window_close())
    closing.aggregate(lambda: "", add).to_stream().to("closed")
    sliding = SlidingWindows.of_time_difference_and_grace(10, grace)
    for windows, topic in ((tumbling, "tumbling"), (sliding, "sliding")):
        grouped.windowed_by(windows).aggregate(lambda: "", add).to_stream().to(topic)
    sessions = grouped.windowed_by(SessionWindows.of_inactivity_gap_and_grace(10, grace))
    sessions.aggregate(lambda: "", add, merge).to_stream().to("sessions")
    with drive(builder) as driver:

        def passed_on() -> dict[str, int]:
            serdes = {"closed": serde, "tumbling": serde, "sliding": serde, "sessions": session_serde}
            out = {topic: driver.create_output_topic(topic, of, Serdes.string()) for topic, of in serdes.items()}
            return {topic: len(results.read_records()) for topic, results in out.items()}

        feed(driver, "in", [("c", "x", 1)])
        assert passed_on() == {"closed": 0, "tumbling": 1, "sliding": 1, "sessions": 1}
        feed(driver, "in", [("a", "skip", 100)])
        assert passed_on() == {"closed": 1, "tumbling": 0, "sliding": 0, "sessions": 0}
        feed(driver, "in", [("b", "late", 5)])
        assert passed_on() == {"closed": 0, "tumbling": 0, "sliding": 0, "sessions": 0}


def _cogrouped(builder):
    one, other = builder.stream("in", STRINGS).group_by_key(), builder.stream("in2", STRINGS).group_by_key()
    return one.cogroup(lambda k, v, total: F.concat(total, F.lower(v))).cogroup(
        other, lambda k, v, total: F.concat(total, F.upper(v))
    )


def test_streams_are_cogrouped_in_sliding_windows(drive):
    builder = StreamsBuilder()
    windows = SlidingWindows.of_time_difference_and_grace(10, 50)
    _cogrouped(builder).windowed_by(windows).aggregate(lambda: "", Materialized.as_("store"))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 20)])
        feed(driver, "in2", [("a", "y", 25)])
        assert {k[1]: v for k, v in driver.store("store").all()} == {10: "x", 15: "xY", 21: "Y"}


def test_streams_are_cogrouped_in_sessions(drive):
    builder = StreamsBuilder()
    windows = SessionWindows.of_inactivity_gap_and_grace(10, 50)
    merge = lambda key, one, other: F.concat(one, other)  # noqa: E731
    _cogrouped(builder).windowed_by(windows).aggregate(lambda: "", merge, Materialized.as_("store"))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 20), ("a", "z", 40)])
        feed(driver, "in2", [("a", "y", 25), ("a", "w", 32)])
        assert list(driver.store("store").all()) == [(("a", 20, 40), "xYzW")]


def test_streams_are_cogrouped_into_one_aggregate(drive):
    builder = StreamsBuilder()
    _cogrouped(builder).aggregate(lambda: "").to_stream().to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "y", 2)])
        assert sorted((r.key, r.value) for r in _out(driver)) == [("a", "x"), ("b", "y")]
        feed(driver, "in2", [("a", "z", 3)])
        assert [(r.key, r.value) for r in _out(driver)] == [("a", "xZ")]


def test_groups_of_a_table_lose_old_values_before_they_get_new_ones(drive):
    builder = StreamsBuilder()
    rows = builder.table("in", STRINGS)
    rows.group_by(lambda k, v: (v, k), Grouped.with_(Serdes.string(), Serdes.string())).aggregate(
        lambda: "", lambda k, v, total: F.concat(total, v), lambda k, v, total: F.replace(total, v, F.lit(""))
    ).to_stream().to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("b", "x", 1), ("a", "x", 2), ("c", "y", 3)])
        assert {r.key: r.value for r in _out(driver)} == {"x": "ba", "y": "c"}
        feed(driver, "in", [("b", "y", 4), ("a", None, 5)])
        assert {r.key: r.value for r in _out(driver)} == {"x": "", "y": "cb"}


def test_a_mapped_table_passes_on_deletions_of_rows_that_were_not_there_and_a_filtered_one_does_not(drive):
    builder = StreamsBuilder()
    counts = _grouped(builder).count()
    counts.map_values(lambda n: F.when(n > 1, F.concat(F.lit("n"), n))).to_stream().to("mapped")
    counts.filter(lambda k, n: n > 1).map_values(lambda n: F.concat(F.lit("n"), n)).to_stream().to("filtered")
    with drive(builder) as driver:
        out = [driver.create_output_topic(name, Serdes.string(), Serdes.string()) for name in ("mapped", "filtered")]
        feed(driver, "in", [("a", "x", 1)])
        assert [topic.read_key_values() for topic in out] == [[("a", None)], []]
        feed(driver, "in", [("a", "x", 2)])
        assert [topic.read_key_values() for topic in out] == [[("a", "n2")], [("a", "n2")]]


def test_values_that_spark_cannot_sort_are_aggregated_in_their_order_too(drive):
    builder, variants = StreamsBuilder(), Consumed.with_(Serdes.string(), Serdes.json())
    stream = builder.stream("in", variants).group_by_key()
    name = lambda value: F.variant_get(value, "$.n", "string")  # noqa: E731
    stream.aggregate(lambda: "", lambda k, v, total: F.concat(total, name(v)), Materialized.as_("store")).to_stream().to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", f'{{"n":"{n}"}}', n) for n in range(12)])
        assert [r.value for r in _out(driver)] == ["01234567891011"]


def test_windows_beyond_their_retention_are_forgotten(drive, monkeypatch):
    monkeypatch.setattr(store_table, "_SWEEP_ROWS", 0)  # as if many rows had changed
    builder = StreamsBuilder()
    _grouped(builder).windowed_by(TimeWindows.of_size_and_grace(10, 5)).count(Materialized.as_("store").with_retention(20))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 5), ("a", "x", 21)])
        assert list(driver.store("store").all()) == [(("a", 20, 30), 1)]
        feed(driver, "in", [("b", "x", 55)])
        feed(driver, "in", [("b", "x", 56)])
        assert list(driver.store("store").all()) == [(("b", 50, 60), 2)]
        stored = driver._tasks[0].state.tables["store"].rows()
        assert [(row["k"], row["w"]) for row in stored.collect()] == [("b", 50)]


def test_sessions_that_begin_weeks_apart_merge(drive):
    """Their starts differ by more milliseconds than an int has."""
    day, builder = 24 * 3600 * 1000, StreamsBuilder()
    windows = SessionWindows.of_inactivity_gap_and_grace(14 * day, 7 * day)
    builder.stream("in", STRINGS).group_by_key().windowed_by(windows).count(Materialized.as_("sessions"))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", at * day) for at in (0, 10, 20, 30, 50)])
        assert [key[1:] for key, _ in driver.store("sessions").all()] == [(0, 30 * day), (50 * day, 50 * day)]
        feed(driver, "in", [("a", "x", 40 * day)])
        assert list(driver.store("sessions").all()) == [(("a", 0, 50 * day), 6)]
