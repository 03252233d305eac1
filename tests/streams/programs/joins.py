"""Joins: of streams, of streams with tables, of tables."""

from __future__ import annotations

from headrace.streams import (
    Joined,
    JoinWindows,
    Materialized,
    Named,
    Serdes,
    Stores,
    StoreType,
    StreamJoined,
    StreamsBuilder,
    TableJoined,
)
from tests.streams.programs.functions import ADD, FOREIGN, JOINER, KEY, PAIR, PREDICATE, START, VALUE, minutes, seconds


def streams(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    left = b.stream("a")
    right = b.stream("b")
    left.join(right, JOINER, w).to("inner")
    left.left_join(right, JOINER, w).to("left")
    left.outer_join(right, JOINER, w).to("outer")


def streams_with_grace_before_and_after(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_and_grace(minutes(5), minutes(1)).before(minutes(2)).after(seconds(0))
    b.stream("a").join(b.stream("b"), JOINER, w).to("inner")


def streams_with_names(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    left = b.stream("a").map(PAIR)
    right = b.stream("b").map(PAIR)
    left.join(right, JOINER, w, StreamJoined.as_("stored").with_name("joined")).to("inner")
    left.left_join(right, JOINER, w, StreamJoined.as_("stored-left").with_name("left-joined")).to("left")
    left.outer_join(right, JOINER, w, StreamJoined.as_("stored-outer").with_name("outer-joined")).to("outer")


def streams_with_operators_named_only(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    j = StreamJoined.with_(Serdes.string(), Serdes.string(), Serdes.string())
    b.stream("a").left_join(b.stream("b"), JOINER, w, j.with_name("named")).to("out")
    b.stream("c").outer_join(b.stream("d"), JOINER, w, j.with_name("named-too")).to("out2")


def streams_with_stores_named_only(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    b.stream("a").outer_join(b.stream("b"), JOINER, w, StreamJoined.as_("kept")).to("out")
    b.stream("c").left_join(b.stream("d"), JOINER, w, StreamJoined.as_("kept-left")).to("out2")


def streams_behind_new_keys(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    left = b.stream("a").select_key(KEY)
    right = b.stream("b").map(PAIR)
    left.join(right, JOINER, w).to("inner")
    left.left_join(b.stream("c"), JOINER, w).to("left")
    b.stream("d").outer_join(right, JOINER, w).to("outer")


def one_stream_joined_twice_behind_a_new_key(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    s = b.stream("a").map(PAIR)
    s.join(b.stream("b"), JOINER, w).to("one")
    s.join(b.stream("c"), JOINER, w).to("two")
    s.join(b.stream("d"), JOINER, w, StreamJoined.as_("st").with_name("third")).to("three")


def joined_and_joined_again(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    b.stream("a").join(b.stream("b"), JOINER, w).join(b.stream("c"), JOINER, w).left_join(b.stream("d"), JOINER, w).to("out")


def a_stream_with_itself(b: StreamsBuilder) -> None:
    s = b.stream("a")
    s.join(s, JOINER, JoinWindows.of_time_difference_with_no_grace(minutes(5))).to("out")


def streams_by_suppliers(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_and_grace(minutes(5), minutes(1))
    one = Stores.in_memory_window_store("this-store", minutes(11), minutes(10), True)
    two = Stores.in_memory_window_store("other-store", minutes(11), minutes(10), True)
    b.stream("a").left_join(b.stream("b"), JOINER, w, StreamJoined.with_(one, two)).to("out")
    three = Stores.persistent_window_store("only-this", minutes(11), minutes(10), True)
    j = StreamJoined.as_("named").with_this_store_supplier(three)
    b.stream("c").outer_join(b.stream("d"), JOINER, w, j).to("out2")


def a_supplier_that_does_not_fit_is_refused(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_and_grace(minutes(5), minutes(1))
    one = Stores.in_memory_window_store("this-store", minutes(11), minutes(10), False)
    two = Stores.in_memory_window_store("other-store", minutes(11), minutes(10), True)
    b.stream("a").join(b.stream("b"), JOINER, w, StreamJoined.with_(one, two)).to("out")


def suppliers_of_one_name_are_refused(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_and_grace(minutes(5), minutes(1))
    one = Stores.in_memory_window_store("same", minutes(11), minutes(10), True)
    b.stream("a").join(b.stream("b"), JOINER, w, StreamJoined.with_(one, one)).to("out")


def streams_with_settings_of_changelogs(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    j = StreamJoined.as_("kept").with_logging_enabled({"segment.bytes": "1048576", "retention.ms": "777"})
    b.stream("a").left_join(b.stream("b"), JOINER, w, j).to("out")
    k = StreamJoined.as_("lost").with_logging_disabled()
    b.stream("c").outer_join(b.stream("d"), JOINER, w, k).to("out2")


def a_stream_with_tables(b: StreamsBuilder) -> None:
    t = b.table("t")
    u = b.table("u", Materialized.as_("kept"))
    s = b.stream("s")
    s.join(t, JOINER).to("inner")
    s.left_join(u, JOINER).to("left")
    s.join(t, JOINER, Joined.as_("named")).left_join(u, JOINER, Joined.as_("named-left")).to("both")


def a_stream_with_a_new_key_with_tables(b: StreamsBuilder) -> None:
    t = b.table("t")
    s = b.stream("s").select_key(KEY)
    s.join(t, JOINER).to("inner")
    s.left_join(t, JOINER, Joined.as_("named")).to("left")


def a_stream_with_derived_tables(b: StreamsBuilder) -> None:
    t = b.table("t").filter(PREDICATE).map_values(VALUE)
    b.stream("s").join(t, JOINER).to("out")
    u = b.table("u").filter(PREDICATE, Materialized.as_("filtered")).map_values(VALUE)
    b.stream("v").join(u, JOINER).to("out2")
    b.stream("w").left_join(b.stream("x").group_by_key().count(), JOINER).to("out3")


def a_stream_with_a_table_of_its_own(b: StreamsBuilder) -> None:
    s = b.stream("s").map(PAIR)
    s.join(s.group_by_key().count(Materialized.as_("counts")), JOINER).to("out")


def a_stream_with_a_versioned_table_and_grace(b: StreamsBuilder) -> None:
    t = b.table("t", Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10))))
    j = Joined.as_("joined").with_grace_period(minutes(1))
    b.stream("s").join(t, JOINER, j).to("out")
    k = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string())
    b.stream("r").left_join(t, JOINER, k.with_grace_period(minutes(2))).to("out2")


def grace_with_a_plain_table_is_refused(b: StreamsBuilder) -> None:
    j = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string())
    b.stream("s").join(b.table("t", Materialized.as_("plain")), JOINER, j.with_grace_period(minutes(1))).to("out")


def grace_beyond_the_history_is_refused(b: StreamsBuilder) -> None:
    t = b.table("t", Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10))))
    j = Joined.as_("joined").with_grace_period(minutes(11))
    b.stream("s").join(t, JOINER, j).to("out")


def tables(b: StreamsBuilder) -> None:
    t = b.table("t")
    u = b.table("u")
    t.join(u, JOINER).to_stream().to("inner")
    t.left_join(u, JOINER).to_stream().to("left")
    t.outer_join(u, JOINER).to_stream().to("outer")


def joined_tables_with_names(b: StreamsBuilder) -> None:
    t = b.table("t")
    u = b.table("u")
    t.join(u, JOINER, Named.as_("joined")).to_stream().to("inner")
    t.left_join(u, JOINER, Named.as_("left"), Materialized.as_("left-kept")).to_stream().to("left")
    t.outer_join(u, JOINER, Materialized.as_("outer-kept")).to_stream().to("outer")
    t.join(u, JOINER, Materialized.with_(Serdes.string(), Serdes.string())).to_stream().to("nameless")


def tables_joined_and_joined_again(b: StreamsBuilder) -> None:
    t = b.table("t").join(b.table("u"), JOINER).left_join(b.table("v").filter(PREDICATE), JOINER)
    t.outer_join(b.table("w", Materialized.as_("w-store")).map_values(VALUE), JOINER).to_stream().to("out")


def a_table_with_itself(b: StreamsBuilder) -> None:
    t = b.table("t")
    t.join(t, JOINER).to_stream().to("out")


def a_table_join_joined_with_a_stream(b: StreamsBuilder) -> None:
    t = b.table("t").join(b.table("u"), JOINER)
    b.stream("s").join(t, JOINER).to("out")
    b.stream("r").left_join(t.map_values(VALUE), JOINER).to("out2")


def aggregates_joined(b: StreamsBuilder) -> None:
    one = b.stream("a").group_by_key().count()
    two = b.stream("b").group_by(KEY).aggregate(START, ADD)
    one.join(two, JOINER).filter(PREDICATE).group_by(PAIR).count().to_stream().to("out")


def foreign_key(b: StreamsBuilder) -> None:
    b.table("t").join(b.table("u"), FOREIGN, JOINER).to_stream().to("inner")


def foreign_key_left(b: StreamsBuilder) -> None:
    b.table("t").left_join(b.table("u"), FOREIGN, JOINER).to_stream().to("left")


def foreign_key_with_names(b: StreamsBuilder) -> None:
    t = b.table("t", Materialized.as_("t-store"))
    u = b.table("u", Materialized.as_("u-store"))
    t.join(u, FOREIGN, JOINER, TableJoined.as_("by-customer")).to_stream().to("inner")
    t.left_join(u, FOREIGN, JOINER, TableJoined.as_("left"), Materialized.as_("kept")).to_stream().to("left")
    t.join(u, FOREIGN, JOINER, Materialized.as_("kept-too")).to_stream().to("inner2")


def foreign_key_of_derived_tables(b: StreamsBuilder) -> None:
    t = b.table("t").filter(PREDICATE)
    u = b.stream("u").group_by(KEY).count()
    t.join(u, FOREIGN, JOINER).join(b.table("v"), FOREIGN, JOINER).to_stream().to("out")


def foreign_key_and_primary_key(b: StreamsBuilder) -> None:
    t = b.table("t")
    u = b.table("u")
    t.join(u, FOREIGN, JOINER).join(t, JOINER).to_stream().to("out")


def a_merge_of_joins(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    one = b.stream("a").join(b.stream("b"), JOINER, w)
    two = b.stream("c").left_join(b.table("t"), JOINER)
    one.merge(two).group_by_key().count().to_stream().to("out")


def stores_of_a_join_in_memory(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    b.stream("a").outer_join(b.stream("b"), JOINER, w, StreamJoined.with_(StoreType.IN_MEMORY)).to("out")
    j = StreamJoined.as_("named").with_dsl_store_suppliers(StoreType.ROCKS_DB)
    b.stream("c").left_join(b.stream("d"), JOINER, w, j).to("out2")
