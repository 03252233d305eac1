"""Foreign-key joins are at rest what the two tables say, whatever came between, and in whatever order."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import functions as F

from headrace.errors import StreamsError
from headrace.streams import Consumed, Materialized, Produced, Serdes, StreamsBuilder, TableJoined
from headrace.testing.topics_in_memory import TopicsInMemory
from tests.streams.running.conftest import STRINGS, feed
from tests.streams.running.test_joins import both
from tests.streams.running.test_restore import Killed, Killing


def foreign_key(row):
    """What stands behind the bar; rows without one have none."""
    return F.when(F.contains(row, F.lit("|")), F.substring_index(row, "|", -1))


def _application() -> StreamsBuilder:
    builder = StreamsBuilder()
    left, right = builder.table("left", STRINGS), builder.table("right", STRINGS)
    left.join(right, foreign_key, both, Materialized.as_("joined")).to_stream().to("out")
    return builder


def _expected(left: dict, right: dict) -> dict:
    rows = {key: (row, right.get(row.split("|")[1])) for key, row in left.items() if row and "|" in row}
    return {key: f"{row}-{other}" for key, (row, other) in rows.items() if other}


def _last(topics: TopicsInMemory) -> dict:
    rows = {(row[4] or b"").decode(): row[5] for row in topics.rows.get("out", [])}
    return {key: value.decode() for key, value in rows.items() if value is not None}


class Tables:
    """Two tables that change at random: few keys, few rows."""

    def __init__(self, seed: int) -> None:
        self.random, self.left, self.right = random.Random(seed), {}, {}

    def changes(self, driver) -> None:
        """Some changes of both, into their topics; nothing is done with them yet."""
        for _ in range(self.random.randrange(1, 6)):
            key = self.random.choice("abcd")
            if self.random.random() < 0.6:
                row = self.random.choice([None, "x", "x|A", "y|A", "x|B", "y|C"])
                self._put(driver, "left", self.left, key, row)
            else:
                self._put(driver, "right", self.right, key.upper(), self.random.choice([None, "1", "2"]))

    def _put(self, driver, topic: str, table: dict, key: str, row: str | None) -> None:
        table[key] = row
        driver.topics.append(topic, key.encode(), row and row.encode(), self.random.randrange(100))


def test_the_join_is_right_at_rest_whoever_is_faster_and_whoever_is_killed(drive, spark):
    tables, topics, kills = Tables(11), Killing(spark), 0
    driver = drive(_application(), topics=topics)
    for number in range(2):
        topics.steps = random.Random(7) if number == 1 else None  # which ends a write after its first row
        for _ in range(3):  # one of the sub-topologies continues while the others lag behind
            tables.changes(driver)
            try:
                tables.random.choice(driver._tasks).step()
            except Killed:  # in the middle of a batch: nothing is left of it but the topics
                topics.steps, kills = None, kills + 1
                driver = drive(_application(), topics=topics)
        topics.steps = None
        driver.pipe("left", [])
        expected = _expected(tables.left, tables.right)
        assert _last(topics) == expected
        assert dict(driver.store("joined").all()) == expected
    assert kills == 1


def test_each_change_is_passed_on_as_kafka_does_with_the_time_of_the_later_row(drive):
    with drive(_application()) as driver:
        steps = [
            ("left", [("a", "x|A", 1)], []),
            ("right", [("A", "1", 7)], [("a", "x|A-1", 7)]),
            ("left", [("a", "x|B", 8), ("b", "y|A", 3)], [("a", None, 8), ("b", "y|A-1", 7)]),
            ("left", [("b", None, 9)], [("b", None, 9)]),
            ("right", [("A", None, 10)], []),
        ]
        for topic, records, expected in steps:
            feed(driver, topic, records)
            out = driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_records()
            assert sorted((r.key, r.value, r.timestamp) for r in out) == expected


def test_a_table_meets_itself_with_keys_and_rows_of_other_types(drive):
    builder, people = StreamsBuilder(), Consumed.with_(Serdes.long(), Serdes.json("name string, boss long, born date"))
    table = builder.table("people", people)
    named = table.left_join(table, lambda key, row: row["boss"], lambda row, boss: both(row["name"], boss["name"]))
    named.to_stream().to("out", Produced.with_(Serdes.long(), Serdes.string()))
    with drive(builder) as driver:
        given = driver.create_input_topic("people", Serdes.long(), Serdes.json("name string, boss long, born string"))
        given.pipe_batch([(1, ("ann", None, "1970-01-01"), 1), (2, ("bob", 1, None), 1), (3, ("cid", 2, None), 1)])
        out = driver.create_output_topic("out", Serdes.long(), Serdes.string())
        assert dict(out.read_key_values()) == {1: "ann-None", 2: "bob-ann", 3: "cid-bob"}
        given.pipe_input(1, None, 2)
        assert out.read_key_values() == [(1, None), (2, "bob-None")]


def test_a_foreign_key_of_another_type_than_the_keys_is_refused(drive):
    builder = StreamsBuilder()
    left, right = builder.table("left", STRINGS), builder.table("right", Consumed.with_(Serdes.long(), Serdes.string()))
    left.join(right, lambda row: row, both, TableJoined.as_("fk"))
    with pytest.raises(StreamsError) as raised:
        drive(builder)
    assert "is of Spark's type string, which the long serde does not write" in str(raised.value)
