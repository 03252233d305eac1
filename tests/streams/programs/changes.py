"""Topologies that are run: foreign keys, versions, changes that are held back, branches, and outer joins of streams."""

from __future__ import annotations

from headrace.streams import (
    Branched,
    Grouped,
    Joined,
    JoinWindows,
    Materialized,
    Named,
    Serdes,
    SessionWindows,
    Stores,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from tests.streams.programs.case import UNCACHED, case, records
from tests.streams.programs.functions import (
    APPEND,
    BOTH,
    BY_VALUE,
    CHAINED,
    CONCAT,
    CONCATENATED,
    EMPTY,
    FIRST_LETTER,
    NOT_A,
    REDIRECTED,
    ROW,
    TEXT,
    UPPER,
    WITH_BOUNDS,
    WITHOUT,
    millis,
)

ORDERS = (
    records("left", "1:au@1 2:bv@2 3:aw@3 4:?x@4")
    + records("right", "a:A@5 c:C@6")
    + records("left", "5:cy@7 1:bu@8 3:-@9 2:bv@10 4:cx@11 5:?z@12 6:-@13 -:bq@14")
    + records("right", "b:B@15 a:D@16 c:-@17 -:E@18")
    + records("left", "1:as@4 2:-@19 2:bv@20 3:aw@21 6:ct@22")
    + records("right", "c:F@23 b:-@24 a:D@25 c:G@2")
    + records("left", "4:cx@26 6:ct@3 5:cy@27 1:-@28")
    + records("right", "a:-@29 c:-@30 b:H@31")
)
ROWS = records(
    "in",
    "a:b@10 b:c@11 a:d@12 c:e@13 a:-@14 d:f@16 b:g@17 a:t2@15 e:-@18 c:i@21 f:jkl@22 a:m@30 d:-@31 b:n@29 g:o@33 g:p@34 "
    "c:q@40 h:r@41 a:t1@42 i:t@47 -:u@60 b:v@61 a:w@50 c:-@62",
)
SIDES = (
    records("left", "a:b@10 b:c@12 a:d@9 -:e@13 c:-@14")
    + records("right", "a:f@11 b:g@20 -:h@15 c:i@13 d:j@16")
    + records("left", "c:k@15 d:l@24 a:m@12 e:n@30")
    + records("right", "e:o@27 a:p@31 d:q@22 b:r@14 f:s@40")
    + records("left", "f:t@33 a:u@35 e:v@29 b:w@60")
    + records("right", "a:x@44 b:y@61 f:z@70 c:b@64")
    + records("left", "c:c@62 f:d@90 a:e@75")
)

IN_TIME = (
    records("left", "a:b@10 b:c@12 -:e@13 c:-@14")
    + records("right", "a:f@14 b:g@20 -:h@21 c:i@22 d:j@23")
    + records("left", "c:k@23 d:l@24 a:m@26 e:n@30")
    + records("right", "e:o@33 a:p@36 f:s@40")
    + records("left", "f:t@41 a:u@41")
    + records("right", "a:x@48 f:z@70 c:b@75")
    + records("left", "c:c@76 f:d@90 a:e@120")
    + records("right", "a:q@121 f:r@160")
)


@case(UNCACHED, input=ORDERS)
def rows_by_a_foreign_key(b: StreamsBuilder) -> None:
    b.table("left").join(b.table("right"), FIRST_LETTER, BOTH).to_stream().to("out")


@case(UNCACHED, input=ORDERS)
def rows_by_a_foreign_key_or_alone(b: StreamsBuilder) -> None:
    b.table("left").left_join(b.table("right"), FIRST_LETTER, BOTH).to_stream().to("out")


@case(UNCACHED, input=ORDERS)
def rows_by_a_foreign_key_of_rows_that_are_counted(b: StreamsBuilder) -> None:
    u = b.stream("right").group_by_key().count().map_values(TEXT)
    b.table("left").map_values(UPPER).map_values(TEXT).join(u, FIRST_LETTER, BOTH).to_stream().to("out")


@case(UNCACHED, input=ORDERS)
def rows_by_a_foreign_key_that_are_grouped(b: StreamsBuilder) -> None:
    t = b.table("left").join(b.table("right"), FIRST_LETTER, BOTH, Materialized.as_("kept-23"))
    t.group_by(BY_VALUE).reduce(CONCAT, WITHOUT).to_stream().to("out")


@case(UNCACHED, input=ORDERS)
def rows_of_versions_by_a_foreign_key(b: StreamsBuilder) -> None:
    t = b.table("left", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-24", millis(50))))
    u = b.table("right", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-25", millis(50))))
    t.join(u, FIRST_LETTER, BOTH).to_stream().to("out")


@case(UNCACHED, input=SIDES)
def rows_of_versions_that_are_joined(b: StreamsBuilder) -> None:
    t = b.table("left", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-26", millis(50))))
    u = b.table("right", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-27", millis(50))))
    t.outer_join(u, BOTH).to_stream().to("out")


@case(UNCACHED, input=SIDES)
def rows_of_versions_that_meet_a_plain_table(b: StreamsBuilder) -> None:
    t = b.table("left", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-28", millis(20))))
    t.filter(NOT_A).left_join(b.table("right"), BOTH).to_stream().to("out")


@case(UNCACHED, input=ROWS)
def changes_held_for_a_time(b: StreamsBuilder) -> None:
    t = b.table("in").suppress(Suppressed.until_time_limit(millis(5), Suppressed.BufferConfig.unbounded()))
    t.to_stream().to("out")


@case(UNCACHED, input=ROWS)
def changes_held_for_no_time(b: StreamsBuilder) -> None:
    t = b.table("in").suppress(Suppressed.until_time_limit(millis(0), Suppressed.BufferConfig.unbounded()))
    t.to_stream().to("out")


@case(UNCACHED, input=ROWS)
def changes_held_until_there_are_too_many(b: StreamsBuilder) -> None:
    t = b.table("in").suppress(Suppressed.until_time_limit(millis(100), Suppressed.BufferConfig.max_records(3)))
    t.to_stream().to("out")


@case(UNCACHED, input=ROWS)
def changes_held_for_a_time_unless_there_are_too_many(b: StreamsBuilder) -> None:
    t = b.table("in").suppress(Suppressed.until_time_limit(millis(8), Suppressed.BufferConfig.max_records(2)))
    t.map_values(UPPER).to_stream().to("out")


@case(UNCACHED, input=ROWS)
def counts_held_for_a_time(b: StreamsBuilder) -> None:
    t = b.stream("in").group_by_key().count()
    t.suppress(Suppressed.until_time_limit(millis(6), Suppressed.BufferConfig.unbounded())).to_stream().map_values(TEXT).to("out")


@case(UNCACHED, input=ROWS)
def changes_held_before_they_are_grouped(b: StreamsBuilder) -> None:
    t = b.table("in").suppress(Suppressed.until_time_limit(millis(5), Suppressed.BufferConfig.unbounded()))
    t.group_by(BY_VALUE).reduce(CONCAT, WITHOUT).to_stream().to("out")


@case(UNCACHED, input=ROWS)
def changes_held_until_they_are_too_large(b: StreamsBuilder) -> None:
    t = b.table("in").suppress(Suppressed.until_time_limit(millis(100), Suppressed.BufferConfig.max_bytes(105)))
    t.to_stream().to("out")


@case(UNCACHED, input=SIDES)
def changes_of_two_topics_held_until_they_are_too_large(b: StreamsBuilder) -> None:
    t = b.table("left").outer_join(b.table("right"), BOTH)
    t.suppress(Suppressed.until_time_limit(millis(100), Suppressed.BufferConfig.max_bytes(93))).to_stream().to("out")


@case(UNCACHED, input=ROWS)
def a_buffer_that_is_full_ends_it(b: StreamsBuilder) -> None:
    full = Suppressed.BufferConfig.max_records(2).shut_down_when_full()
    b.table("in").suppress(Suppressed.until_time_limit(millis(100), full)).to_stream().to("out")


@case(UNCACHED, input=ROWS)
def branches_with_names(b: StreamsBuilder) -> None:
    s = b.stream("in").split(Named.as_("to-")).branch(NOT_A, Branched.as_("others")).branch(ROW, Branched.as_("rows"))
    m = s.default_branch(Branched.as_("rest"))
    m["to-others"].map_values(UPPER).merge(m["to-rest"]).to("out")


@case(UNCACHED, input=ROWS)
def records_of_branches_with_functions(b: StreamsBuilder) -> None:
    s = b.stream("in").split(Named.as_("to-")).branch(NOT_A, Branched.with_function(CHAINED, "others"))
    m = s.branch(NOT_A, Branched.with_consumer(REDIRECTED)).default_branch(Branched.with_consumer(REDIRECTED))
    m["to-others"].to("out")


@case(UNCACHED, input=ROWS)
def branches_without_a_default(b: StreamsBuilder) -> None:
    m = b.stream("in").split(Named.as_("to-")).branch(NOT_A).no_default_branch()
    m["to-1"].group_by_key().reduce(CONCAT).to_stream().to("out")


@case(UNCACHED, input=IN_TIME)
def streams_that_stay_alone_after_their_grace(b: StreamsBuilder) -> None:
    windows = JoinWindows.of_time_difference_and_grace(millis(5), millis(6))
    b.stream("left").outer_join(b.stream("right"), BOTH, windows).to("out")


@case(UNCACHED, input=IN_TIME)
def streams_that_stay_alone_without_grace(b: StreamsBuilder) -> None:
    windows = JoinWindows.of_time_difference_with_no_grace(millis(4))
    b.stream("left").outer_join(b.stream("right"), BOTH, windows).to("out")


@case(UNCACHED, input=IN_TIME)
def streams_that_stay_alone_on_the_left(b: StreamsBuilder) -> None:
    windows = JoinWindows.of_time_difference_and_grace(millis(3), millis(4)).after(millis(9))
    b.stream("left").left_join(b.stream("right"), BOTH, windows).to("out")


@case(UNCACHED, input=IN_TIME)
def streams_that_stay_alone_if_nothing_came_before(b: StreamsBuilder) -> None:
    windows = JoinWindows.of_time_difference_and_grace(millis(0), millis(9)).before(millis(12))
    b.stream("left").outer_join(b.stream("right"), BOTH, windows).to("out")


@case(UNCACHED, input=SIDES)
def streams_that_meet_late(b: StreamsBuilder) -> None:
    windows = JoinWindows.of_time_difference_and_grace(millis(8), millis(30))
    b.stream("left").join(b.stream("right"), BOTH, windows).to("out")


# A deletion that comes late, behind which the last version is a deletion, too.
DELETED_LATE = records("in", "k:a@10 k:-@30 k:-@20 m:b@5 m:-@40 m:c@20 m:-@30 n:t@5 n:v@30 n:u@20")
ASKED = records("s", "k:x@25 m:y@25 m:z@35 k:x@15 k:y@35 n:w@25 n:w@10 n:w@30")


@case(UNCACHED, input=DELETED_LATE + ASKED)
def versions_that_are_derived_from_late_deletions(b: StreamsBuilder) -> None:
    t = b.table("in", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-30", millis(500))))
    m = t.map_values(UPPER, Materialized.as_(Stores.persistent_versioned_key_value_store("kept-31", millis(500))))
    f = t.filter(ROW, Materialized.as_(Stores.persistent_versioned_key_value_store("kept-32", millis(500))))
    p = t.map_values(UPPER, Materialized.as_("kept-33"))
    s = b.stream("s")
    s.left_join(m, BOTH).merge(s.left_join(f, BOTH)).merge(s.left_join(p, BOTH)).to("out")


@case(UNCACHED, input=DELETED_LATE)
def late_deletions_of_versions_that_nobody_keeps(b: StreamsBuilder) -> None:
    t = b.table("in", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-34", millis(500))))
    t.filter(ROW).to_stream().to("out")


# Kafka's buffers sort rows of one time by the bytes of their keys, which are in front of those of a window.
TOGETHER = (
    *(("in", "a b", "x", 1), ("in", "a", "y", 2), ("in", "a!", "z", 3), ("in", "a", "w", 11), ("in", "a b", "v", 12)),
    *(("in", "c", "u", 40), ("in", "c", "t", 80)),
)


@case(UNCACHED, input=TOGETHER)
def windows_that_close_together(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key(Grouped.with_(Serdes.string(), Serdes.string()))
    w = g.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(7)))
    kept = Materialized.with_(Serdes.string(), Serdes.string())
    t = w.aggregate(EMPTY, APPEND, kept).suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded()))
    t.to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=tuple((topic, key, value, time // 10 * 10) for topic, key, value, time in TOGETHER))
def windows_that_have_to_go_together(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key(Grouped.with_(Serdes.string(), Serdes.string()))
    w = g.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(7)))
    early = Suppressed.BufferConfig.max_records(2)
    kept = Materialized.with_(Serdes.string(), Serdes.string())
    t = w.aggregate(EMPTY, APPEND, kept).suppress(Suppressed.until_time_limit(millis(30), early))
    t.to_stream().select_key(WITH_BOUNDS).to("out")


WAITING = records("t", "a:1@1 b:2@1 c:3@1") + records("in", "b:p@17 a:q@17 ab:r@17 c:s@16 a:t@17 c:go@40 c:go@80")


@case(UNCACHED, input=WAITING)
def records_of_one_time_wait_together(b: StreamsBuilder) -> None:
    t = b.table("t", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-35", millis(500))))
    j = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string()).with_grace_period(millis(10))
    b.stream("in").join(t, BOTH, j).to("out")


@case(UNCACHED, input=records("in", "a:u@10 b:x@23 a:v@15 b:z@40 c:d@100"))
def a_session_that_was_passed_on_becomes_part_of_another_one(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key(Grouped.with_(Serdes.string(), Serdes.string()))
    w = g.windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(5), millis(8)))
    t = w.aggregate(EMPTY, APPEND, CONCATENATED, Materialized.as_("kept-36").with_retention(millis(60)))
    t = t.suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded()))
    t.to_stream().select_key(WITH_BOUNDS).to("out")


TWO_TABLES = records("left", "k:a@10 k:b@20") + records("right", "k:c@10 k:d@20") + records("in", "k:x@15 k:y@25")


@case(UNCACHED, input=TWO_TABLES)
def records_meet_one_versioned_table_after_another(b: StreamsBuilder) -> None:
    t = b.table("left", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-37", millis(500))))
    u = b.table("right", Materialized.as_(Stores.persistent_versioned_key_value_store("kept-38", millis(500))))
    b.stream("in").left_join(t, BOTH).left_join(u, BOTH).to("out")
