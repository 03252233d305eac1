"""Aggregations of streams: plain, windowed, by session, of several groups."""

from __future__ import annotations

from headrace.streams import (
    EmitStrategy,
    Grouped,
    Materialized,
    Named,
    Serdes,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    UnlimitedWindows,
)
from tests.streams.programs.functions import (
    ADD,
    KEY,
    MERGER,
    PAIR,
    PREDICATE,
    REDUCER,
    START,
    VALUE,
    days,
    hours,
    millis,
    minutes,
    seconds,
)


def counted(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().count().to_stream().to("out")


def counted_with_names(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key(Grouped.as_("grouped"))
    g.count(Named.as_("counter"), Materialized.as_("counts")).to_stream(Named.as_("changes")).to("out")


def counted_with_a_nameless_materialized(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    g.count(Materialized.with_(Serdes.string(), Serdes.long())).to_stream().to("out")
    g.count(Named.as_("second"), Materialized.with_(Serdes.string(), Serdes.long()))
    g.windowed_by(TimeWindows.of_size_with_no_grace(minutes(1))).count(Materialized.with_(Serdes.string(), Serdes.long()))
    g.windowed_by(SlidingWindows.of_time_difference_with_no_grace(minutes(1))).count(
        Materialized.with_(Serdes.string(), Serdes.long())
    )
    g.windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(minutes(1))).count(
        Materialized.with_(Serdes.string(), Serdes.long())
    )
    g.count().to_stream().to("out2")


def counted_by_a_new_key(b: StreamsBuilder) -> None:
    b.stream("in").group_by(KEY).count().to_stream().to("out")


def counted_by_a_new_key_with_names(b: StreamsBuilder) -> None:
    b.stream("in").group_by(KEY, Grouped.as_("by-color")).count(Materialized.as_("counts")).to_stream().to("out")


def reduced_and_aggregated(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    g.reduce(REDUCER).to_stream().to("reduced")
    g.reduce(REDUCER, Materialized.as_("reduced-store"))
    g.reduce(REDUCER, Named.as_("reducer"), Materialized.as_("reduced-named"))
    g.aggregate(START, ADD).to_stream().to("aggregated")
    g.aggregate(START, ADD, Materialized.as_("aggregated-store"))
    g.aggregate(START, ADD, Named.as_("adder"), Materialized.as_("aggregated-named"))


def several_aggregations_behind_one_new_key(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by(KEY)
    g.count().to_stream().to("counted")
    g.reduce(REDUCER).to_stream().to("reduced")
    g.aggregate(START, ADD, Materialized.as_("kept")).to_stream().to("aggregated")


def several_aggregations_behind_one_named_topic(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by(KEY, Grouped.as_("shared"))
    g.count().to_stream().to("counted")
    g.reduce(REDUCER).to_stream().to("reduced")


def tumbling(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_with_no_grace(minutes(5)))
    g.count().to_stream().to("counted")
    g.reduce(REDUCER).to_stream().to("reduced")
    g.aggregate(START, ADD).to_stream().to("aggregated")
    g.count(Named.as_("counter"))
    g.count(Materialized.as_("counts"))
    g.reduce(REDUCER, Named.as_("reducer"), Materialized.as_("reduced"))
    g.aggregate(START, ADD, Named.as_("adder"), Materialized.as_("aggregated"))


def hopping_with_grace_behind_a_new_key(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by(KEY, Grouped.as_("hops"))
    w = TimeWindows.of_size_and_grace(minutes(10), minutes(2)).advance_by(minutes(1))
    g.windowed_by(w).count(Materialized.as_("hopping")).to_stream().to("out")


def sliding(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(minutes(3), seconds(30)))
    g.count().to_stream().to("counted")
    g.reduce(REDUCER, Materialized.as_("reduced")).to_stream().to("reduced")
    g.aggregate(START, ADD, Named.as_("adder")).to_stream().to("aggregated")


def sessions(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by(KEY).windowed_by(SessionWindows.of_inactivity_gap_and_grace(minutes(30), minutes(1)))
    g.count().to_stream().to("counted")
    g.reduce(REDUCER, Named.as_("reducer")).to_stream().to("reduced")
    g.aggregate(START, ADD, MERGER, Materialized.as_("aggregated")).to_stream().to("aggregated")


def unlimited(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().windowed_by(UnlimitedWindows.of()).count(Materialized.as_("all")).to_stream().to("out")


def emitted_at_the_close(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    t = g.windowed_by(TimeWindows.of_size_and_grace(minutes(5), minutes(1))).emit_strategy(EmitStrategy.on_window_close())
    t.count(Materialized.as_("times")).to_stream().to("times")
    s = g.windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(minutes(5))).emit_strategy(EmitStrategy.on_window_close())
    s.count(Materialized.as_("sessions")).to_stream().to("sessions")
    d = g.windowed_by(SlidingWindows.of_time_difference_with_no_grace(minutes(5)))
    d.emit_strategy(EmitStrategy.on_window_close()).count().to_stream().to("sliding")


def retention_and_settings_of_the_changelog(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    w = g.windowed_by(TimeWindows.of_size_and_grace(minutes(5), minutes(1)))
    w.count(Materialized.as_("long").with_retention(days(3)))
    w.count(Materialized.as_("set").with_logging_enabled({"retention.ms": "1234567", "cleanup.policy": "delete"}))
    w.count(Materialized.as_("none").with_logging_disabled())
    g.count(Materialized.as_("small").with_logging_enabled({"segment.bytes": "1048576"}))
    g.count(Materialized.as_("uncached").with_caching_disabled())


def a_retention_below_the_window_is_refused(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(minutes(5), minutes(1)))
    w.count(Materialized.as_("short").with_retention(minutes(5)))


def a_retention_below_the_session_is_refused(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(minutes(5), minutes(1)))
    w.count(Materialized.as_("short").with_retention(minutes(5)))


def a_retention_below_the_sliding_window_is_refused(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(minutes(5), minutes(1)))
    w.count(Materialized.as_("short").with_retention(minutes(10)))


def a_store_that_forgets_before_its_windows_end_is_refused(b: StreamsBuilder) -> None:
    Stores.persistent_window_store("short", millis(1001), minutes(90), False)


def stores_by_suppliers(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    g.count(Materialized.as_(Stores.in_memory_key_value_store("memory")))
    g.count(Materialized.as_(Stores.persistent_versioned_key_value_store("versioned", minutes(10))))
    w = g.windowed_by(TimeWindows.of_size_with_no_grace(minutes(5)))
    w.count(Materialized.as_(Stores.persistent_window_store("windows", hours(1), minutes(5), False)))
    s = g.windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(minutes(5)))
    s.count(Materialized.as_(Stores.in_memory_session_store("sessions", hours(1))))


def a_window_that_never_closes_is_refused(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(UnlimitedWindows.of())
    w.emit_strategy(EmitStrategy.on_window_close())


def suppressed_until_the_window_closes(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(TimeWindows.of_size_and_grace(minutes(5), minutes(1)))
    t = w.count(Materialized.as_("counts"))
    t.suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded())).to_stream().to("out")


def suppressed_with_a_name_and_settings(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by_key().windowed_by(SessionWindows.of_inactivity_gap_and_grace(minutes(5), minutes(1)))
    c = Suppressed.BufferConfig.max_records(10).with_logging_enabled({"retention.ms": "99"}).shut_down_when_full()
    w.count().suppress(Suppressed.until_window_closes(c).with_name("final")).to_stream().to("out")


def suppressed_without_a_log(b: StreamsBuilder) -> None:
    t = b.stream("in").group_by_key().count()
    c = Suppressed.BufferConfig.max_bytes(10000).with_logging_disabled()
    t.suppress(Suppressed.until_time_limit(seconds(10), c)).filter(PREDICATE).to_stream().to("out")


def suppressed_without_a_window_is_refused(b: StreamsBuilder) -> None:
    t = b.stream("in").group_by_key().count()
    t.suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded()))


def suppressed_behind_a_mapping(b: StreamsBuilder) -> None:
    w = b.stream("in").group_by(KEY).windowed_by(SlidingWindows.of_time_difference_and_grace(minutes(5), minutes(1)))
    t = w.aggregate(START, ADD).map_values(VALUE).filter(PREDICATE)
    t.suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded())).to_stream(KEY).to("out")


def cogrouped(b: StreamsBuilder) -> None:
    a = b.stream("a").group_by_key()
    c = a.cogroup(ADD).cogroup(b.stream("b").group_by_key(), ADD).cogroup(b.stream("c").group_by(KEY), ADD)
    c.aggregate(START).to_stream().to("out")


def cogrouped_with_names(b: StreamsBuilder) -> None:
    c = b.stream("a").group_by(KEY, Grouped.as_("left")).cogroup(ADD)
    c.cogroup(b.stream("b").group_by(KEY), ADD).aggregate(START, Named.as_("both"), Materialized.as_("kept")).to_stream().to(
        "out"
    )


def cogrouped_in_windows(b: StreamsBuilder) -> None:
    c = b.stream("a").group_by_key().cogroup(ADD).cogroup(b.stream("b").group_by(KEY), ADD)
    c.windowed_by(TimeWindows.of_size_with_no_grace(minutes(5))).aggregate(START).to_stream().to("times")
    c.windowed_by(SlidingWindows.of_time_difference_with_no_grace(minutes(5))).aggregate(START, Named.as_("slides"))
    c.windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(minutes(5))).aggregate(
        START, MERGER, Materialized.as_("sessions")
    )


def cogrouped_and_suppressed(b: StreamsBuilder) -> None:
    c = b.stream("a").group_by_key().cogroup(ADD).cogroup(b.stream("b").group_by_key(), ADD)
    t = c.windowed_by(TimeWindows.of_size_and_grace(minutes(5), minutes(1))).aggregate(START, Materialized.as_("kept"))
    t.suppress(Suppressed.until_window_closes(Suppressed.BufferConfig.unbounded())).to_stream().to("out")


def a_chain_of_aggregations(b: StreamsBuilder) -> None:
    t = b.stream("in").group_by(KEY).count()
    s = t.to_stream().map(PAIR).group_by_key().reduce(REDUCER).to_stream()
    s.select_key(KEY).group_by_key().aggregate(START, ADD).to_stream().to("out")


def two_stores_of_one_name_are_refused(b: StreamsBuilder) -> None:
    g = b.stream("in").group_by_key()
    g.count(Materialized.as_("same"))
    g.reduce(REDUCER, Materialized.as_("same"))
