"""Interactive queries: each reads its range of a store, in the order of the bytes of its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import functions as F

from headrace.errors import StreamsError
from headrace.streams import (
    Grouped,
    Materialized,
    Serdes,
    SessionWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
)
from headrace.testing.topology_test_driver import TopologyTestDriver
from tests.streams.running.conftest import STRINGS, feed

MANY = 2000
HOUR = timedelta(hours=1)


@pytest.fixture
def driver(drive) -> Iterator[TopologyTestDriver]:
    """A store of each kind with many keys, and with windows, sessions and versions of two keys that begin alike."""
    builder = StreamsBuilder()
    grouped = builder.stream("in", STRINGS).group_by_key()
    grouped.count(Materialized.as_("counts"))
    grouped.windowed_by(TimeWindows.of_size_and_grace(10, HOUR)).count(Materialized.as_("windows"))
    grouped.windowed_by(SessionWindows.of_inactivity_gap_and_grace(5, HOUR)).count(Materialized.as_("sessions"))
    builder.table("rows", STRINGS, Materialized.as_(Stores.persistent_versioned_key_value_store("versions", HOUR)))
    driver = drive(builder)
    rows = [(f"k{number:04}", "x", number) for number in range(MANY)]
    feed(driver, "in", [*rows, *[(key, "y", 100 * at) for at in range(3) for key in ("k1", "k1a")]])
    feed(driver, "rows", [*rows, *[(key, f"{at}", 100 * at) for at in range(3) for key in ("k1", "k1a")]])
    with driver:
        yield driver


def _read(driver: TopologyTestDriver, ask: Callable[[], Any]) -> tuple[list[Any], int]:
    """What a query gives, and how many rows it looks at; without a job of Spark."""
    tasks = [task.state.runtime for task in driver._tasks]
    scheduler: Any = driver._spark.sparkContext._jsc.sc().dagScheduler()  # type: ignore[union-attr]
    before, jobs = sum(task.rows_read() for task in tasks), scheduler.numTotalJobs()
    results = list(ask())
    assert scheduler.numTotalJobs() == jobs
    return results, sum(task.rows_read() for task in tasks) - before


def test_a_query_reads_the_rows_that_it_gives(driver):
    counts, windows, sessions = (driver.store(name) for name in ("counts", "windows", "sessions"))
    queries: dict[str, tuple[Callable[[], Any], list[Any]]] = {
        "range": (lambda: counts.range("k0010", "k0012"), [("k0010", 1), ("k0011", 1), ("k0012", 1)]),
        "open": (lambda: counts.range("k1998", None), [("k1998", 1), ("k1999", 1), ("k1a", 3)]),
        "none": (lambda: counts.range("k2", "k1"), []),
        "prefix": (lambda: counts.prefix_scan("k199", Serdes.string()), [(f"k199{n}", 1) for n in range(10)]),
        "fetch": (lambda: windows.fetch("k1", 100, 200), [(100, 1), (200, 1)]),
        "fetch before 0": (lambda: windows.fetch("k1", -20, -10), []),
        "fetch backwards": (lambda: windows.fetch("k1", 200, 100), []),
        "fetch from before 0": (lambda: windows.fetch("k1", -20, 0), [(0, 1)]),
        "fetch range": (lambda: windows.fetch_range("k1999", "k1a", 200), [(("k1999", 1990, 2000), 1), (("k1a", 200, 210), 1)]),
        "find sessions": (lambda: sessions.find_sessions("k1", 50, 150), [(("k1", 100, 100), 1)]),
        "sessions": (lambda: sessions.fetch("k1a"), [(0, 1), (100, 1), (200, 1)]),
        "versions": (lambda: driver.store("versions").versions("k1"), [(0, "0"), (100, "1"), (200, "2")]),
        "last versions": (lambda: driver.store("versions").range("k1998", None), [("k1998", "x"), ("k1999", "x"), ("k1a", "2")]),
    }  # fmt: skip
    for name, (ask, expected) in queries.items():
        results, rows = _read(driver, ask)
        assert results == expected, name
        assert rows <= 2 * len(expected) + 2, name


def test_all_of_a_store_is_in_the_order_of_its_keys(driver):
    expected = sorted([f"k{number:04}" for number in range(MANY)] + ["k1", "k1a"])
    assert [key for key, _ in driver.store("counts").all()] == expected
    assert [key for key, _ in driver.store("versions").all()] == expected
    assert [key for key, _ in driver.store("windows").fetch_all(1990)] == [(f"k{n}", 1990, 2000) for n in range(1990, MANY)]
    assert MANY <= driver.store("counts").approximate_num_entries() <= 2 * MANY


def test_a_query_asks_a_store_of_its_kind_and_a_key_of_its_serde(driver):
    with pytest.raises(StreamsError, match=r"^range asks a key-value or versioned store, and windows is a window store"):
        driver.store("windows").range(None, None)
    with pytest.raises(StreamsError, match=r"^fetch asks a window or session store, and counts is a key-value store"):
        driver.store("counts").fetch("k1")
    with pytest.raises(StreamsError, match=r"^The store counts has no key None"):
        driver.store("counts").get(None)


def test_numbers_are_in_the_order_of_their_bytes(drive):
    builder = StreamsBuilder()
    grouped = builder.stream("in", STRINGS).group_by(lambda k, v: v.cast("long"), Grouped.with_(Serdes.long(), Serdes.string()))
    grouped.count(Materialized.as_("counts"))
    with drive(builder) as driver:
        feed(driver, "in", [("a", value, 0) for value in ("-1", "300", "2", "0")])
        store = driver.store("counts")
        assert list(store.all()) == [(0, 1), (2, 1), (300, 1), (-1, 1)]
        assert list(store.range(1, 300)) == [(2, 1), (300, 1)]
        with pytest.raises(StreamsError, match=r"^'2' is no key of the long serde of the store counts"):
            store.get("2")


def test_keys_and_values_that_only_spark_reads_are_found_by_their_bytes(drive):
    builder = StreamsBuilder()
    key, value = Serdes.json("a string, b int"), Serdes.json("d decimal(5,2)")
    grouped = builder.stream("in", STRINGS).group_by(
        lambda k, v: F.struct(k.alias("a"), v.cast("int").alias("b")), Grouped.with_(key, Serdes.string())
    )
    number = lambda k, v, total: F.struct(v.cast("decimal(5,2)").alias("d"))  # noqa: E731
    materialized = Materialized.as_("kept").with_key_serde(key).with_value_serde(value)
    grouped.aggregate(lambda: F.lit(None).cast("struct<d:decimal(5,2)>"), number, materialized)
    with drive(builder) as driver:
        feed(driver, "in", [("x", "1", 0), ("x", "2", 0), ("y", "3", 0)])
        store = driver.store("kept")
        assert str(store.get(("x", 2))["d"]) == "2.00"
        assert [(tuple(k), str(v["d"])) for k, v in store.range(("x", 2), None)] == [(("x", 2), "2.00"), (("y", 3), "3.00")]


def test_what_has_expired_is_not_found_before_it_is_swept_away(drive):
    builder = StreamsBuilder()
    grouped = builder.stream("in", STRINGS).group_by_key()
    grouped.windowed_by(TimeWindows.of_size_and_grace(10, 10)).count(Materialized.as_("windows"))
    grouped.windowed_by(SessionWindows.of_inactivity_gap_and_grace(10, 10)).count(Materialized.as_("sessions"))
    builder.table("rows", STRINGS, Materialized.as_(Stores.persistent_versioned_key_value_store("versions", 20)))
    with drive(builder) as driver:
        feed(driver, "in", [("a", "x", 0), ("b", "x", 19)])
        windows, sessions = driver.store("windows"), driver.store("sessions")
        assert [key for key, _ in windows.all()] == [("a", 0, 10), ("b", 10, 20)]
        assert [key for key, _ in sessions.all()] == [("a", 0, 0), ("b", 19, 19)]
        feed(driver, "in", [("b", "x", 20)])
        assert [key for key, _ in windows.all()] == [("b", 10, 20), ("b", 20, 30)]
        assert list(windows.fetch("a")) == list(sessions.fetch("a")) == list(sessions.find_sessions("a", 0, 99)) == []
        assert {row["k"] for row in driver._tasks[0].state.tables["windows"].rows().collect()} == {"a", "b"}
        feed(driver, "rows", [("a", "old", 1), ("a", "new", 5), ("b", "only", 1), ("c", "now", 30)])
        versions = driver.store("versions")
        assert [versions.get("a", at) for at in (2, 9, 10, None)] == [None, "new", "new", "new"]
        assert versions.get("b", 2) == "only"
