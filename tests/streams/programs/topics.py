"""Numbers of partitions and settings of internal topics."""

from __future__ import annotations

import re

from headrace.streams import (
    Branched,
    Grouped,
    Joined,
    JoinWindows,
    Materialized,
    Named,
    Repartitioned,
    Serdes,
    Stores,
    StreamJoined,
    StreamsBuilder,
    Suppressed,
    TableJoined,
    TimeWindows,
    UnlimitedWindows,
)
from tests.streams.programs.case import case
from tests.streams.programs.functions import ADD, FOREIGN, JOINER, KEY, PAIR, PREDICATE, START, minutes, seconds


@case(partitions={"a": 2, "b": 6})
def the_greatest_upstream_number(b: StreamsBuilder) -> None:
    b.stream(["a", "b"]).group_by(KEY).count().to_stream().to("out")


@case(partitions={"a": 3})
def a_chain_of_repartition_topics(b: StreamsBuilder) -> None:
    s = b.stream("a").group_by(KEY).count(Materialized.as_("one")).to_stream()
    s.group_by(KEY).count(Materialized.as_("two")).to_stream().group_by(KEY).count(Materialized.as_("three"))


@case(partitions={"a": 3})
def a_chain_with_given_numbers(b: StreamsBuilder) -> None:
    s = b.stream("a").map(PAIR).repartition(Repartitioned.as_("five").with_number_of_partitions(5))
    s.group_by(KEY).count(Materialized.as_("two"))


@case(partitions={"a": 3, "t": 8})
def a_repartition_topic_follows_the_table(b: StreamsBuilder) -> None:
    b.stream("a").map(PAIR).join(b.table("t"), JOINER).to("out")


@case(partitions={"a": 3, "t": 3})
def a_plain_stream_and_table_of_equal_numbers(b: StreamsBuilder) -> None:
    b.stream("a").join(b.table("t"), JOINER).map(PAIR).group_by_key().count()


@case(partitions={"a": 3, "t": 8})
def unequal_topics_without_a_repartition_topic(b: StreamsBuilder) -> None:
    b.stream("a").join(b.table("t"), JOINER).to("out")


@case(partitions={"a": 3, "t": 8})
def unequal_topics_are_refused(b: StreamsBuilder) -> None:
    b.stream("a").join(b.table("t"), JOINER).map(PAIR).group_by_key().count()


@case(partitions={"t": 4})
def a_given_number_that_is_not_the_tables_is_refused(b: StreamsBuilder) -> None:
    s = b.stream("a").repartition(Repartitioned.as_("five").with_number_of_partitions(5))
    s.join(b.table("t"), JOINER).to("out")


def given_numbers_that_are_not_equal_are_refused(b: StreamsBuilder) -> None:
    one = b.stream("a").repartition(Repartitioned.as_("five").with_number_of_partitions(5))
    two = b.stream("b").repartition(Repartitioned.as_("six").with_number_of_partitions(6))
    one.join(two, JOINER, JoinWindows.of_time_difference_with_no_grace(minutes(5))).to("out")


@case(partitions={"a": 3, "b": 9})
def a_given_number_beside_a_free_one(b: StreamsBuilder) -> None:
    one = b.stream("a").repartition(Repartitioned.as_("five").with_number_of_partitions(5))
    two = b.stream("b").map(PAIR)
    one.join(two, JOINER, JoinWindows.of_time_difference_with_no_grace(minutes(5))).to("out")


@case(partitions={"a": 3, "b": 9})
def two_free_repartition_topics(b: StreamsBuilder) -> None:
    one = b.stream("a").map(PAIR)
    two = b.stream("b").map(PAIR)
    one.join(two, JOINER, JoinWindows.of_time_difference_with_no_grace(minutes(5))).to("out")


@case(partitions={"a": 3, "b": 9, "c": 5})
def cogrouped_repartition_topics(b: StreamsBuilder) -> None:
    c = b.stream("a").group_by(KEY).cogroup(ADD).cogroup(b.stream("b").group_by(KEY), ADD)
    c.cogroup(b.stream("c").group_by_key(), ADD).aggregate(START, Materialized.as_("kept"))


@case(partitions={"t": 3, "u": 9})
def foreign_keys_follow_both_tables(b: StreamsBuilder) -> None:
    b.table("t").join(b.table("u"), FOREIGN, JOINER, TableJoined.as_("fk"), Materialized.as_("kept")).to_stream().to("out")


@case(partitions={"a": 0})
def a_pattern_that_matches_nothing_is_refused(b: StreamsBuilder) -> None:
    b.stream(re.compile("nothing-.*")).group_by(KEY).count()


@case(config={"topic.segment.bytes": "5242880", "topic.retention.ms": "5000", "topic.cleanup.policy": "compact"})
def settings_of_all_internal_topics(b: StreamsBuilder) -> None:
    s = b.stream("a").map(PAIR)
    s.group_by_key().count(Materialized.as_("plain"))
    s.group_by_key().count(Materialized.as_("own").with_logging_enabled({"segment.bytes": "99", "retention.ms": "77"}))
    w = s.group_by_key().windowed_by(TimeWindows.of_size_with_no_grace(minutes(1)))
    w.count(Materialized.as_("windows"))
    w.count(Materialized.as_("windows-own").with_logging_enabled({"retention.ms": "66"}))
    s.group_by_key().count(Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10))))


@case(config={"windowstore.changelog.additional.retention.ms": "1000"})
def another_additional_retention(b: StreamsBuilder) -> None:
    w = b.stream("a").group_by_key().windowed_by(TimeWindows.of_size_and_grace(minutes(1), seconds(1)))
    w.count(Materialized.as_("windows"))
    b.stream("a").group_by_key().windowed_by(UnlimitedWindows.of()).count(Materialized.as_("unlimited"))


def retention_of_a_versioned_store(b: StreamsBuilder) -> None:
    v = Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10)))
    b.table("in", v.with_logging_enabled({"segment.bytes": "1000"})).filter(PREDICATE).to_stream().to("out")
    v2 = Materialized.as_(Stores.persistent_versioned_key_value_store("versioned-own", minutes(10)))
    b.table("in2", v2.with_logging_enabled({"min.compaction.lag.ms": "1"})).to_stream().to("out2")


@case(config={"topology.optimization": "all"}, partitions={"in": 5})
def a_reused_source_topic_is_not_internal(b: StreamsBuilder) -> None:
    b.table("in", Materialized.as_("kept")).group_by(PAIR).count(Materialized.as_("counts"))


def names_of_what_is_no_topic_may_have_any_characters(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.split(Named.as_("s-")).branch(PREDICATE, Branched.as_("over 100 EUR")).default_branch(Branched.as_("all others"))
    s.group_by_key(Grouped.as_("by key")).count()
    t = b.table("t", Materialized.as_("kept"))
    never = Suppressed.BufferConfig.unbounded().with_logging_disabled()
    t.suppress(Suppressed.until_time_limit(seconds(1), never).with_name("held back"))


def a_repartition_topic_with_a_blank_is_refused(b: StreamsBuilder) -> None:
    b.stream("in").repartition(Repartitioned.as_("by key")).to("out")


def a_group_behind_a_repartition_topic_with_a_blank_is_refused(b: StreamsBuilder) -> None:
    b.stream("in").map(PAIR).group_by_key(Grouped.as_("by key")).count()


def a_changelog_of_a_supplier_with_a_blank_is_refused(b: StreamsBuilder) -> None:
    b.table("in", Materialized.as_(Stores.persistent_key_value_store("by key")))


def a_new_key_named_with_a_blank_is_refused(b: StreamsBuilder) -> None:
    b.stream("in").group_by(KEY, Grouped.as_("by key"))


def a_join_with_a_table_named_with_a_blank_is_refused(b: StreamsBuilder) -> None:
    b.stream("in").join(b.table("t"), JOINER, Joined.as_("by key")).to("out")


def a_join_of_streams_named_with_a_blank_is_refused(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    j = StreamJoined.with_(Serdes.string(), Serdes.string(), Serdes.string())
    b.stream("a").join(b.stream("b"), JOINER, w, j.with_name("by key")).to("out")


@case(partitions={"a": 9, "t": 3})
def a_number_that_is_derived_before_one_that_it_depends_on(b: StreamsBuilder) -> None:
    b.stream("a").map(PAIR).join(b.table("t"), JOINER).group_by(KEY).count()


@case(partitions={"a": 9, "t": 3})
def a_number_that_is_derived_after_one_that_it_depends_on(b: StreamsBuilder) -> None:
    b.stream("a").map(PAIR).join(b.table("t"), JOINER).group_by(KEY).count(Materialized.as_("store"))


@case(partitions={"a": 9, "t": 3, "u": 5})
def numbers_that_depend_on_windows_and_versions(b: StreamsBuilder) -> None:
    v = Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10)))
    s = b.stream("a").map(PAIR).join(b.table("t", v), JOINER)
    s.group_by(KEY).windowed_by(TimeWindows.of_size_with_no_grace(minutes(1))).count(Materialized.as_("windows"))
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    s.left_join(b.stream("u").map(PAIR), JOINER, w, StreamJoined.as_("joined")).group_by(KEY).count(Materialized.as_("all"))


@case(config={"topology.optimization": "all"}, partitions={"a": 9, "t": 3})
def numbers_that_depend_on_a_reused_topic(b: StreamsBuilder) -> None:
    s = b.stream("a").map(PAIR).join(b.table("t", Materialized.as_("kept")), JOINER)
    s.group_by(KEY).count(Materialized.as_("c").with_logging_enabled({"segment.bytes": "99"}))
