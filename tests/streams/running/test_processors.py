"""Processors with state stores and schedules: what they keep is there in the next batch, and after a restart."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import VariantVal

from headrace.errors import TopologyError
from headrace.streams import (
    AggregationWithHeaders,
    BufferConfig,
    Consumed,
    Materialized,
    Named,
    Produced,
    PunctuationType,
    Record,
    Serdes,
    Stores,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    ValueAndTimestamp,
    ValueTimestampHeaders,
)
from headrace.streams.serdes import WindowedSerde
from headrace.testing.topics_in_memory import TopicsInMemory
from tests.streams.running.conftest import STRINGS, feed

WALL, STREAM = PunctuationType.WALL_CLOCK_TIME, PunctuationType.STREAM_TIME


class Totals:
    """Adds up the lengths of values by key, and forwards the total."""

    value_serde = Serdes.long()

    @staticmethod
    def stores():
        return [Stores.key_value_store_builder(Stores.persistent_key_value_store("totals"), Serdes.string(), Serdes.long())]

    def init(self, context) -> None:
        self.context, self.totals = context, context.get_state_store("totals")

    def process(self, record) -> None:
        if record.value is None:
            self.totals.delete(record.key)
            return
        total = (self.totals.get(record.key) or 0) + len(record.value)
        self.totals.put(record.key, total)
        self.context.forward(record.with_value(total))


def _out(driver, serde=None):
    return [(r.key, r.value) for r in driver.create_output_topic("out", Serdes.string(), serde or Serdes.long()).read_records()]


def test_a_store_of_a_processor_is_as_plain_python_has_it_and_comes_back_from_its_changelog(drive, spark):
    chance, topics, expected, wanted = random.Random(7), TopicsInMemory(spark), {}, []
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).process(Totals).to("out", Produced.with_(Serdes.string(), Serdes.long()))
    for size in (5, 1, 40):
        batch = [(chance.choice("abcd"), chance.choice(["x", "yy", "", None]), n) for n in range(size)]
        for key, value, _ in batch:
            if value is None:
                expected.pop(key, None)
            else:
                expected[key] = expected.get(key, 0) + len(value)
                wanted.append((key, expected[key]))
        with drive(builder, topics=topics) as driver:
            feed(driver, "in", batch)
            assert dict(driver.store("totals").all()) == expected
    changelog = [((row[4] or b"").decode(), int.from_bytes(row[5] or b"", "big")) for row in topics.rows["out"]]
    assert changelog == wanted


class Every:
    """Counts records in a store; forwards and clears all of it every 10 ms of stream time, and tells the time every second."""

    value_serde = Serdes.string()

    def init(self, context) -> None:
        self.context, self.counts = context, context.get_state_store("counts")
        context.schedule(10, STREAM, self.pass_on)
        context.schedule(1000, WALL, lambda time: context.forward(Record("clock", str(time), time)))

    def process(self, record) -> None:
        count = self.counts.get(record.key)
        self.counts.put(record.key, ValueAndTimestamp((count.value if count else 0) + 1, record.timestamp))

    def pass_on(self, time) -> None:
        for key, found in list(self.counts.all()):
            self.context.forward(Record(key, f"{found.value}@{found.timestamp}", time))
            self.counts.delete(key)


def test_schedules_go_by_stream_time_and_by_the_clock(drive, spark):
    topics, builder = TopicsInMemory(spark), StreamsBuilder()
    supplier = Stores.in_memory_key_value_store("counts")
    builder.add_state_store(Stores.timestamped_key_value_store_builder(supplier, Serdes.string(), Serdes.long()))
    builder.stream("in", STRINGS).process(Every, "counts").to("out", Produced.with_(Serdes.string(), Serdes.string()))
    with drive(builder, topics=topics, wall_clock_time=5000) as driver:
        feed(driver, "in", [("a", "x", 3), ("a", "x", 4), ("b", "x", 5), ("a", "x", 12)])
        assert _out(driver, Serdes.string()) == [("a", "1@3"), ("a", "2@12"), ("b", "1@5")]  # the first record is due at once
        driver.advance_wall_clock_time(999)
        assert _out(driver, Serdes.string()) == []
        driver.advance_wall_clock_time(1)
        assert _out(driver, Serdes.string()) == [("clock", "6000")]
        driver.advance_wall_clock_time(2500)  # what was missed is one call, and the rhythm stays
        assert _out(driver, Serdes.string()) == [("clock", "8500")]
        driver.advance_wall_clock_time(500)
        assert _out(driver, Serdes.string()) == [("clock", "9000")]
        feed(driver, "in", [("c", "x", 13)])
    with drive(builder, topics=topics, wall_clock_time=9000) as driver:
        feed(driver, "in", [("c", "x", 21)])
        assert _out(driver, Serdes.string())[-1:] == [("c", "2@21")]


class Windows:
    """Keeps the last value of each key and ten milliseconds, and sessions of a key by hand."""

    value_serde = Serdes.string()

    @staticmethod
    def stores():
        windows = Stores.persistent_window_store("windows", 1000, 10, False)
        sessions = Stores.persistent_session_store("sessions", 1000)
        return [
            Stores.window_store_builder(windows, Serdes.string(), Serdes.string()),
            Stores.session_store_builder(sessions, Serdes.string(), Serdes.json("n int, tags array<string>")),
        ]

    def init(self, context) -> None:
        self.context, self.table = context, context.get_state_store("names")
        self.windows, self.sessions = context.get_state_store("windows"), context.get_state_store("sessions")

    def process(self, record) -> None:
        self.windows.put(record.key, record.value, record.timestamp // 10 * 10)
        near = list(self.sessions.find_sessions(record.key, record.timestamp - 5, record.timestamp + 5))
        start, end, n = record.timestamp, record.timestamp, 1
        for session, value in near:
            start, end, n = min(start, session[1]), max(end, session[2]), n + value.n
            self.sessions.remove(session)
        self.sessions.put((record.key, start, end), {"n": n, "tags": [record.value]})
        past = ",".join(f"{at}={value}" for at, value in self.windows.fetch(record.key, 0, record.timestamp))
        self.context.forward(record.with_value(f"{self.table.get(record.key)} {past} {start}-{end}:{n}"))


def test_windows_sessions_and_global_tables_are_there_for_processors(drive):
    builder = StreamsBuilder()
    builder.global_table("names-of", STRINGS, Materialized.as_("names"))
    builder.stream("in", STRINGS).process(Windows).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    with drive(builder) as driver:
        feed(driver, "names-of", [("a", "Anna", 1)])
        feed(driver, "in", [("a", "x", 1), ("a", "y", 3), ("ab", "z", 4)])
        feed(driver, "in", [("a", "u", 7), ("a", "v", 21)])
        results = _out(driver, Serdes.string())
        assert results == [
            ("a", "Anna 0=x 1-1:1"), ("a", "Anna 0=y 1-3:2"), ("ab", "None 0=z 4-4:1"),
            ("a", "Anna 0=u 1-7:3"), ("a", "Anna 0=u,20=v 21-21:1"),
        ]  # fmt: skip
        assert list(driver.store("windows").fetch("a")) == [(0, "u"), (20, "v")]
        assert [(k, v.n) for k, v in driver.store("sessions").all()] == [(("a", 1, 7), 3), (("a", 21, 21), 1), (("ab", 4, 4), 1)]


class Fills:
    """Puts each value into the window that it names."""

    def init(self, context) -> None:
        self.windows = context.get_state_store("windows")

    def process(self, record) -> None:
        self.windows.put(record.key, record.value, int(record.value))


class Looks(Fills):
    """Reads only."""

    def process(self, record) -> None:
        list(self.windows.all())


def test_windows_that_processors_share_expire_by_what_is_put_into_them(drive, spark, monkeypatch):
    monkeypatch.setattr("headrace.streams.engine.store_table._SWEEP_ROWS", 0)  # as if many rows had changed
    topics, builder, windows = TopicsInMemory(spark), StreamsBuilder(), Stores.in_memory_window_store("windows", 20, 10, False)
    builder.add_state_store(Stores.window_store_builder(windows, Serdes.string(), Serdes.string()))
    builder.stream("looks", STRINGS).process(Looks, "windows", Named("looks"))
    builder.stream("fills", STRINGS).process(Fills, "windows", Named("fills"))

    def kept(driver):
        stored = driver._tasks[0].state.tables["windows"].rows().orderBy("w").collect()
        starts = [start for (_, start, _), _ in driver.store("windows").all()]
        assert starts == [row["w"] for row in stored if row["w"] > max(row["w"] for row in stored) - 20]
        return [row["w"] for row in stored]

    with drive(builder, topics=topics) as driver:
        feed(driver, "looks", [("a", "", 10_000)])
        feed(driver, "fills", [("a", "50", 1), ("a", "70", 2), ("a", "40", 3)])
        assert kept(driver) == [50, 70]  # whatever the time of the other processor and of the records
    with drive(builder, topics=topics) as driver:
        feed(driver, "fills", [("a", "60", 4), ("a", "45", 5)])
        assert kept(driver) == [50, 60, 70]
        feed(driver, "fills", [("a", "100", 6)])
        assert kept(driver) == [100]


class Headed:
    """Keeps the last value and what is in a session, each with a header that grows by a letter."""

    value_serde = Serdes.string()

    @staticmethod
    def stores():
        rows, sessions = Stores.persistent_key_value_store("rows"), Stores.persistent_session_store("sessions", 1000)
        return [
            Stores.timestamped_key_value_store_with_headers_builder(rows, Serdes.string(), Serdes.string()),
            Stores.session_store_with_headers_builder(sessions, Serdes.string(), Serdes.long()),
        ]

    def init(self, context) -> None:
        self.context = context
        self.rows, self.sessions = context.get_state_store("rows"), context.get_state_store("sessions")

    def process(self, record) -> None:
        current = self.rows.get(record.key) or ValueTimestampHeaders("", 0)
        grown = (("n", (dict(current.headers).get("n") or b"") + b"x"), ("none", None))
        self.rows.put(record.key, record.value and ValueTimestampHeaders(record.value, record.timestamp, grown))
        near = dict(self.sessions.fetch(record.key))
        self.sessions.put((record.key, 0, 9), AggregationWithHeaders(len(near), grown))
        said = [f"{row.aggregation}{(dict(row.headers)['n'] or b'').decode()}" for row in near.values()]
        self.context.forward(record.with_value(f"{current.value}@{current.timestamp}{dict(current.headers)} {said}"))


def test_a_store_keeps_headers_with_its_values(drive, spark):
    topics, builder = TopicsInMemory(spark), StreamsBuilder()
    builder.stream("in", STRINGS).process(Headed).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    for batch, expected in (
        ([("a", "u", 1), ("a", "v", 2)], ["@0{} []", "u@1{'n': b'x', 'none': None} ['0x']"]),
        ([("a", None, 3), ("b", "w", 4), ("a", "y", 5)], ["v@2{'n': b'xx', 'none': None} ['1xx']", "@0{} []", "@0{} ['1xxx']"]),
    ):
        with drive(builder, topics=topics) as driver:  # the second one reads the changelogs
            feed(driver, "in", batch)
            assert [value for _, value in _out(driver, Serdes.string())][-len(expected) :] == expected
            assert driver.store("rows").get("a") == ("v" if expected[0][0] == "@" else "y")
            assert [value for _, value in driver.store("sessions").fetch("a")] == [1]


class Greets:
    """Forwards a record before all others of a batch, and then those."""

    def init(self, context) -> None:
        self.context = context
        context.forward(Record("hello", "", 0))

    def process(self, record) -> None:
        self.context.forward(record)


class Passes:
    """Forwards what comes."""

    def init(self, context) -> None:
        self.context = context

    def process(self, record) -> None:
        self.context.forward(record)


def test_what_is_forwarded_from_init_comes_to_the_next_processor_first(drive):
    builder = StreamsBuilder()
    greeted = builder.stream("in", STRINGS).process(Greets).process(Passes)
    greeted.peek(lambda key, value: None).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    with drive(builder) as driver:
        assert _out(driver, Serdes.string()) == [("hello", "")]
        feed(driver, "in", [("a", "x", 1), ("b", "y", 2)])
        assert _out(driver, Serdes.string()) == [("hello", ""), ("a", "x"), ("b", "y")]


class Routing:
    """Forwards to the child that the key names, or to all."""

    def init(self, context) -> None:
        self.context = context

    def process(self, record) -> None:
        self.context.forward(record, record.key)


def test_a_processor_forwards_to_one_of_its_children(drive):
    builder = StreamsBuilder()
    routed = builder.stream("in", STRINGS).process(Routing)
    routed.filter(lambda k, v: v.isNotNull(), Named.as_("kept")).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    routed.to("errors", Produced.as_("errors-sink").with_key_serde(Serdes.string()).with_value_serde(Serdes.string()))
    with drive(builder) as driver:
        feed(driver, "in", [("kept", "x", 1), ("errors-sink", "y", 2), (None, "z", 3)])
        errors = driver.create_output_topic("errors", Serdes.string(), Serdes.string()).read_records()
        assert _out(driver, Serdes.string()) == [("kept", "x"), (None, "z")]
        assert [one.value for one in errors] == ["y", "z"]


def test_an_operator_between_processors_with_one_store_is_refused():
    builder = StreamsBuilder()
    supplier = Stores.in_memory_key_value_store("counts")
    builder.add_state_store(Stores.key_value_store_builder(supplier, Serdes.string(), Serdes.long()))
    first = builder.stream("in", STRINGS).process(Every, "counts", Named("first"))
    first.map_values(lambda value: value, Named("between")).process(Every, "counts", Named("last"))
    with pytest.raises(TopologyError, match="first and last use the same store counts, and between, which is no processor"):
        builder.build()


def test_a_store_that_is_not_connected_says_so(drive):
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).process(AsksForAnother).to("out")
    with pytest.raises(Exception, match=r"The processor has no access to the store totals: give its name to process\(…\)"):
        drive(builder)


class AsksForAnother(Totals):
    stores = None  # type: ignore[assignment]


class Expires:
    """Puts each value into the window and the session that it names, and tells what it finds."""

    value_serde = Serdes.string()

    @staticmethod
    def stores():
        windows, sessions = (
            Stores.persistent_window_store("windows", 20, 10, False),
            Stores.persistent_session_store("sessions", 20),
        )
        return [
            Stores.window_store_builder(windows, Serdes.string(), Serdes.string()),
            Stores.session_store_builder(sessions, Serdes.string(), Serdes.string()),
        ]

    def init(self, context) -> None:
        self.context = context
        self.windows, self.sessions = context.get_state_store("windows"), context.get_state_store("sessions")

    def process(self, record) -> None:
        at = int(record.value)
        self.windows.put(record.key, record.value, at)
        self.sessions.put((record.key, at, at), record.value)
        found = [value for _, value in self.windows.all()], [value for _, value in self.windows.fetch(record.key, 0, 100)]
        ended = [value for _, value in self.sessions.fetch(record.key)], [self.sessions.fetch_session(record.key, 50, 50)]
        single = [self.windows.fetch(record.key, 50)]
        assert found[0] == found[1] == ended[0] and single == ended[1]
        self.context.forward(record.with_value(f"{' '.join(found[0])}, {single[0]}"))


def test_what_has_expired_is_neither_put_into_a_store_nor_found_in_it(drive):
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).process(Expires).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "50", 1), ("a", "69", 2), ("a", "49", 3)])
        feed(driver, "in", [("a", "70", 4), ("a", "50", 5), ("a", "51", 6)])
        assert [value for _, value in _out(driver, Serdes.string())] == [
            "50, 50", "50 69, 50", "50 69, 50", "69 70, None", "69 70, None", "51 69 70, None",
        ]  # fmt: skip
        assert [start for start, _ in driver.store("windows").fetch("a")] == [51, 69, 70]
        assert driver._tasks[0].metrics["dropped"] == 4


class Reads:
    """Forwards what a store has for each key."""

    def init(self, context) -> None:
        self.context, self.store = context, context.get_state_store("both")

    def process(self, record) -> None:
        self.context.forward(record.with_value(self.store.get(record.key)))


def test_a_processor_reads_what_streams_are_cogrouped_into(drive):
    builder = StreamsBuilder()
    one, other = builder.stream("in", STRINGS).group_by_key(), builder.stream("in2", STRINGS).group_by_key()
    add = lambda k, v, total: F.concat(total, v)  # noqa: E731
    one.cogroup(add).cogroup(other, add).aggregate(lambda: "", Materialized.as_("both"))
    asked = builder.stream("asked", STRINGS).process(Reads, "both")
    asked.to("out", Produced.with_(Serdes.string(), Serdes.string()))
    with drive(builder) as driver:
        for topic, value in (("in", "x"), ("asked", "?"), ("in2", "y"), ("asked", "?")):
            feed(driver, topic, [("a", value, 1)])
        results = driver.create_output_topic("out", Serdes.string(), Serdes.string())
        assert results.read_key_values() == [("a", "x"), ("a", "xy")]


def _windows_with_a_registry(builder: StreamsBuilder) -> None:
    windows = builder.stream("in", STRINGS).group_by_key().windowed_by(TimeWindows.of_size_and_grace(5, 5))
    key = WindowedSerde("time_windowed", inner=Serdes.avro('"string"', "http://nowhere"), size_ms=5)
    windows.count().to_stream().to("out", Produced.with_(key, Serdes.long()))


def _registry_without_a_topic(builder: StreamsBuilder) -> None:
    value = Serdes.avro('"string"', "http://nowhere")
    builder.stream("in", STRINGS).to(lambda key, value, context: value, Produced.with_(Serdes.string(), value))


def _only_global(builder: StreamsBuilder) -> None:
    builder.global_table("rows", STRINGS)


def _global(builder: StreamsBuilder) -> None:
    store = Stores.key_value_store_builder(Stores.in_memory_key_value_store("all"), Serdes.string(), Serdes.string())
    builder.add_global_store(store, "in", STRINGS, Passes)


def _partitioned(builder: StreamsBuilder) -> None:
    to = Produced.with_(Serdes.string(), Serdes.string()).with_stream_partitioner(lambda topic, key, value, count: 0)
    builder.stream("in", STRINGS).to(lambda key, value, context: value, to)


def _reads_windows(builder: StreamsBuilder) -> None:
    windows = builder.stream("in", STRINGS).group_by_key().windowed_by(TimeWindows.of_size_and_grace(5, 5))
    windows.count(Named("counts")).filter(lambda k, n: n > 1, Materialized.as_("many"))
    builder.stream("looks", STRINGS).process(Passes, "many", Named("looks"))


def _reads_suppressed(builder: StreamsBuilder) -> None:
    counts = builder.stream("in", STRINGS).group_by_key().count()
    held = counts.suppress(Suppressed.until_time_limit(5, BufferConfig.unbounded()).with_name("held"))
    held.map_values(lambda n: n + 1, Materialized.as_("more"))
    builder.stream("looks", STRINGS).process(Passes, "more", Named("looks"))


@pytest.mark.parametrize(
    ("define", "sentence"),
    [
        (_global, "fills the global store all, which processors do not do here"),
        (_windows_with_a_registry, "KSTREAM-SINK-.*: a windowed key has no schema in a registry"),
        (_registry_without_a_topic, r"KSTREAM-SINK-.*: Serdes\.avro\(…\) needs a topic with a fixed name"),
        (_only_global, "The topology has global tables only"),
        (_partitioned, "a partitioner needs a topic with a fixed name"),
        (_reads_windows, "looks uses the store many of .*, which follows from counts"),
        (_reads_suppressed, "looks uses the store more of .*, which follows from held"),
    ],
)
def test_what_does_not_run_is_refused_when_it_is_built(define, sentence):
    builder = StreamsBuilder()
    define(builder)
    with pytest.raises(TopologyError, match=sentence):
        builder.build()


def test_a_json_key_of_a_test_has_the_bytes_that_a_store_writes(drive):
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(Serdes.json(), Serdes.string())).to("out", Produced.with_(Serdes.json(), Serdes.string()))
    with drive(builder) as driver:
        driver.create_input_topic("in", Serdes.json(), Serdes.string()).pipe_input({"a": 1, "b": [2]}, "x", 1)
        assert driver.topics.rows["in"][0][4] == b'{"a":1,"b":[2]}' == driver.topics.rows["out"][0][4]


class Remembers:
    """Forwards what its store has of a value that it has put, and the row of the key in a table."""

    def init(self, context) -> None:
        self.context, self.kept, self.rows = context, context.get_state_store("kept"), context.get_state_store("rows")

    def process(self, record) -> None:
        self.kept.put(record.key, record.value)
        for store in (self.kept, self.rows):
            self.context.forward(record.with_value(store.get(record.key)))


_AT = datetime(2026, 1, 1, 10, 0, 0, 5000)


@pytest.mark.parametrize(
    ("serde", "value"),
    [
        (
            Serdes.json("amount decimal(38,10), zero decimal(20,10), at timestamp, plain timestamp_ntz, day date, raw binary"),
            (Decimal("1234567890123456789012345678.01234567"), Decimal(0), _AT, _AT, date(2026, 1, 1), b"x"),
        ),
        (Serdes.json(), {"amount": Decimal("123456789012345678.91"), "b": [None, {"c": "ä", "d": 1.5e300, "e": 7}]}),
        (Serdes.json("n double, v variant"), (1.0, VariantVal.parseJson('{"a":0.00000000012345678901234567890123456789}'))),
    ],
)
def test_a_processor_keeps_and_reads_json_as_spark_does(drive, serde, value):
    builder, key = StreamsBuilder(), Serdes.json("id decimal(10,2), at timestamp")
    builder.add_state_store(Stores.key_value_store_builder(Stores.persistent_key_value_store("kept"), key, serde))
    builder.table("rows", Consumed.with_(key, serde), Materialized.as_("rows"))
    builder.stream("in", Consumed.with_(key, serde)).process(Remembers, "kept", "rows").to("out", Produced.with_(key, serde))
    with drive(builder) as driver:
        for topic in ("rows", "in"):
            driver.create_input_topic(topic, key, serde).pipe_input((Decimal("2.5"), _AT), value, 1)
        topics = driver.topics.rows
        (given,) = topics["in"]
        assert [row[4:6] for row in topics["out"]] == [given[4:6]] * 2
        assert [row[4:6] for row in topics["app-kept-changelog"]] == [given[4:6]]
