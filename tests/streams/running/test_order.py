"""What a sub-topology writes stands in the order in which Kafka Streams' task would have written it, whatever a batch has."""

from __future__ import annotations

from headrace.sql_functions import F
from headrace.streams import Grouped, JoinWindows, Materialized, Serdes, StreamsBuilder, TimeWindows
from tests.streams.running.conftest import STRINGS, feed

MINUTE = 60_000


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


def test_sinks_of_one_topic_write_in_the_order_of_their_records(drive):
    builder = StreamsBuilder()
    stream = builder.stream("in", STRINGS)
    stream.filter(lambda k, v: v == "x").to("out")
    stream.filter_not(lambda k, v: v == "x").map_values(lambda v: F.upper(v)).to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "y", 2), ("c", "x", 3), ("d", "y", 4)])
        out = driver.create_output_topic("out", Serdes.string(), Serdes.string())
        assert out.read_key_values() == [("a", "x"), ("b", "Y"), ("c", "x"), ("d", "Y")]
