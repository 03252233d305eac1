"""What a sub-topology writes stands in the order in which Kafka Streams' task would have written it, whatever a batch has."""

from __future__ import annotations

from headrace.sql_functions import F
from headrace.streams import (
    EmitStrategy,
    Grouped,
    JoinWindows,
    Materialized,
    Serdes,
    SessionWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
)
from tests.streams.running.conftest import STRINGS, feed

MINUTE = 60_000
HOUR = 60 * MINUTE


def _append(driver, topic: str, minutes: range, key: str = "k") -> None:
    for minute in minutes:
        driver.topics.append(topic, key.encode(), str(minute).encode(), minute * MINUTE)


def _counted(stream, store: str) -> None:
    grouped = stream.select_key(lambda k, v: k).group_by_key(Grouped.with_(Serdes.string(), Serdes.string()))
    grouped.windowed_by(TimeWindows.of_size_with_no_grace(60 * MINUTE)).count(
        Materialized.as_(store).with_retention(24 * 60 * MINUTE)
    )


def test_topics_of_one_task_are_taken_by_time_without_a_store_too(drive):
    """Behind a repartition topic with one topic after the other, windows would drop the second one as late."""
    builder = StreamsBuilder()
    _counted(builder.stream(["a", "b"], STRINGS), "listed")
    _counted(builder.stream("c", STRINGS).merge(builder.stream("d", STRINGS)), "merged")
    builder.stream(["e", "f"], STRINGS).to("out")
    with drive(builder, config={"headrace.max.batch.records": "100"}) as driver:
        for topic, minutes in (("a", range(300)), ("b", range(300)), ("c", range(300)), ("d", range(0, 300, 10))):
            _append(driver, topic, minutes)
        for topic in ("e", "f"):
            _append(driver, topic, range(3), key=topic)
        driver.pipe("a", [])
        counts = {name: [count for _, count in driver.store(name).all()] for name in ("listed", "merged")}
        assert counts == {"listed": [120] * 5, "merged": [66] * 5}
        passed_on = driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_key_values()
        assert passed_on == [("e", "0"), ("f", "0"), ("e", "1"), ("f", "1"), ("e", "2"), ("f", "2")]


def test_changes_of_tables_leave_in_the_order_of_their_records(drive):
    builder = StreamsBuilder()
    table = builder.table("in", STRINGS, Materialized.as_("table"))
    table.to_stream().to("changes")
    table.join(builder.table("other", STRINGS), lambda one, other: other).to_stream().to("joined")
    builder.stream("counted", STRINGS).group_by_key().count().to_stream().to("counts")
    with drive(builder) as driver:
        out = {name: driver.create_output_topic(name, Serdes.string(), Serdes.string()) for name in ("changes", "joined")}
        out["counts"] = driver.create_output_topic("counts", Serdes.string(), Serdes.long())
        keys = ["d", "b", "c", "a"]
        feed(driver, "other", [(key, "x", 1) for key in sorted(keys)])
        for topic in ("in", "counted"):
            feed(driver, topic, [(key, "x", 10 + i) for i, key in enumerate(keys)])
        assert {name: [record.key for record in topic.read_records()] for name, topic in out.items()} == dict.fromkeys(out, keys)


def test_records_of_one_side_with_one_key_and_time_are_as_many_as_they_are(drive):
    """Of one topic or two, of one record or two, of one batch or two: in the order in which they have come."""
    builder = StreamsBuilder()
    windows = JoinWindows.of_time_difference_with_no_grace(10)
    pair = lambda one, other: F.concat(one, other)  # noqa: E731
    numbered = builder.stream(["a", "b"], STRINGS).flat_map_values(
        lambda value: F.transform(F.sequence(F.lit(0), F.lit(4099)), lambda i: F.concat(value, i.cast("string")))
    )
    some = numbered.filter(lambda k, v: v.rlike("^([b-z]0|a4098|a4099)$"))
    some.join(builder.stream("c", STRINGS), pair, windows).to("out")
    with drive(builder) as driver:
        driver.topics.append("b", b"k", b"b", 1)
        feed(driver, "a", [("k", "a", 1), ("k", "x", 1)])
        feed(driver, "a", [("k", "later", 1), ("k", "y", 1)])
        feed(driver, "c", [("k", "c", 2)])
        out = driver.create_output_topic("out", Serdes.string(), Serdes.string())
        assert [value for _, value in out.read_key_values()] == ["a4098c", "a4099c", "x0c", "b0c", "y0c"]


def _alone(one, other):
    return F.coalesce(one, other)


WAIT = JoinWindows.of_time_difference_with_no_grace(10)


def test_records_that_stay_alone_leave_in_the_order_of_their_times(drive):
    """Whether they have waited since an earlier batch or not; and before the pairs of the record that ends their wait."""
    builder = StreamsBuilder()
    left, right = builder.stream("left", STRINGS), builder.stream("right", STRINGS)
    alone = left.outer_join(right, _alone, WAIT)
    alone.to("alone")
    history = builder.table("rows", STRINGS, Materialized.as_(Stores.persistent_versioned_key_value_store("rows", HOUR)))
    alone.left_join(history, _alone).to("versioned")
    alone.group_by_key().reduce(lambda one, other: F.concat(one, other)).to_stream().to("folded")
    windows = alone.group_by_key().windowed_by(TimeWindows.of_size_with_no_grace(5))
    windows.count(Materialized.as_("counts").with_retention(HOUR))
    alone.left_join(builder.stream("more", STRINGS), _alone, WAIT).to("twice")
    with drive(builder) as driver:
        names = ("alone", "versioned", "folded", "twice")
        out = {name: driver.create_output_topic(name, Serdes.string(), Serdes.string()) for name in names}
        feed(driver, "left", [("k", "z", 7), ("k", "a", 8), ("k", "y", 8), ("b", "x", 1)])
        feed(driver, "right", [("k", "r", 100), ("c", "q", 99), ("k", "p", 200), ("k", "o", 205)])
        feed(driver, "left", [("k", "t", 210)])
        expected = ["x", "z", "a", "y", "q", "r", "t", "t"]
        assert [value for _, value in out["alone"].read_key_values()] == expected
        assert [value for _, value in out["versioned"].read_key_values()] == expected
        assert out["folded"].read_key_values()[-1] == ("k", "zayrtt")
        feed(driver, "more", [("k", "end", 1000)])
        assert [value for _, value in out["twice"].read_key_values()] == expected
        assert sum(count for _, count in driver.store("counts").all()) == 8


def test_windows_leave_in_the_order_of_their_times_when_they_close(drive):
    builder = StreamsBuilder()
    grouped = builder.stream("in", STRINGS).group_by_key()
    closing = {
        "tumbling": grouped.windowed_by(TimeWindows.of_size_and_grace(10, 100)),
        "sessions": grouped.windowed_by(SessionWindows.of_inactivity_gap_and_grace(5, 100)),
    }
    for name, windowed in closing.items():
        kept = Materialized.as_(name).with_retention(HOUR)
        counts = windowed.emit_strategy(EmitStrategy.on_window_close()).count(kept)
        stream = counts.to_stream().select_key(lambda k, v: k["key"])
        stream.map_values(lambda k, v: F.concat(k, v.cast("string"))).to(f"{name}.out")
        again = stream.group_by_key(Grouped.with_(Serdes.string(), Serdes.long()))
        again.windowed_by(TimeWindows.of_size_with_no_grace(10)).count(Materialized.as_(f"{name}.again").with_retention(HOUR))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "", 1), ("a", "", 11), ("b", "", 2), ("b", "", 12)])
        feed(driver, "in", [("d", "", 25), ("c", "", 22), ("end", "", 1000)])
        for name in closing:
            out = driver.create_output_topic(f"{name}.out", Serdes.string(), Serdes.string())
            expected = ["a", "b", "a", "b", "c", "d"]
            assert [key for key, _ in out.read_key_values()] == expected, name
            assert sum(count for _, count in driver.store(f"{name}.again").all()) == 6, name


def test_sinks_of_one_topic_write_in_the_order_of_their_records(drive):
    builder = StreamsBuilder()
    stream = builder.stream("in", STRINGS)
    stream.filter(lambda k, v: v == "x").to("out")
    stream.filter_not(lambda k, v: v == "x").map_values(lambda v: F.upper(v)).to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "y", 2), ("c", "x", 3), ("d", "y", 4)])
        out = driver.create_output_topic("out", Serdes.string(), Serdes.string())
        assert out.read_key_values() == [("a", "x"), ("b", "Y"), ("c", "x"), ("d", "Y")]
