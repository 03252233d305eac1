"""Operators that look at one record at a time, and what is said about functions that Spark refuses."""

from __future__ import annotations

import time

import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F

from headrace.errors import ConfigError, StreamsError, TopologyError
from headrace.streams import (
    AutoOffsetReset,
    Branched,
    Consumed,
    Grouped,
    Materialized,
    Named,
    Printed,
    Produced,
    Serdes,
    Stores,
    StreamsBuilder,
)
from headrace.streams.engine.operators.stateless import _printer
from headrace.streams.operations import Print
from headrace.testing.topics_in_memory import TopicsInMemory
from tests.streams.running.conftest import STRINGS, feed
from tests.support import captured_logs


def _out(driver, topic="out", value=None):
    return driver.create_output_topic(topic, Serdes.string(), value or Serdes.string()).read_key_values()


def test_records_are_filtered_mapped_and_flattened(drive):
    builder = StreamsBuilder()
    stream = builder.stream("in", STRINGS).filter(lambda k, v: v != "drop").filter_not(lambda k, v: k == "no")
    stream.map_values(lambda v: F.upper(v)).map(lambda k, v: (F.lower(v), k)).to("mapped")
    stream.flat_map(lambda k, v: [(k, v), (v, k)]).to("flat")
    stream.flat_map_values(lambda k, v: F.split(v, ",")).select_key(lambda k, v: F.concat(k, v)).to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x,y", 1), ("b", "drop", 2), ("no", "z", 3)])
        assert _out(driver, "mapped") == [("x,y", "a")]
        assert _out(driver, "flat") == [("a", "x,y"), ("x,y", "a")]
        assert _out(driver) == [("ax", "x"), ("ay", "y")]


def test_a_record_goes_to_the_first_branch_that_wants_it(drive):
    builder = StreamsBuilder()
    branches = builder.stream("in", STRINGS).split(Named("by-")).branch(lambda k, v: v == "x", Branched.as_("x"))
    found = branches.branch(lambda k, v: v.isin("x", "y"), Branched.as_("y")).default_branch(Branched.as_("rest"))
    for name in ("x", "y", "rest"):
        found[f"by-{name}"].to(name)
    found["by-x"].merge(found["by-rest"]).to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "y", 2), ("c", None, 3)])
        assert (_out(driver, "x"), _out(driver, "y"), _out(driver, "rest")) == ([("a", "x")], [("b", "y")], [("c", None)])
        assert sorted(_out(driver)) == [("a", "x"), ("c", None)]


def test_a_stream_that_spark_finds_empty_when_it_plans_is_empty(drive):
    builder = StreamsBuilder()
    stream = builder.stream("in", STRINGS)
    never = stream.filter(lambda k, v: k == "a").filter_not(lambda k, v: k == "a")
    never.group_by_key().count(Materialized.as_("none"))
    never.merge(stream).to("out")
    never.to("nothing")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "y", 2)])
        assert (_out(driver), _out(driver, "nothing")) == ([("a", "x"), ("b", "y")], [])
        assert driver.store("none").approximate_num_entries() == 0


def test_a_function_chooses_the_topic(drive):
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).to(lambda k, v, context: F.concat(F.lit("to-"), v))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", "y", 2)])
        assert (_out(driver, "to-x"), _out(driver, "to-y")) == ([("a", "x")], [("b", "y")])


def test_functions_of_python_see_every_record(drive, capsys):
    builder, values, last = StreamsBuilder(), [], []
    stream = builder.stream("in", STRINGS).peek(lambda k, v: values.append((k, v)))
    stream.print(Printed.to_sys_out().with_label("all"))
    stream.for_each(lambda k, v: last.append(v))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("b", None, 2)])
    assert (values, last) == ([("a", "x"), ("b", None)], ["x", None])
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[all]")]  # workers of other tests log
    assert printed == ["[all]: a, x", "[all]: b, null"]


def test_keys_of_windows_booleans_and_doubles_are_printed_as_in_java(capsys):
    show = _printer(Print(Printed.to_sys_out(), "counts"))
    for value in (True, 1e20, 0.5, float("nan"), None):
        show(Row(k=Row(key="a", start=0, end=10), v=value))
    expected = ["true", "1.0E20", "0.5", "NaN", "null"]
    assert capsys.readouterr().out.splitlines() == [f"[counts]: [a@0/10], {value}" for value in expected]


def test_records_without_a_time_of_their_extractor_are_left_out_and_others_may_have_that_of_the_clock(drive):
    builder = StreamsBuilder()
    later = Consumed.with_(Serdes.string(), Serdes.string(), lambda k, v, at: F.when(v == "x", F.lit(-1)).otherwise(at + 5))
    builder.stream("in", later).to("out")
    builder.stream("clock", STRINGS).repartition().to("now")
    extractor = "org.apache.kafka.streams.processor.WallclockTimestampExtractor"
    before = int(time.time() * 1000)
    with drive(builder, config={"default.timestamp.extractor": extractor}) as driver, captured_logs() as logs:
        feed(driver, "in", [("a", "x", 1), ("b", "y", 2)])
        feed(driver, "clock", [("c", "z", 3)])
        out, now = (driver.create_output_topic(name, Serdes.string(), Serdes.string()).read_records() for name in ("out", "now"))
    assert [(one.key, one.timestamp) for one in out] == [("b", 7)]
    assert [one.key for one in now] == ["c"]
    assert before <= now[0].timestamp <= time.time() * 1000
    skipped = [line for line in logs if line["event"] == "Skipping record due to negative extracted timestamp."]
    assert [(line["topic"], line["offset"]) for line in skipped] == [("in", 0)]


def test_json_is_read_with_its_schema_and_written_as_it_is(drive):
    builder = StreamsBuilder()
    orders = builder.stream("in", Consumed.with_(Serdes.string(), Serdes.json("customer string, amount double")))
    orders.map_values(lambda v: v.withField("amount", v["amount"] * 2)).to("out")
    orders.group_by(lambda k, v: v["customer"]).aggregate(lambda: 0.0, lambda k, v, total: total + v["amount"]).to_stream().to(
        "totals"
    )
    with drive(builder) as driver:
        feed(driver, "in", [("1", '{"customer":"c","amount":1.5}', 1), ("2", '{"amount":2,"customer":"c","more":1}', 2)])
        assert _out(driver) == [("1", '{"customer":"c","amount":3.0}'), ("2", '{"customer":"c","amount":4.0}')]
        assert _out(driver, "totals", Serdes.double()) == [("c", 3.5)]


def test_a_record_that_its_serde_cannot_read_ends_the_work_and_is_named(drive):
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(Serdes.string(), Serdes.json("x int"))).to("out")
    with (
        drive(builder) as driver,
        pytest.raises(Exception, match=r"The value of the record at in-0 offset 1 cannot be read by the json serde"),
    ):
        feed(driver, "in", [("a", '{"x":1}', 1), ("b", "{", 2)])


def test_a_topic_is_read_from_a_while_ago_on(drive, spark):
    topics, now = TopicsInMemory(spark), int(time.time() * 1000)
    for age_ms, key in ((7_200_000, b"old"), (1_800_000, b"new"), (5_400_000, b"late")):
        topics.append("in", key, b"x", now - age_ms)
    builder = StreamsBuilder()
    builder.stream("in", STRINGS.with_offset_reset_policy(AutoOffsetReset.by_duration(3_600_000))).to("out")
    with drive(builder, topics=topics) as driver:
        driver.pipe("in", [])
        assert _out(driver) == [("new", "x"), ("late", "x")]


def test_or_is_left_out_where_the_handler_says_so(drive):
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(Serdes.string(), Serdes.long())).to("out")
    with drive(builder, config={"deserialization.exception.handler": "continue"}) as driver:
        driver.pipe("in", [(b"a", b"short", 1, None), (b"b", (7).to_bytes(8, "big"), 2, None)])
        assert _out(driver, "out", Serdes.long()) == [("b", 7)]


_SERIALIZATION = b"org.apache.kafka.common.errors.SerializationException"


def test_and_goes_to_the_dead_letter_topic_as_it_was_read(drive):
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(Serdes.string(), Serdes.long())).to("out")
    config = {"deserialization.exception.handler": "continue", "errors.dead.letter.queue.topic.name": "dead"}
    with drive(builder, config=config) as driver:
        driver.pipe("in", [(b"b", (7).to_bytes(8, "big"), 2, None), (b"a", b"short", 3, [("own", b"1")])])
        assert _out(driver, "out", Serdes.long()) == [("b", 7)]
        (letter,) = driver.create_output_topic("dead", Serdes.string(), Serdes.string()).read_records()
    sentence = b"The value of the record at in-0 offset 1 cannot be read by the long serde."
    assert (letter.key, letter.value, letter.timestamp) == ("a", "short", 3)
    assert letter.headers == (
        ("own", b"1"), ("__streams.errors.exception", _SERIALIZATION),
        ("__streams.errors.message", sentence), ("__streams.errors.stacktrace", _SERIALIZATION + b": " + sentence),
        ("__streams.errors.topic", b"in"),
        ("__streams.errors.partition", b"0"), ("__streams.errors.offset", b"1"),
    )  # fmt: skip
    with pytest.raises(ConfigError, match=r"is set, but deserialization\.exception\.handler is fail"):
        drive(builder, config={"errors.dead.letter.queue.topic.name": "dead"})


LEFT_OUT = {"processing.exception.handler": "continue", "errors.dead.letter.queue.topic.name": "dead"}


def test_a_record_for_which_an_expression_fails_goes_to_the_dead_letter_topic_and_leaves_no_trace(drive):
    builder = StreamsBuilder()
    stream = builder.stream("in", STRINGS)
    stream.group_by_key().count(Materialized.as_("counts"))
    stream.map_values(lambda value: value.cast("bigint")).to("out", Produced.with_(Serdes.string(), Serdes.long()))
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"), drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1)])
    with drive(builder, config=LEFT_OUT) as driver:
        feed(driver, "in", [("a", "1", 1), ("b", "2", 2), ("a", "three", 3), ("a", "4", 4), ("c", "five", 5), ("b", "6", 6)])
        feed(driver, "in", [("a", "7", 7)])
        assert _out(driver, "out", Serdes.long()) == [("a", 1), ("b", 2), ("a", 4), ("b", 6), ("a", 7)]
        assert dict(driver.store("counts").all()) == {"a": 3, "b": 2}
        letters = driver.create_output_topic("dead", Serdes.string(), Serdes.string()).read_records()
    assert [(letter.key, letter.value, letter.timestamp) for letter in letters] == [("a", "three", 3), ("c", "five", 5)]
    headers = dict(letters[1].headers)
    assert headers["__streams.errors.exception"] == b"org.apache.spark.SparkNumberFormatException"
    assert b"'five'" in headers["__streams.errors.message"]
    assert b"\tat org.apache.spark" in headers["__streams.errors.stacktrace"]
    place = [headers[f"__streams.errors.{name}"] for name in ("topic", "partition", "offset")]
    assert place == [b"in", b"0", b"4"]


def test_a_table_has_a_record_of_its_topic_that_was_left_out_before_a_restart_as_after_it(drive, spark):
    """Its topic is its changelog: without the record, only a restart would put it there."""
    topics, optimized = TopicsInMemory(spark), {"topology.optimization": "all"}
    config = {"processing.exception.handler": "continue", **optimized}
    builder = StreamsBuilder(optimized)
    table = builder.table("in", STRINGS, Materialized.as_("rows"))
    numbers = table.group_by(lambda k, v: (k, v.cast("bigint")), Grouped.with_(Serdes.string(), Serdes.long()))
    numbers.reduce(lambda one, other: one + other, lambda one, other: one - other, Materialized.as_("sums"))
    with drive(builder, config=config, topics=topics) as driver:
        feed(driver, "in", [("a", "1", 1), ("a", "no number", 2)])
        before = dict(driver.store("rows").all())
    with drive(builder, config=config, topics=topics) as driver:
        assert dict(driver.store("rows").all()) == before == {"a": "no number"}
        feed(driver, "in", [("a", "2", 3), ("a", "3", 4), ("a", "4", 5)])
        assert dict(driver.store("rows").all()) == {"a": "4"}
        assert dict(driver.store("sums").all()) == {"a": 3}  # 1 - 2 + 3 - 3 + 4, as in Kafka


def test_a_record_whose_time_a_table_with_its_topic_as_changelog_cannot_know_ends_the_application(drive):
    optimized = {"topology.optimization": "all"}
    builder = StreamsBuilder(optimized)
    consumed = STRINGS.with_timestamp_extractor(lambda key, value, t: value.cast("bigint"))
    builder.table("in", consumed, Materialized.as_("rows"))
    sentence = "in-0 offset 1 cannot be left out: rows has this topic as its changelog"
    config = {"processing.exception.handler": "continue", **optimized}
    with drive(builder, config=config) as driver, pytest.raises(StreamsError, match=sentence):
        feed(driver, "in", [("a", "1", 1), ("a", "no number", 2)])


def test_a_value_with_a_zero_byte_in_the_error_is_a_dead_letter_too(drive):
    builder = StreamsBuilder()
    numbers = builder.stream("in", STRINGS).map_values(lambda value: value.cast("bigint"))
    numbers.to("out", Produced.with_(Serdes.string(), Serdes.long()))
    with drive(builder, config=LEFT_OUT) as driver:
        feed(driver, "in", [("a", "x\0y", 1), ("a", "2", 2)])
        assert _out(driver, "out", Serdes.long()) == [("a", 2)]
        (letter,) = driver.create_output_topic("dead", Serdes.string(), Serdes.string()).read_records()
    headers = dict(letter.headers)
    assert headers["__streams.errors.exception"] == b"org.apache.spark.SparkNumberFormatException"
    assert b"'x\0y'" in headers["__streams.errors.message"]
    assert b"\tat org.apache.spark" in headers["__streams.errors.stacktrace"]


def test_so_does_one_for_which_a_processor_fails_or_whose_result_is_too_large(drive):
    builder = StreamsBuilder()
    out = builder.stream("in", STRINGS).process_values(Upper, Named("upper"))
    out.map_values(lambda value: F.repeat(value, 1000)).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    config = {**LEFT_OUT, "production.exception.handler": "continue"}
    with drive(builder, config=config) as driver:
        feed(driver, "in", [("a", "x", 1), ("a", "other", 2), ("b", "y" * 1100, 3), ("a", "z", 4)])
        assert [(key, value[:1]) for key, value in _out(driver)] == [("a", "X"), ("a", "Z")]
        letters = driver.create_output_topic("dead", Serdes.string(), Serdes.string()).read_records()
    said = [dict(letter.headers) for letter in letters]
    assert [headers["__streams.errors.offset"] for headers in said] == [b"1", b"2"]
    assert b"upper may not change the key" in said[0]["__streams.errors.message"]
    assert said[1]["__streams.errors.exception"] == b"org.apache.kafka.common.errors.RecordTooLargeException"


def test_a_record_that_cannot_be_read_has_a_handler_of_its_own(drive):
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(Serdes.string(), Serdes.long())).to("out")
    with pytest.raises(StreamsError, match="cannot be read by the long serde"):
        drive(builder, config=LEFT_OUT).pipe("in", [(b"a", b"short", 1, None)])


@pytest.mark.parametrize(
    ("define", "sentence"),
    [
        (lambda s: s.map_values(lambda v: v["x"]).to("out"), "The expression of KSTREAM-MAPVALUES-0000000001 cannot be"),
        (lambda s: s.map_values(lambda v: v + 1 / 0).to("out"), "The function of KSTREAM-MAPVALUES-0000000001 failed"),
        (lambda s: s.map(lambda k, v: v).to("out"), "has to return a key and a value"),
        (lambda s: s.map_values(lambda v: F.length(v)).to("out", Produced.with_(Serdes.string(), Serdes.string())),
         "is of Spark's type int, which the string serde does not write"),
    ],
)  # fmt: skip
def test_a_function_that_spark_refuses_is_named_before_anything_is_read(drive, define, sentence):
    builder = StreamsBuilder()
    define(builder.stream("in", STRINGS))
    with pytest.raises(StreamsError) as raised:
        drive(builder)
    assert sentence in str(raised.value)


def test_a_source_needs_serdes(drive):
    builder = StreamsBuilder()
    builder.stream("in").to("out")
    with pytest.raises(ConfigError) as raised:
        drive(builder)
    assert "Please specify a key serde with Consumed.with_(…), or set one through default.key.serde." in str(raised.value)
    drive(
        builder,
        config={"default.key.serde": "string", "default.value.serde": "org.apache.kafka.common.serialization.Serdes$StringSerde"},
    )


class Numbered:
    """Forwards each record twice, with its number in the task, and nothing for an empty value."""

    value_serde = Serdes.long()

    def init(self, context) -> None:
        self.context, self.count = context, 0

    def process(self, record) -> None:
        if record.value != "":
            self.count += 1
            self.context.forward(record.with_value(self.count))
            self.context.forward(record.with_key(record.value).with_value(-self.count).with_timestamp(record.timestamp + 1))


class Upper:
    def init(self, context) -> None:
        self.context = context

    def process(self, record) -> None:
        self.context.forward(record.with_key("b" if record.value == "other" else record.key).with_value(record.value.upper()))


def test_a_processor_gets_the_records_of_a_task_in_their_order_and_forwards_what_it_likes(drive):
    builder = StreamsBuilder()
    stream = builder.stream("in", STRINGS).process(Numbered)
    stream.to("out", Produced.with_(Serdes.string(), Serdes.long()))
    stream.group_by_key().count(Materialized.as_("counts"))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1), ("a", "", 2), ("b", None, 3)])
        found = driver.create_output_topic("out", Serdes.string(), Serdes.long()).read_records()
        assert [(r.key, r.value, r.timestamp) for r in found] == [("a", 1, 1), ("x", -1, 2), ("b", 2, 3), (None, -2, 4)]
        assert dict(driver.store("counts").all()) == {"a": 1, "x": 1, "b": 1}


def test_a_processor_of_values_keeps_the_key(drive):
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).process_values(Upper, Named("upper")).group_by_key().count()
    topology = builder.build()
    assert not topology.repartition_topics
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).process_values(Upper, Named("upper")).to("out")
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 1)])
        assert _out(driver) == [("a", "X")]
        with pytest.raises(Exception, match="upper may not change the key: take process for that"):
            feed(driver, "in", [("a", "other", 2)])


@pytest.mark.parametrize(
    ("define", "sentence"),
    [
        (lambda b: b.stream("in", STRINGS).process(Numbered, "kept").filter(lambda k, v: v).process(Numbered, "kept"),
         "KSTREAM-PROCESSOR-0000000001 and KSTREAM-PROCESSOR-0000000003 use the same store kept, and KSTREAM-FILTER-0000000002, "
         "which is no processor, is one of them or between them."),
        (lambda b: b.table("in", STRINGS).transform_values(object).filter(lambda k, v: v).group_by(lambda k, v: (v, k)).count(),
         "KTABLE-SELECT-0000000005 needs the rows of KTABLE-TRANSFORMVALUES-0000000003, which is kept nowhere"),
        (lambda b: b.stream("in", STRINGS).group_by_key().count(
            Materialized.as_(Stores.persistent_versioned_key_value_store("old", 1000))
         ),
         "KSTREAM-AGGREGATE-0000000001: the store old is versioned, and results of aggregations and joins keep only the latest"),
    ],
)  # fmt: skip
def test_what_is_not_run_here_is_refused_when_it_is_built(define, sentence):
    builder = StreamsBuilder()
    supplier = Stores.persistent_key_value_store("kept")
    builder.add_state_store(Stores.key_value_store_builder(supplier, Serdes.string(), Serdes.string()))
    define(builder)
    with pytest.raises(TopologyError) as raised:
        builder.build()
    assert sentence in str(raised.value)
