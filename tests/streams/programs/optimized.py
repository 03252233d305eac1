"""The same kinds of topologies with Kafka's optimizations."""

from __future__ import annotations

from headrace.streams import (
    Grouped,
    JoinWindows,
    Materialized,
    Repartitioned,
    Serdes,
    Stores,
    StreamJoined,
    StreamsBuilder,
    Suppressed,
)
from tests.streams.programs.case import case
from tests.streams.programs.functions import (
    ACTION,
    ADD,
    FIXED,
    FOREIGN,
    JOINER,
    KEY,
    PAIR,
    PREDICATE,
    PROCESSOR,
    REDUCER,
    START,
    UNREDUCER,
    VALUE,
    minutes,
    seconds,
)

ALL = {"topology.optimization": "all"}
MERGE = {"topology.optimization": "merge.repartition.topics"}
REUSE = {"topology.optimization": "reuse.ktable.source.topics"}
SELF = {"topology.optimization": "single.store.self.join"}


@case(ALL)
def tables_reuse_their_topic(b: StreamsBuilder) -> None:
    b.table("a", Materialized.as_("kept")).to_stream().to("out-a")
    b.stream("s").join(b.table("b"), JOINER).to("out")
    b.table("c").to_stream().to("out-c")
    b.global_table("g")


@case(REUSE)
def only_reuse(b: StreamsBuilder) -> None:
    t = b.table("a").filter(PREDICATE)
    s = b.stream("s").map(PAIR)
    s.join(t, JOINER).to("out")
    s.group_by_key().count()


@case(ALL)
def one_topic_for_several_aggregations(b: StreamsBuilder) -> None:
    s = b.stream("in").map(PAIR)
    s.group_by_key().count().to_stream().to("counted")
    s.group_by_key().reduce(REDUCER).to_stream().to("reduced")
    s.filter(PREDICATE).group_by_key().aggregate(START, ADD, Materialized.as_("kept")).to_stream().to("aggregated")


@case(MERGE)
def one_topic_for_joins_and_aggregations(b: StreamsBuilder) -> None:
    s = b.stream("in").select_key(KEY)
    s.join(b.table("t"), JOINER).to("joined")
    s.group_by_key(Grouped.as_("grouped")).count().to_stream().to("counted")
    s.join(b.stream("r"), JOINER, JoinWindows.of_time_difference_with_no_grace(minutes(5))).to("streams")


@case(MERGE)
def no_merge_behind_a_new_value(b: StreamsBuilder) -> None:
    s = b.stream("in").map(PAIR)
    s.map_values(VALUE).group_by_key().count().to_stream().to("counted")
    s.group_by_key().reduce(REDUCER).to_stream().to("reduced")
    s.filter(PREDICATE).group_by_key().aggregate(START, ADD)


@case(MERGE)
def two_topics_behind_one_operator(b: StreamsBuilder) -> None:
    s = b.stream("in").map(PAIR).filter(PREDICATE)
    s.group_by_key().count().to_stream().to("counted")
    s.group_by_key().reduce(REDUCER).to_stream().to("reduced")


@case(MERGE)
def one_group_aggregated_twice(b: StreamsBuilder) -> None:
    g = b.stream("in").map(PAIR).group_by_key()
    g.count().to_stream().to("counted")
    g.reduce(REDUCER).to_stream().to("reduced")


@case(MERGE)
def one_named_group_aggregated_twice(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by(KEY, Grouped.as_("once"))
    g.count().to_stream().to("counted")
    g.reduce(REDUCER).to_stream().to("reduced")


@case(ALL)
def merged_streams_behind_new_keys(b: StreamsBuilder) -> None:
    one = b.stream("a").map(PAIR)
    two = b.stream("b").select_key(KEY)
    m = one.merge(two)
    m.group_by_key().count().to_stream().to("counted")
    m.group_by_key().reduce(REDUCER).to_stream().to("reduced")


@case(ALL)
def merged_streams_of_which_one_has_a_new_key(b: StreamsBuilder) -> None:
    b.stream("a").merge(b.stream("b").map(PAIR)).filter(PREDICATE).group_by_key().count().to_stream().to("out")


@case(ALL)
def an_explicit_repartition_is_left_alone(b: StreamsBuilder) -> None:
    s = b.stream("in").map(PAIR).repartition(Repartitioned.as_("mine"))
    s.group_by_key().count().to_stream().to("counted")
    s.group_by_key().reduce(REDUCER).to_stream().to("reduced")


@case(ALL)
def a_new_key_as_a_table_and_a_group(b: StreamsBuilder) -> None:
    s = b.stream("in").map(PAIR)
    s.to_table(Materialized.as_("kept")).to_stream().to("table")
    s.group_by_key().count().to_stream().to("counted")


@case(ALL)
def a_regrouped_table(b: StreamsBuilder) -> None:
    g = b.table("in").group_by(PAIR)
    g.count().to_stream().to("counted")
    g.reduce(REDUCER, UNREDUCER).to_stream().to("reduced")


@case(ALL)
def a_self_join(b: StreamsBuilder) -> None:
    s = b.stream("a")
    s.join(s, JOINER, JoinWindows.of_time_difference_with_no_grace(minutes(5))).to("out")


@case(SELF)
def a_self_join_with_names(b: StreamsBuilder) -> None:
    s = b.stream("a").map_values(VALUE)
    w = JoinWindows.of_time_difference_and_grace(minutes(5), minutes(1))
    s.join(s, JOINER, w, StreamJoined.as_("kept").with_name("self")).to("out")
    s.join(b.stream("b"), JOINER, w).to("out2")


@case(SELF)
def an_outer_self_join(b: StreamsBuilder) -> None:
    s = b.stream("a")
    s.outer_join(s, JOINER, JoinWindows.of_time_difference_with_no_grace(minutes(5))).to("out")


@case(ALL)
def a_self_join_behind_a_new_key(b: StreamsBuilder) -> None:
    s = b.stream("a").map(PAIR)
    s.join(s, JOINER, JoinWindows.of_time_difference_with_no_grace(minutes(5))).to("out")


@case(ALL)
def two_streams_of_one_topic_joined(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    b.stream("a").join(b.stream("a"), JOINER, w).to("out")


@case(ALL)
def a_group_of_two_steps(b: StreamsBuilder) -> None:
    s = b.stream("in").map(PAIR)
    t = s.group_by_key().count()
    s.filter(PREDICATE).join(t, JOINER).group_by(KEY).reduce(REDUCER).to_stream().to("out")
    s.peek(ACTION).filter(PREDICATE).map(PAIR).group_by_key().count()


@case(ALL)
def cogrouped_behind_new_keys(b: StreamsBuilder) -> None:
    one = b.stream("a").map(PAIR)
    two = b.stream("b").map(PAIR)
    one.group_by_key().cogroup(ADD).cogroup(two.group_by_key(), ADD).aggregate(START).to_stream().to("out")
    one.group_by_key().count()


@case(ALL)
def foreign_keys(b: StreamsBuilder) -> None:
    b.table("t").join(b.table("u"), FOREIGN, JOINER).to_stream().map(PAIR).group_by_key().count()


@case({"topology.optimization": "all,merge.repartition.topics"})
def all_and_one_more_is_refused(b: StreamsBuilder) -> None:
    b.stream("a").to("b")


@case({"topology.optimization": "most"})
def an_unknown_optimization_is_refused(b: StreamsBuilder) -> None:
    b.stream("a").to("b")


EXPLICIT = {"ensure.explicit.internal.resource.naming": "true"}


@case(EXPLICIT)
def a_grouped_table_without_a_name_names_its_store_only(b: StreamsBuilder) -> None:
    b.table("in", Materialized.as_("kept")).group_by(PAIR).count()


@case(EXPLICIT)
def explicit_names_are_all_there(b: StreamsBuilder) -> None:
    s = b.stream("in").select_key(KEY)
    t = s.group_by_key(Grouped.as_("grouped")).count(Materialized.as_("counts"))
    t.suppress(Suppressed.until_time_limit(seconds(1), Suppressed.BufferConfig.unbounded()).with_name("held"))
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    s.left_join(b.stream("b"), JOINER, w, StreamJoined.as_("stored").with_name("joined")).to("out")


@case(EXPLICIT)
def a_missing_name_of_a_repartition_topic_is_refused(b: StreamsBuilder) -> None:
    b.stream("in").repartition().to("out")


@case(EXPLICIT)
def a_missing_name_of_a_store_is_refused(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().count()


@case(EXPLICIT)
def a_missing_name_of_a_store_without_a_log_is_refused(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().count(Materialized.with_(Serdes.string(), Serdes.long()).with_logging_disabled())


@case(EXPLICIT)
def a_missing_name_of_a_suppression_is_refused(b: StreamsBuilder) -> None:
    t = b.stream("in").group_by_key().count(Materialized.as_("counts"))
    t.suppress(Suppressed.until_time_limit(seconds(1), Suppressed.BufferConfig.unbounded()))


@case(EXPLICIT)
def a_foreign_key_join_without_a_name(b: StreamsBuilder) -> None:
    t = b.table("t", Materialized.as_("t-store"))
    t.join(b.table("u", Materialized.as_("u-store")), FOREIGN, JOINER, Materialized.as_("kept")).to_stream().to("out")


@case(EXPLICIT)
def a_table_that_nobody_keeps_without_a_name_is_refused(b: StreamsBuilder) -> None:
    b.table("t").to_stream().to("out")


@case(EXPLICIT)
def a_regrouped_table_without_a_name_is_refused(b: StreamsBuilder) -> None:
    b.table("t", Materialized.as_("t-store")).group_by(PAIR).count(Materialized.as_("counts"))


@case(EXPLICIT)
def a_group_named_by_its_store(b: StreamsBuilder) -> None:
    b.stream("in").group_by(KEY).count(Materialized.as_("counts"))


@case(EXPLICIT)
def a_stream_join_with_operators_named_only_is_refused(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_with_no_grace(minutes(5))
    j = StreamJoined.with_(Serdes.string(), Serdes.string(), Serdes.string())
    b.stream("a").join(b.stream("b"), JOINER, w, j.with_name("named")).to("out")


@case(EXPLICIT)
def a_table_of_a_stream_with_a_new_key_without_a_name_is_refused(b: StreamsBuilder) -> None:
    b.stream("a").map(PAIR).to_table(Materialized.as_("kept"))


@case(MERGE)
def a_merge_with_a_changed_key_two_steps_before(b: StreamsBuilder) -> None:
    s = b.stream("a").map(PAIR).filter(PREDICATE).merge(b.stream("b"))
    s.group_by_key().count().to_stream().to("counted")
    s.group_by_key().reduce(REDUCER).to_stream().to("reduced")


@case({**MERGE, "__enable.process.processValue.fix__": "true"})
def processors_change_keys_and_values(b: StreamsBuilder) -> None:
    s = b.stream("a").process(PROCESSOR)
    s.group_by_key().count().to_stream().to("counted")
    s.group_by_key().reduce(REDUCER).to_stream().to("reduced")
    v = b.stream("b").map(PAIR).process_values(FIXED)
    v.group_by_key().count().to_stream().to("counted-b")
    v.group_by_key().reduce(REDUCER).to_stream().to("reduced-b")


@case(MERGE)
def processors_that_are_not_known_to_change_anything(b: StreamsBuilder) -> None:
    s = b.stream("a").process(PROCESSOR)
    s.group_by_key().count().to_stream().to("counted")
    s.group_by_key().reduce(REDUCER).to_stream().to("reduced")
    v = b.stream("b").map(PAIR).process_values(FIXED)
    v.group_by_key().count().to_stream().to("counted-b")
    v.group_by_key().reduce(REDUCER).to_stream().to("reduced-b")


@case(EXPLICIT)
def stores_of_a_join_by_suppliers_are_not_named(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_and_grace(minutes(5), minutes(1))
    one = Stores.in_memory_window_store("this-store", minutes(11), minutes(10), True)
    two = Stores.in_memory_window_store("other-store", minutes(11), minutes(10), True)
    b.stream("a").left_join(b.stream("b"), JOINER, w, StreamJoined.with_(one, two)).to("out")


@case(EXPLICIT)
def stores_of_an_inner_join_by_suppliers_are_not_named(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_and_grace(minutes(5), minutes(1))
    one = Stores.in_memory_window_store("this-store", minutes(11), minutes(10), True)
    two = Stores.in_memory_window_store("other-store", minutes(11), minutes(10), True)
    b.stream("a").join(b.stream("b"), JOINER, w, StreamJoined.with_(one, two)).to("out")


@case(EXPLICIT)
def stores_of_a_join_by_suppliers_and_a_name(b: StreamsBuilder) -> None:
    w = JoinWindows.of_time_difference_and_grace(minutes(5), minutes(1))
    one = Stores.in_memory_window_store("this-store", minutes(11), minutes(10), True)
    b.stream("a").left_join(b.stream("b"), JOINER, w, StreamJoined.as_("named").with_this_store_supplier(one)).to("out")


@case(EXPLICIT)
def a_global_table_without_a_name_of_its_store_is_refused(b: StreamsBuilder) -> None:
    b.global_table("g")
