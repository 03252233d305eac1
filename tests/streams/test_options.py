from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from headrace.errors import ArgumentError, ConfigError, TopologyError
from headrace.kafka.reset_policy import reset_ms
from headrace.streams import (
    AutoOffsetReset,
    Consumed,
    EmitStrategy,
    Grouped,
    Joined,
    JoinWindows,
    KStream,
    Materialized,
    Named,
    Produced,
    Record,
    Repartitioned,
    Serdes,
    SessionWindows,
    Stores,
    StoreType,
    StreamJoined,
    StreamsBuilder,
    StreamsConfig,
    TimeWindows,
)
from headrace.streams.options import take


def stream() -> KStream:
    return StreamsBuilder().stream("in")


def test_a_reset_policy_by_duration_is_java_s_text_of_it():
    assert AutoOffsetReset.by_duration(timedelta(hours=1)) == "by_duration:PT3600.000S"
    assert [reset_ms(f"by_duration:{text}") for text in ("PT1H", "P1DT2H3M4.5S", "pt0.25s")] == [3_600_000, 93_784_500, 250]
    with pytest.raises(ArgumentError, match="Duration cannot be negative"):
        AutoOffsetReset.by_duration(-1)
    for wrong in ("by_duration:", "by_duration:P", "by_duration:1h", "by_duration:PT1X"):
        with pytest.raises(ConfigError, match=f"Invalid value {wrong} for configuration auto.offset.reset"):
            reset_ms(wrong)


@pytest.mark.parametrize("policy", ["LATEST", "begining", ""])
def test_a_reset_policy_that_kafka_does_not_have_is_refused_at_once(policy: str):
    sentence = f"Invalid value {policy} for configuration auto.offset.reset: The value must be either 'earliest', 'latest', "
    with pytest.raises(ConfigError, match=sentence):
        Consumed().with_offset_reset_policy(policy)
    for key in ("auto.offset.reset", "consumer.auto.offset.reset", "main.consumer.auto.offset.reset"):
        with pytest.raises(ConfigError, match=sentence):
            StreamsConfig({"application.id": "app", "bootstrap.servers": "127.0.0.1:1", key: policy})
    with pytest.raises(ConfigError, match=r"Invalid value by_duration:xyz for configuration auto\.offset\.reset: it has"):
        Consumed.with_("by_duration:xyz")


def test_options_come_in_any_order_or_by_keyword():
    named, materialized = Named.as_("counter"), Materialized.as_("counts")
    for count in (
        stream().group_by_key().count(named, materialized),
        stream().group_by_key().count(materialized, named),
        stream().group_by_key().count(materialized=materialized, named=named),
        stream().group_by_key().count(materialized, named=named),
    ):
        assert (count.flow.name, count.queryable_store_name) == ("counter", "counts")


def test_an_option_of_another_operator_is_refused_in_one_sentence():
    with pytest.raises(ArgumentError, match=r"takes one Named at most, but was given Grouped\("):
        stream().filter(lambda k, v: v, Grouped.as_("g"))  # type: ignore[arg-type]


def test_an_option_given_twice_is_refused():
    with pytest.raises(ArgumentError, match=r"takes one Named and one Materialized at most, but was given Named\(name='b'\)"):
        take((Named("a"),), {"named": Named("b")}, Named, Materialized)


def test_an_unknown_keyword_is_refused():
    with pytest.raises(ArgumentError, match="was given name="):
        stream().filter(lambda k, v: v, name=Named("n"))


def test_durations_are_timedeltas_or_milliseconds():
    assert TimeWindows.of_size_with_no_grace(60_000) == TimeWindows.of_size_with_no_grace(timedelta(minutes=1))
    with pytest.raises(ArgumentError, match="`size` is '1 minute', but should be a timedelta or a number of milliseconds"):
        TimeWindows.of_size_with_no_grace("1 minute")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ä", "x" * 250])
def test_a_name_that_no_topic_could_have_is_refused(name: str):
    with pytest.raises(TopologyError, match=r"^Invalid topology: Name "):
        Named.as_(name)
    with pytest.raises(TopologyError, match=r"^Invalid topology: Name "):
        StreamsBuilder().stream("in", Consumed.as_(name))


def test_a_changed_option_is_a_new_one():
    joined = Joined.as_("j")
    assert joined.with_grace_period(timedelta(seconds=1)) == Joined("j", grace_ms=1000)
    assert joined == Joined("j")


def test_a_repartition_topic_without_partitions_is_refused():
    with pytest.raises(ArgumentError, match="Number of partitions must be at least 1"):
        Repartitioned.number_of_partitions(0)


def test_a_stream_is_not_joined_with_just_anything():
    with pytest.raises(ArgumentError, match="A KStream joins a KStream, a KTable or a GlobalKTable, not 'topic'"):
        stream().join("topic", lambda a, b: a, 1)  # type: ignore[call-overload]


class Processor:
    def process(self, record: Record) -> None: ...


NO_FUNCTION: dict[str, Callable[[Any], object]] = {
    "predicate": lambda wrong: stream().filter(wrong),
    "mapper": lambda wrong: stream().map_values(wrong),
    "key_selector": lambda wrong: stream().join(StreamsBuilder().global_table("g"), wrong, lambda a, b: a),
    "joiner": lambda wrong: stream().join(StreamsBuilder().table("t"), wrong),
    "aggregator": lambda wrong: stream().group_by_key().aggregate(lambda: 0, wrong),
    "subtractor": lambda wrong: StreamsBuilder().table("t").group_by(lambda k, v: (k, v)).reduce(lambda a, b: a, wrong),
    "session_merger": lambda wrong: (
        stream().group_by_key().windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(1)).aggregate(int, min, wrong)
    ),
    "supplier": lambda wrong: stream().process(wrong),
    "partitioner": lambda wrong: Produced().with_stream_partitioner(wrong),
    "timestamp_extractor": lambda wrong: Consumed().with_timestamp_extractor(wrong),
}


@pytest.mark.parametrize("name", NO_FUNCTION)
def test_what_is_no_function_is_refused_where_it_is_given(name: str):
    for wrong in (5, Processor()):
        with pytest.raises(ArgumentError, match=f"`{name}` is {wrong!r}, but should be a function or a class"):
            NO_FUNCTION[name](wrong)


@pytest.mark.parametrize(
    ("give", "sentence"),
    [
        (lambda s: s.map_values(lambda: 1), "`mapper` is called with 1 or 2 arguments, which .*<lambda> does not take"),
        (lambda s: s.filter(lambda value: True), "`predicate` is called with 2 arguments"),
        (lambda s: s.join(s.to_table(), lambda value: value), "`joiner` is called with 2 or 3 arguments"),
        (lambda s: s.group_by_key().reduce(lambda a, b, c: a), "`reducer` is called with 2 arguments"),
        (lambda s: s.group_by_key().aggregate(lambda key: 0, lambda k, v, a: a), "`initializer` is called with 0 arguments"),
        (lambda s: s.group_by_key().cogroup(lambda value, aggregate: value), "`aggregator` is called with 3 arguments"),
        (lambda s: s.split().branch(lambda value: True), "`predicate` is called with 2 arguments"),
        (lambda s: s.to("t", Produced().with_stream_partitioner(lambda k, v: 0)), "`partitioner` is called with 4 arguments"),
        (lambda s: Consumed().with_timestamp_extractor(lambda value: value), "`timestamp_extractor` is called with 3 arguments"),
    ],
)
def test_a_function_that_cannot_be_called_as_it_will_be_is_refused_where_it_is_given(
    give: Callable[[Any], object], sentence: str
):
    with pytest.raises(ArgumentError, match=sentence):
        give(stream())


def test_so_is_one_that_is_to_name_topics_when_the_topology_is_built():
    builder = StreamsBuilder()
    builder.stream("a").to(lambda value: "t")
    with pytest.raises(ArgumentError, match=r"`topic` is called with 3 arguments, which .*<lambda> does not take"):
        builder.build()


def test_functions_take_the_key_as_well_or_say_nothing_of_what_they_take():
    for mapper in (lambda value: value, lambda key, value: value, lambda *values: values, max, str.upper):
        stream().map_values(mapper)


def test_neither_is_a_predicate_of_a_branch_or_a_transformer():
    with pytest.raises(ArgumentError, match="`predicate` is None, but should be a function"):
        stream().split().branch(None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="`supplier` is 5, but should be a function"):
        StreamsBuilder().table("t").transform_values(5)


def test_a_sink_has_a_topic():
    builder = StreamsBuilder()
    builder.stream("in").to(None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="`topic` is None, but should be a str or a function"):
        builder.build()


@pytest.mark.parametrize(
    "options",
    [
        lambda: Consumed.with_("string", "string"),
        lambda: Grouped.with_("by-customer"),
        lambda: Materialized.with_("string", Serdes.long()),  # type: ignore[arg-type]
        lambda: Stores.key_value_store_builder(Stores.lru_map("s", 1), Serdes.string, Serdes.long()),  # type: ignore[arg-type]
    ],
)
def test_a_serde_is_no_text_and_no_function(options: Callable[[], object]):
    with pytest.raises(ArgumentError, match=r"`key_serde` is .*, but should be a Serde"):
        options()


def test_neither_is_that_of_a_processor():
    class Texts(Processor):
        value_serde = "string"

    for apply in (stream().process, StreamsBuilder().table("t").transform_values):
        with pytest.raises(ArgumentError, match=r"`value_serde` of <class .*Texts'> is 'string', but should be a Serde"):
            apply(Texts)


def test_a_join_takes_its_own_options_only():
    builder = StreamsBuilder()
    one, two, table = builder.stream("a"), builder.stream("b"), builder.table("t")
    with pytest.raises(ArgumentError, match="`windows` is 5, but should be JoinWindows"):
        one.join(two, lambda a, b: a, 5)  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match=r"takes one Joined at most, but was given Named\(name='x'\)"):
        one.join(table, lambda a, b: a, Named.as_("x"))  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match="A KStream has an outer join with a KStream, not with"):
        one.outer_join(table, lambda a, b: a, JoinWindows.of_time_difference_with_no_grace(1))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="A KTable joins a KTable, not"):
        table.join(one, lambda a, b: a)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("give", "sentence"),
    [
        (lambda builder: builder.stream("a").merge("x"), "A KStream merges with a KStream, not with 'x'"),
        (lambda builder: builder.table("t").suppress("x"), "`suppressed` is 'x', but should be a Suppressed"),
        (lambda builder: builder.add_state_store("x"), "`store` is 'x', but should be a StateStore"),
        (lambda builder: builder.stream(5), "`topics` is 5, but should be a topic, several, or a compiled pattern"),
        (lambda builder: builder.stream("a").group_by_key().cogroup("x"), "`aggregator` is 'x', but should be a function"),
    ],
)
def test_what_an_operator_cannot_take_is_refused_where_it_is_given(give: Callable[[StreamsBuilder], object], sentence: str):
    with pytest.raises(ArgumentError, match=sentence):
        give(StreamsBuilder())


def test_a_supplier_of_another_kind_is_refused():
    grouped = stream().group_by_key()
    windows = Stores.persistent_window_store("w", 10, 10, False)
    with pytest.raises(ArgumentError, match="The store supplier w is of kind window, but should be key-value"):
        grouped.count(Materialized.as_(windows))
    rows = Stores.persistent_key_value_store("k")
    with pytest.raises(ArgumentError, match="The store supplier k is of kind key-value, but should be window"):
        grouped.windowed_by(TimeWindows.of_size_with_no_grace(10)).count(Materialized.as_(rows))


def test_consumed_takes_serdes_an_extractor_or_a_reset_policy():
    def time(key, value, at):
        return at

    assert Consumed.with_(AutoOffsetReset.latest()) == Consumed(reset_policy="latest")
    assert Consumed.with_(time) == Consumed(timestamp_extractor=time)
    assert Consumed.with_(Serdes.string(), Serdes.long(), time, AutoOffsetReset.none()) == Consumed(
        None, Serdes.string(), Serdes.long(), time, "none"
    )


def test_a_store_type_is_that_of_all_stores_of_a_join():
    joined = StreamJoined.with_(StoreType.IN_MEMORY)
    assert joined == StreamJoined().with_dsl_store_suppliers(StoreType.IN_MEMORY)
    builder = StreamsBuilder()
    builder.stream("a").outer_join(builder.stream("b"), lambda a, b: a, JoinWindows.of_time_difference_with_no_grace(1), joined)
    assert [store.persistent for store in builder.build().stores.values()] == [False] * 3


_KAFKA = "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$"


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ({}, None),
        ({"default.dsl.store": "in_memory"}, StoreType.IN_MEMORY),
        ({"default.dsl.store": "rocksDB"}, StoreType.ROCKS_DB),
        (
            {"default.dsl.store": "rocksDB", "dsl.store.suppliers.class": f"{_KAFKA}InMemoryDslStoreSuppliers"},
            StoreType.IN_MEMORY,
        ),
    ],
)
def test_stores_without_a_type_are_where_the_settings_say(given: dict[str, str], chosen: StoreType | None):
    builder = StreamsBuilder(given)
    table = builder.table("a", Materialized.as_("open"))
    table.filter(lambda k, v: v, Materialized.as_(Stores.persistent_key_value_store("disk")))
    table.filter(lambda k, v: v, Materialized.as_("memory").with_store_type(StoreType.IN_MEMORY))
    topology = builder.build()
    assert topology.store_type is chosen
    assert {name: store.persistent for name, store in topology.stores.items()} == {"open": None, "disk": True, "memory": False}


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("default.dsl.store", "inMemory", "String must be one of: rocksDB, in_memory"),
        ("dsl.store.suppliers.class", "com.example.Mine", "stores are made by .*RocksDBDslStoreSuppliers and .* only"),
        ("dsl.store.format", "HEADERS", "tables keep no headers here, it has to be DEFAULT"),
    ],
)
def test_stores_of_a_kind_that_is_not_there_are_refused(key: str, value: str, sentence: str):
    with pytest.raises(ConfigError, match=sentence):
        StreamsBuilder({key: value}).build()


def test_a_strategy_and_a_type_may_be_given_as_their_texts():
    windowed = stream().group_by_key().windowed_by(TimeWindows.of_size_with_no_grace(10))
    sessions = stream().group_by_key().windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(10))
    for grouped in (windowed, sessions):
        assert grouped.emit_strategy("on_window_close")._emit is EmitStrategy.ON_WINDOW_CLOSE  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match=r"`emit_strategy` is 'closed', but should be EmitStrategy\.ON_WINDOW_UPDATE"):
            grouped.emit_strategy("closed")  # type: ignore[arg-type]
    assert Materialized().with_store_type("in_memory").store_type is StoreType.IN_MEMORY  # type: ignore[arg-type]
    assert StreamJoined().with_dsl_store_suppliers("in_memory").store_type is StoreType.IN_MEMORY  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"`store_type` is 'disk', but should be StoreType\.ROCKS_DB or StoreType\.IN_MEMORY"):
        Materialized().with_store_type("disk")  # type: ignore[arg-type]


def test_a_store_of_the_last_keys_has_a_size():
    assert not Stores.lru_map("last", 10).persistent
    with pytest.raises(ArgumentError, match="maxCacheSize cannot be negative"):
        Stores.lru_map("last", -1)


def test_segments_of_a_versioned_store_have_a_length():
    assert Stores.persistent_versioned_key_value_store("v", 10, 5) == Stores.persistent_versioned_key_value_store("v", 10)
    with pytest.raises(ArgumentError, match="segmentInterval cannot be zero or negative"):
        Stores.persistent_versioned_key_value_store("v", 10, 0)


def test_stores_have_kafka_s_names_whatever_they_keep_beside_the_value():
    plain = Stores.persistent_key_value_store("rows")
    assert plain == Stores.persistent_timestamped_key_value_store("rows")
    assert plain == Stores.persistent_timestamped_key_value_store_with_headers("rows")
    windows = Stores.persistent_window_store("rows", 20, 10, False)
    assert windows == Stores.persistent_timestamped_window_store("rows", 20, 10, False)
    assert windows == Stores.persistent_timestamped_window_store_with_headers("rows", 20, 10, False)
    assert Stores.persistent_session_store("rows", 20) == Stores.persistent_session_store_with_headers("rows", 20)
    store = Stores.timestamped_key_value_store_with_headers_builder(plain, Serdes.string(), Serdes.long())
    assert (store.timestamped, store.with_headers, store.name) == (True, True, "rows")


def test_what_kafka_makes_by_static_methods_is_made_by_keyword():
    assert Grouped(key_serde=Serdes.long()) == Grouped().with_key_serde(Serdes.long())
    assert Joined(other_value_serde=Serdes.long()) == Joined().with_other_value_serde(Serdes.long())
    assert Consumed(value_serde=Serdes.long()) == Consumed().with_value_serde(Serdes.long())
