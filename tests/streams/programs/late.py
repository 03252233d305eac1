"""Topologies that are run: what comes late to cogroups, to windows that have expired, to joins, and to what is grouped again."""

from __future__ import annotations

from headrace.streams import (
    Grouped,
    JoinWindows,
    Materialized,
    Serdes,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from tests.streams.programs.case import UNCACHED, case, records
from tests.streams.programs.functions import (
    APPEND,
    BOTH,
    CONCATENATED,
    EMPTY,
    LONGER,
    OF_KEY,
    ROW,
    SHORTER,
    TEXT,
    UPPER,
    WITH_BOUNDS,
    ZERO,
    days,
    millis,
)

# Values that begin with t are those of one stream, the others of another one: first the one is far ahead, then the other.
CROSSED = records(
    "in",
    "a:t1@100 a:b@10 a:c@12 b:d@18 a:e@4 a:t2@103 b:t3@95 a:f@25 a:g@11 b:h@30 a:t4@92 c:t5@140 a:i@100 a:t6@101 b:j@96 "
    "a:k@128 a:t7@131 b:t8@120 c:l@139 a:m@133 b:n@150 a:t9@141 c:ta@149 b:o@151 a:p@144 a:r@137 a:tb@138 b:tc@134 a:q@190 "
    "a:td@150 a:te@152 a:tf@151 b:s@176 a:tg@160 b:v@183 a:th@178 a:w@181 a:ti@179",
)
SPARSE = records(
    "in",
    "a:b@90 b:c@93 b:d@99 b:e@100 a:f@91 a:g@94 c:h@96 b:i@170 a:j@190 b:k@200 a:l@191 a:m@189 b:n@199 a:o@195 b:p@201 a:q@190 "
    "c:r@193 c:s@191 c:u@192 a:v@230 b:w@240 a:x@229 a:y@231 b:z@236 a:b@230 b:c@241 c:d@233 a:e@228 c:f@234 a:g@233 b:h@251 "
    "a:i@240 a:j@239 c:k@241",
)


@case(UNCACHED, input=CROSSED)
def each_stream_of_a_cogroup_has_its_own_time(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(ROW).group_by_key().cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    w = c.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(5)))
    w.aggregate(EMPTY).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def each_stream_of_a_cogroup_has_its_own_time_and_windows_are_kept(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(ROW).group_by_key().cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    w = c.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(5)))
    kept = Materialized.as_("kept-1")
    w.aggregate(EMPTY, kept.with_retention(millis(100))).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def each_stream_of_a_cogroup_has_its_own_time_in_memory(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(ROW).group_by_key().cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    w = c.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(5)))
    kept = Materialized.as_(Stores.in_memory_window_store("kept-2", millis(15), millis(10), False))
    w.aggregate(EMPTY, kept).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def each_stream_of_a_cogroup_has_its_own_time_in_hopping_windows(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(ROW).group_by_key().cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    w = c.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(4)).advance_by(millis(4)))
    w.aggregate(EMPTY).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def each_stream_of_a_cogroup_has_its_own_time_in_windows_that_slide(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(ROW).group_by_key().cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    w = c.windowed_by(SlidingWindows.of_time_difference_and_grace(millis(8), millis(5)))
    w.aggregate(EMPTY).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def each_stream_of_a_cogroup_has_its_own_time_in_sessions(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(ROW).group_by_key().cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    w = c.windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(6), millis(5)))
    w.aggregate(EMPTY, CONCATENATED).to_stream().select_key(WITH_BOUNDS).to("out")


DAYS = "0 10 20 30 50 40 61 75 48"
LONG = records("in", " ".join(f"a:v{day}@{int(day) * 86_400_000}" for day in DAYS.split()))


@case(UNCACHED, input=LONG)
def sessions_that_begin_weeks_apart(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(days(14), days(7)))
    w.aggregate(EMPTY, APPEND, CONCATENATED).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def each_stream_of_a_cogroup_has_its_own_time_in_sessions_that_are_kept(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(ROW).group_by_key().cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    w = c.windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(6), millis(5)))
    kept = Materialized.as_("kept-3")
    w.aggregate(EMPTY, CONCATENATED, kept.with_retention(millis(120))).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def a_cogroup_of_one_stream(b: StreamsBuilder) -> None:
    c = b.stream("in").group_by_key().cogroup(APPEND)
    w = c.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(30)))
    w.aggregate(EMPTY).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def windows_of_a_cogroup_held_until_they_close(b: StreamsBuilder) -> None:
    s = b.stream("in")
    g = s.filter(ROW).group_by_key(Grouped.with_(Serdes.string(), Serdes.string()))
    c = g.cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    w = c.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(5)))
    kept = Materialized.with_(Serdes.string(), Serdes.string())
    t = w.aggregate(EMPTY, kept).suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded()))
    t.to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=CROSSED)
def windows_of_a_cogroup_grouped_again(b: StreamsBuilder) -> None:
    s = b.stream("in")
    c = s.filter(ROW).group_by_key().cogroup(APPEND).cogroup(s.filter_not(ROW).group_by_key(), APPEND)
    kept = Materialized.as_("kept-6")
    t = c.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(5))).aggregate(EMPTY, kept.with_retention(millis(200)))
    g = t.group_by(OF_KEY, Grouped.with_(Serdes.string(), Serdes.string()))
    g.aggregate(ZERO, LONGER, SHORTER).to_stream().to("out")


@case(UNCACHED, input=CROSSED)
def late_records_meet_within_a_window(b: StreamsBuilder) -> None:
    s = b.stream("in")
    windows = JoinWindows.of_time_difference_and_grace(millis(9), millis(4))
    s.filter(ROW).join(s.filter_not(ROW), BOTH, windows).to("out")


@case(UNCACHED, input=CROSSED)
def late_records_meet_within_a_window_of_one_direction(b: StreamsBuilder) -> None:
    s = b.stream("in")
    windows = JoinWindows.of_time_difference_and_grace(millis(4), millis(0)).after(millis(20))
    s.filter(ROW).join(s.filter_not(ROW), BOTH, windows).to("out")


@case(UNCACHED, input=CROSSED)
def late_records_of_a_stream_that_meets_itself_are_rows(b: StreamsBuilder) -> None:
    s = b.stream("in")
    windows = JoinWindows.of_time_difference_and_grace(millis(9), millis(20))
    s.join(s, BOTH, windows).to_table().to_stream().to("out")


@case(UNCACHED, input=SPARSE)
def windows_that_slide_and_have_expired(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(6), millis(4)))
    w.aggregate(EMPTY, APPEND).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=SPARSE)
def windows_that_slide_and_do_not_know_what_came_late(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(11), millis(6)))
    w.aggregate(EMPTY, APPEND).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=SPARSE)
def windows_that_slide_and_are_kept_longer(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(6), millis(4)))
    kept = Materialized.as_("kept-4")
    w.aggregate(EMPTY, APPEND, kept.with_retention(millis(40))).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=SPARSE)
def windows_that_slide_in_memory_and_have_expired(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(9), millis(2)))
    kept = Materialized.as_(Stores.in_memory_window_store("kept-5", millis(20), millis(9), False))
    w.aggregate(EMPTY, APPEND, kept).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=SPARSE)
def sessions_grouped_again(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    t = g.windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(4), millis(8))).aggregate(EMPTY, APPEND, CONCATENATED)
    h = t.group_by(OF_KEY, Grouped.with_(Serdes.string(), Serdes.string()))
    h.aggregate(ZERO, LONGER, SHORTER).to_stream().to("out")


@case(UNCACHED, input=SPARSE)
def sessions_grouped_again_and_joined(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    t = g.windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(4), millis(8))).aggregate(EMPTY, APPEND, CONCATENATED)
    h = t.group_by(OF_KEY, Grouped.with_(Serdes.string(), Serdes.string()))
    h.count().join(t.map_values(UPPER).group_by(OF_KEY).count(), BOTH).to_stream().to("out")


@case(UNCACHED, input=SPARSE)
def windows_joined_as_tables(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    w = g.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(6)))
    t = w.aggregate(EMPTY, APPEND).left_join(w.count().map_values(TEXT), BOTH)
    t.to_stream().select_key(WITH_BOUNDS).to("out")
