"""Topologies that are run: windows of every kind with and without grace, with records that are late and what has expired."""

from __future__ import annotations

from headrace.streams import (
    EmitStrategy,
    Grouped,
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
    CONCATENATED,
    EMPTY,
    TEXT,
    WITH_BOUNDS,
    millis,
)

LATE = records(
    "in",
    "a:b@10 a:c@12 b:d@13 a:e@9 a:f@19 -:h@15 a:-@16 c:i@25 a:j@17 a:l@24 a:m@5 b:n@32 a:o@21 a:p@26 c:q@31 b:r@22 a:s@48 "
    "b:t@36 c:u@35 a:v@40 b:x@90 a:y@74 b:z@83 c:c@90 a:d@120",
)
EXPIRED = records(
    "in",
    "a:b@100 a:c@104 b:d@118 a:e@109 a:f@103 b:g@140 a:h@125 a:i@128 c:j@160 a:k@145 a:m@135 c:o@145 c:p@150 d:r@180 c:s@165 "
    "b:w@200 b:x@185 b:y@185 b:z@195 a:c@215 b:d@200 a:f@205",
)


@case(UNCACHED, input=LATE)
def tumbling_windows_with_grace(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(7)))
    w.aggregate(EMPTY, APPEND).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def hopping_windows_with_grace(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(5)).advance_by(millis(3)))
    w.aggregate(EMPTY, APPEND).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def sliding_windows_with_grace(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(6), millis(9)))
    w.aggregate(EMPTY, APPEND).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def sessions_with_grace(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(5), millis(8)))
    w.aggregate(EMPTY, APPEND, CONCATENATED).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def sessions_without_grace(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(millis(3)))
    w.count().to_stream().select_key(WITH_BOUNDS).map_values(TEXT).to("out")


@case(UNCACHED, input=LATE)
def sessions_of_one_moment(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(0), millis(20)))
    w.count().to_stream().select_key(WITH_BOUNDS).map_values(TEXT).to("out")


@case(UNCACHED, input=LATE)
def sessions_that_are_kept_longer(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(5), millis(2)))
    kept = Materialized.as_("kept-2")
    w.aggregate(EMPTY, APPEND, CONCATENATED, kept.with_retention(millis(60))).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def tumbling_windows_when_they_close(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(7)))
    kept = Materialized.as_("closed-1").with_retention(millis(500))
    w.emit_strategy(EmitStrategy.on_window_close()).aggregate(EMPTY, APPEND, kept).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def hopping_windows_when_they_close(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(2)).advance_by(millis(5)))
    kept = Materialized.as_("closed-2").with_retention(millis(500))
    w.emit_strategy(EmitStrategy.on_window_close()).aggregate(EMPTY, APPEND, kept).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def sliding_windows_when_they_close(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(6), millis(4)))
    kept = Materialized.as_("closed-3").with_retention(millis(500))
    w.emit_strategy(EmitStrategy.on_window_close()).aggregate(EMPTY, APPEND, kept).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def sessions_when_they_close(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(5), millis(8)))
    w = w.emit_strategy(EmitStrategy.on_window_close())
    w.aggregate(EMPTY, APPEND, CONCATENATED).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def tumbling_windows_held_until_they_close(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key(Grouped.with_(Serdes.string(), Serdes.string()))
    w = g.windowed_by(TimeWindows.of_size_and_grace(millis(10), millis(7)))
    t = w.aggregate(EMPTY, APPEND).suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded()))
    t.to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=LATE)
def sessions_held_until_they_close(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key(Grouped.with_(Serdes.string(), Serdes.string()))
    w = g.windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(5), millis(8)))
    t = w.count().suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded()))
    t.to_stream().select_key(WITH_BOUNDS).map_values(TEXT).to("out")


@case(UNCACHED, input=EXPIRED)
def sessions_that_have_expired_take_no_late_records(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(10), millis(5)))
    w.aggregate(EMPTY, APPEND, CONCATENATED).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=EXPIRED)
def sessions_in_memory_that_have_expired_take_no_late_records(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(10), millis(5)))
    kept = Materialized.as_(Stores.in_memory_session_store("kept-3", millis(15)))
    w.aggregate(EMPTY, APPEND, CONCATENATED, kept).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=EXPIRED)
def sessions_that_are_kept_longer_take_late_records(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(10), millis(5)))
    kept = Materialized.as_("kept-4")
    w.aggregate(EMPTY, APPEND, CONCATENATED, kept.with_retention(millis(21))).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=EXPIRED)
def sessions_that_their_supplier_keeps_longer_take_late_records(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(millis(10), millis(5)))
    kept = Materialized.as_(Stores.persistent_session_store("kept-5", millis(21))).with_retention(millis(50))
    w.aggregate(EMPTY, APPEND, CONCATENATED, kept).to_stream().select_key(WITH_BOUNDS).to("out")


@case(UNCACHED, input=EXPIRED)
def windows_that_slide_and_are_kept_longer_by_their_supplier(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(millis(10), millis(5)))
    kept = Materialized.as_(Stores.in_memory_window_store("kept-6", millis(60), millis(10), False))
    w.aggregate(EMPTY, APPEND, kept).to_stream().select_key(WITH_BOUNDS).to("out")
