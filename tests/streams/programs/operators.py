"""Topologies that are run, one or two for each family of operators that `results` has none of."""

from __future__ import annotations

from headrace.streams import (
    EmitStrategy,
    JoinWindows,
    SessionWindows,
    SlidingWindows,
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
    NOT_A,
    OWN_KEY,
    TWICE,
    UPPER,
    millis,
)

KEYS = records("in", "a:u@1 a:v@2 b:w@3 b:x@6 a:y@7 c:u@8 b:v@9 c:z@9")
LATE = records("in", "a:u@1 a:v@2 b:w@3 a:q@14 b:x@16 a:y@7 c:u@28 b:v@19 c:z@9 a:r@31 a:s@40 b:t@33")
PAIRS = records("left", "a:bu@1 b:cv@2 c:bw@3") + records("right", "b:x@4 c:y@5 d:z@6")
PAIRS += records("left", "a:dk@7 d:dl@8 b:-@9 e:qm@10") + records("right", "d:r@11 b:-@12 q:s@13")
BESIDE = records("left", "a:u@1 b:v@4 a:w@9 c:p@22") + records("right", "a:x@5 b:y@2 c:z@3 a:q@25")
KNOWN = records("right", "a:x@5 b:y@2 c:z@3") + records("left", "a:u@1 b:v@4 d:w@9 -:n@10")


@case(input=KEYS)
def records_go_through_what_keeps_nothing(b: StreamsBuilder) -> None:
    s = b.stream("in").filter_not(NOT_A).map(BY_VALUE)
    s.flat_map_values(TWICE).merge(b.stream("in").filter(NOT_A).map_values(UPPER)).select_key(OWN_KEY).to("out")


@case(input=KEYS)
def rows_that_are_counted_by_another_key(b: StreamsBuilder) -> None:
    b.stream("in").map(BY_VALUE).group_by_key().aggregate(EMPTY, APPEND).to_stream().to("out")


@case(input=KEYS)
def rows_of_streams_that_are_cogrouped(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(NOT_A).group_by_key().cogroup(APPEND).cogroup(s.flat_map_values(TWICE).group_by_key(), APPEND)
    c.aggregate(EMPTY).to_stream().to("out")


@case(input=LATE)
def rows_of_windows_that_slide(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(6), millis(9)))
    w.reduce(CONCAT).to_stream().select_key(IN_WINDOW).to("out")


@case(input=LATE)
def rows_of_sessions(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(6), millis(9)))
    w.aggregate(EMPTY, APPEND, CONCATENATED).to_stream().select_key(IN_WINDOW).to("out")


@case(input=LATE)
def windows_are_passed_on_when_they_close(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(millis(6), millis(5)))
    w.emit_strategy(EmitStrategy.on_window_close()).reduce(CONCAT).to_stream().select_key(IN_WINDOW).to("out")


@case(input=LATE)
def windows_that_slide_are_passed_on_when_they_close(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(6), millis(5)))
    w.emit_strategy(EmitStrategy.on_window_close()).reduce(CONCAT).to_stream().select_key(IN_WINDOW).to("out")


@case(input=BESIDE)
def streams_meet_within_a_window(b: StreamsBuilder) -> None:
    windows = JoinWindows.of_time_difference_and_grace(millis(5), millis(20)).after(millis(2))
    b.stream("left").join(b.stream("right"), BOTH, windows).to("out")


@case(input=PAIRS)
def rows_of_tables_that_are_joined(b: StreamsBuilder) -> None:
    b.table("left").join(b.table("right"), BOTH).to_stream().to("out")


@case(input=PAIRS)
def rows_of_tables_that_are_joined_with_what_is_alone(b: StreamsBuilder) -> None:
    b.table("left").outer_join(b.table("right").map_values(UPPER), BOTH).to_stream().to("out")


@case(input=KNOWN)
def streams_meet_a_global_table(b: StreamsBuilder) -> None:
    b.stream("left").join(b.global_table("right"), OWN_KEY, BOTH).to("out")


OUT_OF_ORDER = records("right", "k:a@10 k:b@5 gone:c@10 gone:-@5") + records("left", "k:x@20 gone:x@20")


@case(input=OUT_OF_ORDER)
def streams_meet_the_last_record_of_a_global_table(b: StreamsBuilder) -> None:
    b.stream("left").left_join(b.global_table("right"), OWN_KEY, BOTH).to("out")


@case(input=KNOWN)
def streams_meet_a_global_table_or_stay_alone(b: StreamsBuilder) -> None:
    b.stream("left").left_join(b.global_table("right"), OWN_KEY, BOTH).to("out")
