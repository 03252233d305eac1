"""Stores with history (KIP-889): what they keep comes back from the changelog, and processors read and write it."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import functions as F

from headrace.streams import Joined, Materialized, Produced, Serdes, Stores, StreamsBuilder
from headrace.streams.processor_stores import PUT_RETURN_CODE_NOT_PUT
from headrace.testing.topics_in_memory import TopicsInMemory
from tests.streams.running.conftest import STRINGS, feed
from tests.support import seeds


def _history(name: str, retention_ms: int):
    return Stores.persistent_versioned_key_value_store(name, retention_ms)


def test_the_history_of_a_table_comes_back_from_its_changelog(drive, spark):
    topics, builder = TopicsInMemory(spark), StreamsBuilder()
    table = builder.table("rows", STRINGS, Materialized.as_(_history("kept", 30)))
    builder.stream("in", STRINGS).left_join(table, lambda a, b: b).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    with drive(builder, topics=topics) as driver:
        feed(driver, "rows", [("a", "one", 10), ("a", "three", 30), ("a", None, 20), ("b", "x", 5), ("a", "zero", 0)])
    with drive(builder, topics=topics) as driver:
        store = driver.store("kept")
        assert store.versions("a") == [(0, "zero"), (10, "one"), (20, None), (30, "three")]
        assert [store.get("a", at) for at in (9, 15, 25, 30)] == ["zero", "one", None, "three"]
        assert (store.get("a"), dict(store.all())) == ("three", {"a": "three", "b": "x"})
        feed(driver, "rows", [("a", "late", 12), ("b", "y", 41), ("a", "too late", 10)])
        feed(driver, "in", [("a", "", 11), ("a", "", 13), ("a", "", 31), ("b", "", 41), ("a", "", 9)])
        results = driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_records()
        # At 41 nothing before 11 is known, but for rows that no other has followed.
        assert [r.value for r in results] == ["one", "late", "three", "y", None]
    changelog = topics.rows["app-kept-changelog"]
    assert [(row[4], row[5], row[3]) for row in changelog[-2:]] == [(b"a", b"late", 12), (b"b", b"y", 41)]
    assert {row[3] for row in changelog if row[5] is None} == {20}


class Past:
    """Puts each value, and tells the one of two milliseconds before."""

    @staticmethod
    def stores():
        return [Stores.versioned_key_value_store_builder(_history("past", 10), Serdes.string(), Serdes.string())]

    def init(self, context) -> None:
        self.context, self.past = context, context.get_state_store("past")

    def process(self, record) -> None:
        code = self.past.put(record.key, record.value, record.timestamp)
        before, last = self.past.get(record.key, record.timestamp - 2), self.past.get(record.key)
        text = "late" if code == PUT_RETURN_CODE_NOT_PUT else str(code)
        told = [f"{version.value}@{version.timestamp}-{version.valid_to}" if version else "-" for version in (before, last)]
        self.context.forward(record.with_value(" ".join([text, *told])))


def test_a_processor_has_a_store_with_history(drive, spark):
    topics, builder = TopicsInMemory(spark), StreamsBuilder()
    builder.stream("in", STRINGS).process(Past).to("out", Produced.with_(Serdes.string(), Serdes.string()))

    def told(batch):
        with drive(builder, topics=topics) as driver:
            feed(driver, "in", batch)
            results = driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_records()
            return [r.value for r in results][-len(batch) :]

    assert told([("a", "x", 5), ("a", "y", 9), ("a", "z", 7), ("ab", "q", 8)]) == [
        "None - x@5-None", "None x@5-9 y@9-None", "9 x@5-7 y@9-None", "None - q@8-None",
    ]  # fmt: skip
    assert told([("a", None, 18), ("a", "w", 10), ("a", "v", 7), ("a", "u", 20)]) == [
        "None y@9-18 -", "18 z@7-9 -", "late - -", "None - u@20-None",
    ]  # fmt: skip


def test_versions_that_others_have_followed_are_swept_away(drive, spark, monkeypatch):
    monkeypatch.setattr("headrace.streams.engine.store_table._SWEEP_ROWS", 1)
    builder = StreamsBuilder()
    builder.table("rows", STRINGS, Materialized.as_(_history("kept", 10)))
    with drive(builder) as driver:
        feed(driver, "rows", [("a", "x", 1), ("a", "y", 2), ("b", "only", 1), ("a", "z", 90)])
        feed(driver, "rows", [("c", "now", 100)])
        assert driver.store("kept").versions("a") == [(2, "y"), (90, "z")]
        assert driver.store("kept").versions("b") == [(1, "only")]


class Versions:
    """A versioned store in plain Python, with its rules of what is too old: Kafka's."""

    def __init__(self, retention: int) -> None:
        self.retention, self.observed = retention, -1
        self.rows: dict[str, dict[int, str | None]] = {}

    def put(self, key: str, value: str | None, time: int) -> None:
        self.observed = max(self.observed, time)
        if time >= self.observed - self.retention:
            self.rows.setdefault(key, {})[time] = value

    def get(self, key: str, time: int) -> str | None:
        versions = self.rows.get(key, {})
        at = max((t for t in versions if t <= time), default=None)
        if at is None or (at != max(versions) and time < self.observed - self.retention):
            return None
        return versions[at]


@pytest.mark.parametrize("seed", seeds(1, 2, 3, 4))
def test_a_stream_meets_the_versions_of_a_table_as_in_plain_python(drive, seed):
    """At once, and after a grace period, whatever comes late."""
    retention, grace, chance = 60, 30, random.Random(seed)
    builder = StreamsBuilder()
    table = builder.table("rows", STRINGS, Materialized.as_(_history("kept", retention)))
    stream = builder.stream("in", STRINGS)
    joiner = lambda value, row: F.concat_ws("-", value, F.coalesce(row, F.lit("none")))  # noqa: E731
    stream.left_join(table, joiner).to("out", Produced.with_(Serdes.string(), Serdes.string()))
    waiting = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string()).with_grace_period(grace)
    stream.left_join(table, joiner, waiting).to("waited", Produced.with_(Serdes.string(), Serdes.string()))
    versions, buffer, newest, late = Versions(retention), [], -1, 0
    with drive(builder) as driver:
        for round_number in range(5):
            first = 35 * round_number
            rows = [(chance.choice("abc"), chance.choice(["x", "y", "z", None]), first + chance.randrange(100)) for _ in range(8)]
            records = [(chance.choice("abcd"), f"r{round_number}.{i}", first + chance.randrange(100)) for i in range(8)]
            feed(driver, "rows", rows)
            for row in rows:
                versions.put(*row)
            feed(driver, "in", records)
            newest, buffer = max(newest, *(time for *_, time in records)), buffer + records
            due = [record for record in buffer if record[2] <= newest - grace]
            buffer = [record for record in buffer if record not in due]
            late += sum(time < versions.observed - retention for *_, time in records)
            for topic, expected in (("out", records), ("waited", due)):
                results = driver.create_output_topic(topic, Serdes.string(), Serdes.string()).read_key_values()
                met = [(key, f"{value}-{versions.get(key, time) or 'none'}") for key, value, time in expected]
                assert sorted(results) == sorted(met), (topic, round_number)
    assert late > 0
