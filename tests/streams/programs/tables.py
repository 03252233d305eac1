"""Tables: from topics and streams, filtered, mapped, regrouped; global tables and stores."""

from __future__ import annotations

from headrace.streams import Consumed, Grouped, Materialized, Named, Serdes, Stores, StreamsBuilder, Suppressed
from tests.streams.programs.functions import (
    ADD,
    JOINER,
    KEY,
    PAIR,
    PREDICATE,
    PROCESSOR,
    REDUCER,
    START,
    SUBTRACT,
    TRANSFORMER,
    UNREDUCER,
    VALUE,
    minutes,
    seconds,
)


def a_table_that_nobody_keeps(b: StreamsBuilder) -> None:
    b.table("in").to_stream().to("out")


def tables_with_names(b: StreamsBuilder) -> None:
    b.table("a", Materialized.as_("kept")).to_stream().to("out-a")
    b.table("b", Consumed.as_("read")).to_stream().to("out-b")
    b.table("c", Consumed.as_("read-c"), Materialized.as_("kept-c")).to_stream().to("out-c")
    b.table("d", Consumed.with_(Serdes.string(), Serdes.long())).to_stream().to("out-d")


def table_operators(b: StreamsBuilder) -> None:
    t = b.table("in").filter(PREDICATE).filter_not(PREDICATE).map_values(VALUE).transform_values(TRANSFORMER)
    t.to_stream().to("out")


def table_operators_with_names(b: StreamsBuilder) -> None:
    t = b.table("in").filter(PREDICATE, Named.as_("some")).filter_not(PREDICATE, Named.as_("others"))
    t.map_values(VALUE, Named.as_("values")).transform_values(TRANSFORMER, Named.as_("own")).to_stream().to("out")


def table_operators_that_are_kept(b: StreamsBuilder) -> None:
    t = b.table("in")
    f = t.filter(PREDICATE, Materialized.as_("filtered"))
    f.filter_not(PREDICATE, Named.as_("not"), Materialized.as_("filtered-not")).to_stream().to("out")
    t.map_values(VALUE, Named.as_("map"), Materialized.as_("mapped")).to_stream().to("out2")
    t.transform_values(TRANSFORMER, Materialized.as_("transformed")).to_stream().to("out3")
    t.transform_values(TRANSFORMER, Materialized.as_("transformed-named"), Named.as_("own")).to_stream().to("out4")


def table_operators_with_a_nameless_materialized(b: StreamsBuilder) -> None:
    t = b.table("in").filter(PREDICATE, Materialized.with_(Serdes.string(), Serdes.string()))
    t.map_values(VALUE, Materialized.with_(Serdes.string(), Serdes.string())).to_stream().to("out")


def a_transformer_with_a_store(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.key_value_store_builder(Stores.persistent_key_value_store("kept"), Serdes.string(), Serdes.long()))
    b.table("in").transform_values(TRANSFORMER, "kept").to_stream().to("out")


def to_stream_with_a_new_key(b: StreamsBuilder) -> None:
    t = b.table("in")
    t.to_stream(KEY).group_by_key().count()
    t.to_stream(KEY, Named.as_("changes")).to("out")


def regrouped(b: StreamsBuilder) -> None:
    g = b.table("in").group_by(PAIR)
    g.count().to_stream().to("counted")
    g.reduce(REDUCER, UNREDUCER).to_stream().to("reduced")
    g.aggregate(START, ADD, SUBTRACT).to_stream().to("aggregated")


def regrouped_with_names(b: StreamsBuilder) -> None:
    g = b.table("in").group_by(PAIR, Grouped.as_("regrouped"))
    g.count(Named.as_("counter"), Materialized.as_("counts")).to_stream().to("counted")
    g.reduce(REDUCER, UNREDUCER, Named.as_("reducer"), Materialized.as_("reduced")).to_stream().to("reduced")


def regrouped_and_kept(b: StreamsBuilder) -> None:
    g = b.table("in").filter(PREDICATE).group_by(PAIR)
    g.count(Materialized.as_("counts"))
    g.aggregate(START, ADD, SUBTRACT, Named.as_("adder"))
    g.reduce(REDUCER, UNREDUCER, Materialized.as_("reduced"))


def a_stream_as_a_table(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.to_table().to_stream().to("out")
    s.to_table(Named.as_("named")).filter(PREDICATE).to_stream().to("out2")
    s.to_table(Materialized.as_("kept")).to_stream().to("out3")
    s.to_table(Named.as_("both"), Materialized.as_("kept-too")).to_stream().to("out4")


def a_stream_with_a_new_key_as_a_table(b: StreamsBuilder) -> None:
    s = b.stream("in").select_key(KEY)
    s.to_table().to_stream().to("out")
    s.to_table(Named.as_("named"), Materialized.as_("kept")).group_by(PAIR).count()


def global_tables(b: StreamsBuilder) -> None:
    g = b.global_table("g")
    h = b.global_table("h", Materialized.as_("kept"))
    i = b.global_table("i", Consumed.as_("read"))
    s = b.stream("in")
    s.join(g, KEY, JOINER).left_join(h, KEY, JOINER).to("out")
    s.join(i, KEY, JOINER, Named.as_("with-i")).left_join(h, KEY, JOINER, Named.as_("with-h")).to("out2")


def global_tables_between_sub_topologies(b: StreamsBuilder) -> None:
    b.stream("a").to("out-a")
    g = b.global_table("g", Consumed.as_("read"), Materialized.as_("kept"))
    b.stream("b").join(g, KEY, JOINER).to("out-b")
    b.global_table("h")
    b.table("c", Materialized.as_("c-store"))


def a_global_table_behind_a_new_key(b: StreamsBuilder) -> None:
    g = b.global_table("g")
    b.stream("in").map(PAIR).join(g, KEY, JOINER).group_by_key().count().to_stream().to("out")


def a_global_store(b: StreamsBuilder) -> None:
    store = Stores.key_value_store_builder(Stores.persistent_key_value_store("global"), Serdes.string(), Serdes.string())
    b.add_global_store(store, "g", Consumed.with_(Serdes.string(), Serdes.string()), PROCESSOR)
    b.stream("in").process(PROCESSOR).to("out")


def a_global_store_with_a_name(b: StreamsBuilder) -> None:
    store = Stores.key_value_store_builder(Stores.persistent_key_value_store("global"), Serdes.string(), Serdes.string())
    b.add_global_store(store, "g", Consumed.as_("reader"), PROCESSOR)
    b.stream("in").to("out")


def a_global_store_named_by_a_processor_is_refused(b: StreamsBuilder) -> None:
    store = Stores.key_value_store_builder(Stores.persistent_key_value_store("global"), Serdes.string(), Serdes.string())
    b.add_global_store(store, "g", Consumed.with_(Serdes.string(), Serdes.string()), PROCESSOR)
    b.stream("in").process(PROCESSOR, "global").to("out")


def a_versioned_table(b: StreamsBuilder) -> None:
    v = Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10)))
    b.table("in", v).filter(PREDICATE).to_stream().to("out")


def a_versioned_global_table_is_refused(b: StreamsBuilder) -> None:
    b.global_table("in", Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10))))


def a_versioned_table_that_is_suppressed_is_refused(b: StreamsBuilder) -> None:
    t = b.table("in", Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10))))
    t.suppress(Suppressed.until_time_limit(seconds(10), Suppressed.BufferConfig.unbounded()))


def a_versioned_table_that_is_suppressed_later_is_refused(b: StreamsBuilder) -> None:
    t = b.table("in", Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10))))
    t.filter(PREDICATE).suppress(Suppressed.until_time_limit(seconds(10), Suppressed.BufferConfig.unbounded()))


def a_suppressed_table_that_is_joined(b: StreamsBuilder) -> None:
    t = b.table("in").suppress(Suppressed.until_time_limit(seconds(10), Suppressed.BufferConfig.unbounded()))
    b.stream("s").join(t, JOINER).to("out")


def a_suppressed_table_with_an_empty_name(b: StreamsBuilder) -> None:
    held = Suppressed.until_time_limit(seconds(10), Suppressed.BufferConfig.unbounded())
    b.table("in").suppress(held.with_name("")).to_stream().to("out")


def two_tables_of_one_topic_are_refused(b: StreamsBuilder) -> None:
    b.table("in").to_stream().to("a")
    b.table("in").to_stream().to("b")
