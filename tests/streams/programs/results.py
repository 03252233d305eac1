"""Topologies that are run, with their records: what one record changes and reads again on another way, and what comes late."""

from __future__ import annotations

from headrace.streams import (
    Joined,
    JoinWindows,
    Materialized,
    Serdes,
    SessionWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
)
from tests.streams.programs.case import case, records
from tests.streams.programs.functions import (
    APPEND,
    BOTH,
    BY_VALUE,
    CONCAT,
    CONCATENATED,
    EMPTY,
    IN_WINDOW,
    KEEPER,
    NONE_IF_X,
    NOT_A,
    NUMBERED,
    READER,
    ROW,
    TEXT,
    TWICE,
    UPPER,
    WITHOUT,
    millis,
)

SELF = {"topology.optimization": "single.store.self.join"}


NEAR = records("in", "a:u@10 a:v@12 b:w@13 a:x@11 a:y@15 b:z@14 a:s@15 a:t@40 a:r@13 a:q@38 b:p@29 a:o@41 b:n@13 a:m@36 a:l@31")
KEYS = records("in", "a:u@1 a:v@2 b:w@3 a:-@4 -:n@5 b:x@6 a:y@7")
ALONE = (
    records("left", "a:u@1 -:v@2 b:w@9")
    + records("right", "a:x@10 -:y@11 c:z@12 b:s@13 c:-@14")
    + records("left", "d:t@40 -:r@20 e:q@60")
)


@case(input=NEAR)
def a_stream_meets_itself(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.join(s, BOTH, JoinWindows.of_time_difference_and_grace(millis(3), millis(2))).to("out")


@case(SELF, input=NEAR)
def a_stream_meets_itself_over_one_store(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.join(s, BOTH, JoinWindows.of_time_difference_and_grace(millis(3), millis(2))).to("out")


@case(SELF, input=NEAR)
def a_stream_meets_what_came_after_itself_over_one_store(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.join(s, BOTH, JoinWindows.of_time_difference_and_grace(millis(4), millis(1)).before(millis(1))).to("out")


@case(input=NEAR)
def a_stream_meets_a_view_of_itself(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.join(s.map_values(UPPER), BOTH, JoinWindows.of_time_difference_and_grace(millis(3), millis(2))).to("out")


@case(input=NEAR)
def a_view_made_first_meets_its_stream(b: StreamsBuilder) -> None:
    s = b.stream("in")
    v = s.flat_map_values(TWICE)
    v.join(s, BOTH, JoinWindows.of_time_difference_and_grace(millis(3), millis(2))).to("out")


@case(input=NEAR)
def a_view_of_a_stream_leaves_none_alone(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.left_join(s.map_values(UPPER), BOTH, JoinWindows.of_time_difference_and_grace(millis(3), millis(20))).to("out")


@case(input=KEYS)
def a_stream_meets_its_own_count(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.join(s.group_by_key().count(), BOTH).to("out")


@case(input=KEYS)
def a_view_made_first_meets_the_count_before(b: StreamsBuilder) -> None:
    s = b.stream("in")
    v = s.map_values(UPPER)
    v.left_join(s.group_by_key().count(), BOTH).to("out")


@case(input=KEYS)
def a_stream_meets_its_own_fold_as_it_was_mapped(b: StreamsBuilder) -> None:
    s = b.stream("in")
    t = s.group_by_key().reduce(CONCAT).map_values(UPPER).filter(NOT_A)
    s.left_join(t, BOTH).to("out")


@case(input=KEYS)
def a_stream_meets_the_join_of_its_tables(b: StreamsBuilder) -> None:
    s = b.stream("in")
    g = s.group_by_key()
    t = g.count().map_values(TEXT)
    s.left_join(g.reduce(CONCAT).join(t, BOTH), BOTH).to("out")


@case(input=KEYS)
def a_table_meets_its_own_changes(b: StreamsBuilder) -> None:
    t = b.table("in")
    t.to_stream().left_join(t.map_values(UPPER), BOTH).to("out")


@case(input=KEYS)
def a_table_that_is_kept_later_is_not_there_yet(b: StreamsBuilder) -> None:
    t = b.table("in")
    s = t.to_stream()
    v = s.map_values(TEXT)
    v.left_join(t.map_values(UPPER, Materialized.as_("kept-1")), BOTH).to("out")


@case(input=KEYS)
def branches_of_a_stream_come_one_after_the_other(b: StreamsBuilder) -> None:
    s = b.stream("in")
    m = s.flat_map_values(TWICE).merge(s).merge(s.map_values(UPPER))
    m.join(m.group_by_key().reduce(CONCAT), BOTH).to("out")


@case(input=KEYS)
def values_that_are_none_count_in_windows(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(millis(4), millis(9)))
    w.aggregate(EMPTY, APPEND).to_stream().select_key(IN_WINDOW).to("out")


@case(input=KEYS)
def values_that_are_none_count_in_hopping_windows(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(millis(4), millis(9)).advance_by(millis(2)))
    w.count().to_stream().select_key(IN_WINDOW).map_values(TEXT).to("out")


@case(input=KEYS)
def values_that_are_none_count_in_sessions(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(millis(2)))
    w.aggregate(EMPTY, APPEND, CONCATENATED).to_stream().select_key(IN_WINDOW).to("out")


@case(input=KEYS)
def values_that_are_none_begin_a_reduction_in_windows(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(millis(4), millis(9)))
    w.reduce(CONCAT).to_stream().select_key(IN_WINDOW).to("out")


@case(input=ALONE)
def records_without_a_key_are_alone_at_once(b: StreamsBuilder) -> None:
    windows = JoinWindows.of_time_difference_and_grace(millis(5), millis(2))
    b.stream("left").outer_join(b.stream("right"), BOTH, windows).to("out")


@case(input=ALONE)
def records_of_the_left_without_a_key_are_alone_at_once(b: StreamsBuilder) -> None:
    windows = JoinWindows.of_time_difference_and_grace(millis(5), millis(2))
    b.stream("left").left_join(b.stream("right"), BOTH, windows).to("out")


HISTORY = records(
    "in",
    "a:t1@10 a:u@12 a:v@9 a:t2@20 a:w@15 a:x@21 a:t3@14 a:y@16 b:z@16 b:t4@18 b:p@17 b:tx@19 b:q@19 a:tx@12 a:r@13 a:s@14 "
    "a:t5@20 a:o@20 b:t6@45 a:n@13 a:m@21 a:t7@14 a:l@26 a:tx@30 a:k@31 a:j@29 b:t8@44 b:i@44 b:h@46 c:g@90 a:f@91 a:t9@61 "
    "a:e@61 a:d@29 b:t0@90",
)


@case(input=HISTORY)
def a_stream_sees_the_version_of_its_own_time(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-2", millis(30)))
    t = s.filter(ROW).map_values(NONE_IF_X).to_table(kept)
    s.filter_not(ROW).left_join(t, BOTH).to("out")


@case(input=HISTORY)
def a_stream_sees_the_version_of_its_own_time_as_it_is_mapped(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-3", millis(30)))
    t = s.filter(ROW).map_values(NONE_IF_X).to_table(kept).filter(NOT_A).map_values(UPPER)
    s.filter_not(ROW).join(t, BOTH).to("out")


@case(input=HISTORY)
def a_mapped_table_has_a_history_of_its_own(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-4", millis(30)))
    mapped = Materialized.as_(Stores.persistent_versioned_key_value_store("mapped-5", millis(60)))
    t = s.filter(ROW).map_values(NONE_IF_X).to_table(kept).map_values(UPPER, mapped)
    s.filter_not(ROW).left_join(t, BOTH).to("out")


@case(input=HISTORY)
def records_wait_for_the_table(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-6", millis(30)))
    t = s.filter(ROW).map_values(NONE_IF_X).to_table(kept)
    j = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string())
    s.filter_not(ROW).left_join(t, BOTH, j.with_grace_period(millis(5))).to("out")


@case(input=HISTORY)
def records_wait_for_rows_of_the_table(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-7", millis(30)))
    t = s.filter(ROW).map_values(NONE_IF_X).to_table(kept).map_values(UPPER)
    j = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string())
    s.filter_not(ROW).join(t, BOTH, j.with_grace_period(millis(0))).to("out")


@case(input=KEYS)
def values_of_a_table_are_numbered(b: StreamsBuilder) -> None:
    numbers = Stores.in_memory_key_value_store("numbers")
    b.add_state_store(Stores.key_value_store_builder(numbers, Serdes.string(), Serdes.string()))
    b.table("in").transform_values(NUMBERED, "numbers").map_values(UPPER).to_stream().to("out")


@case(input=KEYS)
def values_of_a_table_are_numbered_and_kept(b: StreamsBuilder) -> None:
    numbers = Stores.in_memory_key_value_store("numbers")
    b.add_state_store(Stores.key_value_store_builder(numbers, Serdes.string(), Serdes.string()))
    s = b.stream("in")
    t = s.to_table().transform_values(NUMBERED, Materialized.as_("kept-8"), "numbers")
    t.group_by(BY_VALUE).reduce(CONCAT, WITHOUT).to_stream().to("out")


@case(input=KEYS)
def a_processor_reads_the_count_of_its_stream(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.group_by_key().count(Materialized.as_("read"))
    s.process(READER, "read").to("out")


@case(input=KEYS)
def a_processor_of_a_view_made_first_reads_the_count_before(b: StreamsBuilder) -> None:
    s = b.stream("in")
    v = s.map_values(UPPER)
    s.group_by_key().count(Materialized.as_("read"))
    v.process(READER, "read").to("out")


@case({"statestore.cache.max.bytes": "0"}, input=KEYS)
def a_processor_reads_a_table_that_is_mapped_and_kept(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.to_table(Materialized.as_("rows")).map_values(UPPER, Materialized.as_("read"))
    s.flat_map_values(TWICE).process(READER, "read").to("out")


@case(input=KEYS)
def two_processors_side_by_side_share_a_store(b: StreamsBuilder) -> None:
    shared = Stores.persistent_key_value_store("shared")
    b.add_state_store(Stores.key_value_store_builder(shared, Serdes.string(), Serdes.string()))
    s = b.stream("in")
    x = s.map_values(UPPER).process(KEEPER, "shared")
    s.flat_map_values(TWICE).process(KEEPER, "shared").merge(x).to("out")


@case(input=KEYS)
def processors_that_follow_each_other_share_a_store(b: StreamsBuilder) -> None:
    shared = Stores.in_memory_key_value_store("shared")
    b.add_state_store(Stores.key_value_store_builder(shared, Serdes.string(), Serdes.string()))
    s = b.stream("in")
    x = s.process(KEEPER, "shared")
    x.process(KEEPER, "shared").merge(x).merge(s.process(KEEPER, "shared").map_values(UPPER)).to("out")


@case(input=ALONE)
def processors_of_two_topics_share_a_store(b: StreamsBuilder) -> None:
    shared = Stores.persistent_key_value_store("shared")
    b.add_state_store(Stores.key_value_store_builder(shared, Serdes.string(), Serdes.string()))
    x = b.stream("left").process(KEEPER, "shared")
    b.stream("right").process(KEEPER, "shared").merge(x).to("out")


@case(input=HISTORY)
def every_version_is_passed_on(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-9", millis(30)))
    s.filter(ROW).map_values(NONE_IF_X).to_table(kept).to_stream().to("out")


@case(input=HISTORY)
def only_the_last_version_is_grouped(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-10", millis(30)))
    t = s.filter(ROW).map_values(NONE_IF_X).to_table(kept)
    t.group_by(BY_VALUE).reduce(CONCAT, WITHOUT).to_stream().to("out")


@case(input=HISTORY)
def only_the_last_versions_are_joined(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-11", millis(30)))
    t = s.filter(ROW).map_values(NONE_IF_X).to_table(kept)
    u = s.filter_not(ROW).to_table(Materialized.as_("plain-12"))
    t.left_join(u, BOTH).to_stream().to("out")


@case(input=HISTORY)
def a_plain_store_takes_what_comes_late(b: StreamsBuilder) -> None:
    s = b.stream("in")
    kept = Materialized.as_(Stores.persistent_versioned_key_value_store("kept-13", millis(30)))
    t = s.filter(ROW).map_values(NONE_IF_X).to_table(kept).map_values(UPPER, Materialized.as_("plain-14"))
    s.filter_not(ROW).left_join(t, BOTH).to("out")
