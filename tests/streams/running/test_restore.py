"""State is in the changelogs: whatever an instance was doing when it was killed, the next one counts a record of a topic once."""

from __future__ import annotations

import hashlib
import json
import random
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import functions as F

from headrace.errors import RetriableError, StreamsError
from headrace.streams import Grouped, Materialized, Serdes, Stores, StreamsBuilder, TimeWindows
from headrace.streams.engine import offset_metadata
from headrace.streams.engine.changelog_refill import ChangelogRefill
from headrace.streams.engine.context import Context, StateManager
from headrace.streams.engine.restore import StoreRestore
from headrace.streams.engine.runtime import Output
from headrace.streams.engine.task_commits import TaskCommits
from headrace.streams.engine.task_positions import TaskPositions
from headrace.testing.topics_in_memory import TopicsInMemory
from tests.streams.running.conftest import STRINGS, batches, feed
from tests.support import seeds

SIZES = (7, 9)  # of batches: each try begins with a new application


class Killed(BaseException):
    """The process is gone."""


class Killing(TopicsInMemory):
    """Topics of an instance that is killed: after some rows of a write, or before or after a commit."""

    steps: random.Random | None = None

    def append(self, topic, key, value, timestamp, headers=None) -> None:
        self._die(topic.startswith("app-") or topic == "out")
        super().append(topic, key, value, timestamp, headers)

    def commit(self, offsets) -> None:
        self._die(True)
        super().commit(offsets)
        self._die(True)

    def _die(self, here: bool) -> None:
        if here and self.steps is not None and self.steps.random() < 0.12:
            raise Killed


class InOneGo:
    """Transactions of topics in memory: all rows and offsets, or none; then the process may be gone."""

    def __init__(self, topics: Killing) -> None:
        self.topics = topics

    def begin(self, runtime) -> None:
        pass

    def commit(self, runtime, offsets) -> None:
        self.topics._die(True)
        steps, self.topics.steps = self.topics.steps, None
        self.topics.add_held(runtime, None)
        self.topics.commit(offsets)
        self.topics.steps = steps
        self.topics._die(True)


class ExactlyOnce(Killing):
    """Topics of an instance that writes exactly once."""

    def __init__(self, spark, kind: type[InOneGo]) -> None:
        super().__init__(spark)
        self._kind = kind

    def transactions(self, subtopology: int) -> InOneGo:
        return self._kind(self)


def _application() -> StreamsBuilder:
    builder = StreamsBuilder()
    counts = builder.stream("in", STRINGS).group_by(lambda k, v: v).count(Materialized.as_("counts"))
    counts.group_by(lambda k, n: (F.length(k).cast("string"), n), Grouped.with_(Serdes.string(), Serdes.long())).reduce(
        lambda one, other: one + other, lambda one, other: one - other, Materialized.as_("sums")
    ).to_stream().to("out")
    windows = builder.stream("in2", STRINGS).group_by_key().windowed_by(TimeWindows.of_size_and_grace(20, 10))
    windows.reduce(lambda one, other: F.concat(one, other), Materialized.as_("windows"))
    return builder


@pytest.mark.parametrize("seed", seeds(1, 2, 3))
def test_a_kill_at_any_moment_counts_nothing_twice(drive, spark, seed):
    """Each try continues from the topics alone; records of repartition topics come again after a kill, as in Kafka."""
    builder, topics, expected = StreamsBuilder(), Killing(spark), {}
    builder.stream("in", STRINGS).group_by_key().count(Materialized.as_("counts"))
    windows = builder.stream("in2", STRINGS).group_by_key().windowed_by(TimeWindows.of_size_and_grace(20, 10))
    windows.reduce(lambda one, other: F.concat(one, other), Materialized.as_("windows"))
    with drive(builder) as calm:
        for batch in batches(seed, SIZES):
            feed(calm, "in", batch)
            feed(calm, "in2", batch)
        for name in ("counts", "windows"):
            expected[name] = list(calm.store(name).all())
    chance, driver, kills = random.Random(seed), None, 0
    for batch in batches(seed, SIZES):
        topics.steps = None
        for topic in ("in", "in2"):
            feeding = driver or drive(builder, topics=topics)
            for row in feeding.create_input_topic(topic, Serdes.string(), Serdes.string())._rows(batch):
                topics.append(topic, *row[:3])
        topics.steps, done = chance, False
        while not done:
            try:
                driver = driver or drive(builder, topics=topics)
                driver.pipe("in", [])
                done = True
            except Killed:
                driver, kills = None, kills + 1
    topics.steps = None
    assert kills > 0
    with drive(builder, topics=topics) as last:
        last.pipe("in", [])
        assert {name: list(last.store(name).all()) for name in expected} == expected


def test_exactly_once_a_kill_at_any_moment_leaves_no_result_twice(drive, spark):
    topics, chance, expected = ExactlyOnce(spark, InOneGo), random.Random(5), {}

    def start():
        builder = StreamsBuilder()
        builder.stream("in", STRINGS).group_by_key().count(Materialized.as_("counts")).to_stream().to("out")
        return drive(builder, topics=topics)

    driver, kills = start(), 0
    for batch in batches(6, (4, 5, 6, 7)):
        topics.steps = None
        for row in (driver or start()).create_input_topic("in", Serdes.string(), Serdes.string())._rows(batch):
            topics.append("in", *row[:3])
        topics.steps, done = chance, False
        while not done:
            try:
                driver = driver or start()
                driver.pipe("in", [])
                done = True
            except Killed:
                driver, kills = None, kills + 1
        for key, value, _ in batch:
            if key is not None and value is not None:
                expected[key] = expected.get(key, 0) + 1
    topics.steps = None
    assert kills > 0
    out = [((row[4] or b"").decode(), int.from_bytes(row[5] or b"", "big")) for row in topics.rows["out"]]
    assert len(out) == len(set(out)) and dict(out) == expected
    with start() as last:
        assert dict(last.store("counts").all()) == expected


class Unanswered(InOneGo):
    """The first commit gets no answer, and neither does the first question after it."""

    silent = True

    def commit(self, runtime, offsets) -> None:
        super().commit(runtime, offsets)
        if self.silent:
            self.silent, self.topics.committed = False, self._away  # type: ignore[method-assign]
            raise RetriableError("No answer to a commit")

    def _away(self, partitions) -> dict:
        del self.topics.committed
        raise RetriableError("No answer to a question for offsets")


def test_exactly_once_a_restore_that_fails_begins_again(drive, spark):
    builder, topics = StreamsBuilder(), ExactlyOnce(spark, Unanswered)
    builder.stream("in", STRINGS).group_by_key().count(Materialized.as_("counts")).to_stream().to("out")
    with drive(builder, topics=topics) as driver:
        for sentence in ("No answer to a commit", "No answer to a question"):
            with pytest.raises(RetriableError, match=sentence):
                feed(driver, "in", [("a", "x", 1)] if "commit" in sentence else [])
        feed(driver, "in", [])
        feed(driver, "in", [("a", "y", 2)])
        assert list(driver.store("counts").all()) == [("a", 2)]
        assert [int.from_bytes(row[5] or b"", "big") for row in topics.rows["out"]] == [1, 2]


def test_a_table_and_what_is_computed_from_it_come_back(drive, spark):
    topics = TopicsInMemory(spark)
    with drive(_application(), topics=topics) as driver:
        feed(driver, "in", [("1", "x", 1), ("2", "yy", 2), ("3", "x", 3), ("4", "zz", 3)])
        before = {name: list(driver.store(name).all()) for name in ("counts", "sums")}
    assert before == {"counts": [("x", 2), ("yy", 1), ("zz", 1)], "sums": [("1", 2), ("2", 2)]}
    with drive(_application(), topics=topics) as driver:
        assert {name: list(driver.store(name).all()) for name in before} == before
        feed(driver, "in", [("5", "x", 4)])
        assert driver.store("sums").get("1") == 3


def test_the_stream_time_comes_back_too(drive, spark):
    topics, builder = TopicsInMemory(spark), _application()
    with drive(builder, topics=topics) as driver:
        feed(driver, "in2", [("a", "x", 5), ("a", "y", 100)])
    with drive(_application(), topics=topics) as driver:
        feed(driver, "in2", [("a", "late", 6), ("a", "z", 95)])
        assert list(driver.store("windows").fetch("a")) == [(80, "z"), (100, "y")]
        (table,) = [task.state.tables["windows"] for task in driver._tasks if "windows" in task.state.tables]
        assert {(row["w"], row["v"]) for row in table.rows().collect()} == {(0, "x"), (80, "z"), (100, "y")}


def test_state_without_committed_offsets_is_refused(drive, spark):
    topics = TopicsInMemory(spark)
    with drive(_application(), topics=topics) as driver:
        feed(driver, "in", [("1", "x", 1)])
    topics.offsets_committed.clear()
    with pytest.raises(StreamsError, match="holds state, but the group of the application has no committed offsets"):
        drive(_application(), topics=topics)


class Expiring(TopicsInMemory):
    """Topics of an instance that is killed as it writes to a changelog, and of whose input records are deleted after that."""

    killed, first = False, 0

    def append(self, topic, key, value, timestamp, headers=None) -> None:
        if self.killed and topic.startswith("app-"):
            raise Killed
        super().append(topic, key, value, timestamp, headers)

    def offsets(self, partitions, policy) -> dict[tuple[str, int], int]:
        return {p: max(offset, self.first if p[0] == "in" else 0) for p, offset in super().offsets(partitions, policy).items()}


def test_a_batch_whose_records_are_deleted_after_a_kill_is_not_run_again(drive, spark):
    builder, topics = StreamsBuilder(), Expiring(spark)
    builder.stream("in", STRINGS).group_by_key().count(Materialized.as_("counts"))
    with drive(builder, topics=topics) as driver:
        feed(driver, "in", [("a", "1", 1)])
        topics.killed = True
        with pytest.raises(Killed):
            feed(driver, "in", [("a", "2", 2), ("b", "3", 3)])
    topics.killed, topics.first = False, 3
    with drive(builder, topics=topics) as driver:
        feed(driver, "in", [("a", "4", 4)])
        assert list(driver.store("counts").all()) == [("a", 2)]


class Beginning(TopicsInMemory):
    """Topics of an instance that is killed when a batch has begun."""

    killed = False

    def run(self, runtime, batch, inputs) -> None:
        if self.killed:
            raise Killed
        super().run(runtime, batch, inputs)


def test_an_interrupted_batch_with_a_record_that_fails_counts_the_others_once(drive, spark):
    builder, topics, config = StreamsBuilder(), Beginning(spark), {"processing.exception.handler": "continue"}
    stream = builder.stream("in", STRINGS)
    stream.group_by_key().count(Materialized.as_("counts"))
    stream.map_values(lambda value: value.cast("bigint").cast("string")).to("out")
    topics.killed = True
    with drive(builder, topics=topics, config=config) as driver, pytest.raises(Killed):
        feed(driver, "in", [("a", "no number", 1), ("a", "2", 2), ("a", "3", 3), ("a", "4", 4)])
    topics.killed = False
    with drive(builder, topics=topics, config=config) as driver:
        feed(driver, "in", [("a", "5", 5)])
        assert list(driver.store("counts").all()) == [("a", 4)]
    assert [row[5] for row in topics.rows["out"]] == [b"2", b"3", b"4", b"5"]


class Ending(TopicsInMemory):
    """Topics of an instance that is killed when all of a batch is written, and not committed."""

    killed = False

    def run(self, runtime, batch, inputs) -> None:
        super().run(runtime, batch, inputs)
        if self.killed:
            raise Killed


def test_what_an_interrupted_batch_does_not_write_again_does_not_come_back(drive, spark):
    """The batch is run again with a filter that was mended: neither then, nor at a restart when no batch is interrupted."""
    topics = Ending(spark)

    def start(bad: str):
        builder = StreamsBuilder()
        good = builder.stream("in", STRINGS).filter(lambda k, v: v != bad)
        good.group_by_key().count(Materialized.as_("counts"))
        good.to_table(materialized=Materialized.as_(Stores.persistent_versioned_key_value_store("history", 60)))
        return drive(builder, topics=topics)

    with start("none") as driver:
        feed(driver, "in", [("a", "1", 1)])
    topics.killed = True
    for batch in ([("a", "bad", 1), ("a", "bad", 2), ("b", "bad", 3), ("c", "2", 4)], []):
        with pytest.raises(Killed), start("none") as driver:  # run again by the second one
            feed(driver, "in", batch)
    topics.killed = False
    sizes = []
    for _ in range(2):
        with start("bad") as driver:
            feed(driver, "in", [])
            assert dict(driver.store("counts").all()) == {"a": 1, "c": 1}
            assert [driver.store("history").versions(key) for key in "abc"] == [[(1, "1")], [], [(4, "2")]]
            sizes.append([len(topics.rows[f"app-{name}-changelog"]) for name in ("counts", "history")])
    # Of the batch three keys and four versions, written and taken back twice; and what it writes in the end.
    assert sizes == [[1 + 2 * (3 + 3) + 1, 1 + 2 * (4 + 4) + 1]] * 2


class Failing(TopicsInMemory):
    """Topics whose brokers do not acknowledge all of a batch; they remember what is read of changelogs."""

    fails = False

    def __init__(self, spark) -> None:
        super().__init__(spark)
        self.ranges_read: list[tuple[int, int]] = []

    def run(self, runtime, batch, inputs) -> None:
        super().run(runtime, batch, inputs)
        if self.fails:
            self.fails = False
            raise RetriableError("No leader")

    def read(self, ranges):
        self.ranges_read += [offsets for (topic, _), offsets in ranges.items() if topic == "app-counts-changelog"]
        return super().read(ranges)


def test_what_a_failed_try_has_written_and_the_next_one_does_not_is_taken_back(drive, spark, monkeypatch):
    """Between the tries a record of a global table is deleted. Only what follows complete batches is read for it."""
    topics, builder = Failing(spark), StreamsBuilder()
    names = builder.global_table("names", STRINGS)
    joined = builder.stream("in", STRINGS).join(names, lambda k, v: v, lambda v, name: name)
    joined.group_by_key().count(Materialized.as_("counts"))
    with drive(builder, topics=topics) as driver:
        feed(driver, "names", [("x", "X", 1), ("y", "Y", 1)])
        feed(driver, "in", [("a", "x", 1), ("b", "y", 1)])
        monkeypatch.setattr(driver._tasks[0].state.runtime, "written_offsets", lambda: {("app-counts-changelog", 0): 2})
        topics.fails = True
        with pytest.raises(RetriableError):
            feed(driver, "in", [("a", "x", 2), ("b", "y", 2), ("c", "x", 2)])
        feed(driver, "names", [("x", None, 3)])
        assert dict(driver.store("counts").all()) == {"a": 1, "b": 2} and topics.ranges_read == [(2, 5)]
        feed(driver, "in", [("b", "y", 4)])
    with drive(builder, topics=topics) as driver:
        assert dict(driver.store("counts").all()) == {"a": 1, "b": 3}


class Read(TopicsInMemory):
    """Changelogs with two partitions of five records; remembers what is read."""

    def __init__(self) -> None:
        super().__init__(cast(Any, None))
        self.partitions_read: list[list[int]] = []

    def offsets(self, partitions, policy) -> dict[tuple[str, int], int]:
        return dict.fromkeys(partitions, 0 if policy == "earliest" else 5)

    def read(self, ranges) -> Any:
        self.partitions_read.append([p for _, p in ranges])

    def write(self, rows, number) -> None:
        pass


def test_only_partitions_of_an_interrupted_batch_are_read_for_what_it_has_written():
    topics, state = Read(), state_of(["counts"]).state
    changelog: Any = SimpleNamespace(restored=lambda rows, pending: None, undone=lambda rows, pending: None)
    state.logs["counts"] = changelog
    state.tables["counts"] = cast(Any, SimpleNamespace(clear=lambda: None, restore=lambda rows: None))
    for pending, expected in (({1: 7}, [[0, 1], [1]]), ({}, [[0, 1]])):
        topics.partitions_read.clear()
        StoreRestore(state, topics, [("in", 0), ("in", 1)]).from_changelogs(pending, (), lambda topic, rows: True)
        assert topics.partitions_read == expected


def test_records_that_are_read_before_a_changelog_is_filled_again_count_once(drive, spark):
    topics, deleted = TopicsInMemory(spark), {"app-counts-changelog", "app-counts-repartition"}
    with drive(_application(), topics=topics) as driver:
        feed(driver, "in", [("1", "x", 1)])
        task = next(task for task in driver._tasks if "counts" in task.state.logs)
        for topic in deleted:
            del topics.rows[topic]
        task.use_recreated_topics(deleted, task.positions.earliest_offsets(deleted))
        feed(driver, "in", [("2", "x", 2)])
        with pytest.raises(StreamsError, match="it ended before they were filled again: app-counts-changelog"):
            drive(_application(), topics=topics)
        task.refill_changelogs()
        assert driver.store("counts").get("x") == 2
    with drive(_application(), topics=topics) as driver:
        assert list(driver.store("counts").all()) == [("x", 2)]


CHANGES = {
    "values": lambda stream: stream.aggregate(lambda: "", lambda k, v, n: v, Materialized.as_("counts")),
    "windows": lambda stream: stream.windowed_by(TimeWindows.of_size_with_no_grace(10)).count(Materialized.as_("counts")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_store_that_held_something_else_before_is_refused(drive, spark, change):
    topics, builder = TopicsInMemory(spark), StreamsBuilder()
    with drive(_application(), topics=topics) as driver:
        feed(driver, "in", [("1", "x", 1)])
    CHANGES[change](builder.stream("in", STRINGS).group_by(lambda k, v: v))
    with pytest.raises(StreamsError, match="The topology has changed: counts held other keys, values or windows when"):
        drive(builder, topics=topics)


def test_stores_that_come_and_go_with_a_new_topology_are_named(drive, spark, events):
    topics, builder = TopicsInMemory(spark), StreamsBuilder()
    with drive(_application(), topics=topics) as driver:
        feed(driver, "in2", [("1", "x", 1)])
    builder.stream("in2", STRINGS).group_by_key().count(Materialized.as_("other"))
    with drive(builder, topics=topics):
        said = [entry["event"] for entry in events if entry["log_level"] == "warning"]
    assert any(
        sentence.startswith("The topology has changed: the store other is new in this sub-topology. ") for sentence in said
    )
    assert "The topology has changed: the store windows is not used any more; its changelog stays as it is." in said


@pytest.mark.parametrize(("key", "value", "what"), [(b"xyz", b"12345678", "key"), (b"12345678", b"xyz", "value")])
def test_a_changelog_that_a_serde_cannot_read_is_refused(drive, spark, key, value, what):
    topics, builder = TopicsInMemory(spark), StreamsBuilder()
    builder.stream("in", STRINGS).group_by(lambda k, v: F.length(v).cast("bigint")).count(Materialized.as_("counts"))
    with drive(builder, topics=topics) as driver:
        feed(driver, "in", [("1", "x", 1)])
    topics.append("app-counts-changelog", key, value, 1)
    with pytest.raises(
        Exception, match=f"The changelog app-counts-changelog holds a {what} that the long serde cannot read: was"
    ):
        drive(builder, topics=topics)


def state_of(names: list[str]) -> Context:
    """A plan in which each name is that of a store and of an operator with a stream time."""
    state = StateManager(cast(Any, None), {}, lambda store: f"app-{store}-changelog")
    state.logs.update({name: cast(Any, SimpleNamespace(signature=name[:8])) for name in names})
    return Context(state, outputs=[Output("tick", name, None, cast(Any, None)) for name in names])


def test_the_text_of_an_offset_is_one_that_a_broker_takes_however_many_stores_there_are():
    partition, names = ("in", 1), [f"count-of-orders-per-customer-and-minute-of-shop-{number}" for number in range(30)]
    stream_times = {name: {0: 1, 1: 1_700_000_000_000 + number * 977} for number, name in enumerate(names)}
    signatures = {name: hashlib.sha256(name.encode()).hexdigest()[:8] for name in names}
    written = [(name, partition_number) for name in names for partition_number in (0, 1)]
    text = offset_metadata.encode(7, partition, stream_times, written, {"s": signatures, "to": 5, "e": None})
    assert len(text) <= 4096
    metadata = offset_metadata.decoded({partition: (5, text)})
    clock = {name: {1: times[1]} for name, times in stream_times.items()}
    assert offset_metadata.stream_times(metadata, state_of(names)) == clock
    assert metadata[partition]["s"] == signatures and metadata[partition]["to"] == 5
    assert offset_metadata.stores_with_rows(metadata, state_of(names).state) == {(name, 1) for name in names}
    remaining = state_of(names[:1])  # of a topology that has one of them
    assert offset_metadata.stream_times(metadata, remaining) == {names[0]: clock[names[0]]}
    assert offset_metadata.stores_with_rows(metadata, remaining.state) == {(names[0], 1)}
    plain = json.dumps(metadata[partition])  # as an earlier version has committed it
    assert offset_metadata.decoded({partition: (5, plain)}) == metadata


def test_a_batch_has_no_number_of_another_sub_topology_whose_store_it_writes():
    topics, partition = TopicsInMemory(cast(Any, None)), ("in", 0)
    fields: dict[str, Any] = {"s": {"kept": "kept"}, "to": 7}
    for names, is_moved in ((["kept"], False), (["kept", "moved"], True)):
        metadata = offset_metadata.decoded({partition: (5, offset_metadata.encode(100, partition, {}, [], fields))})
        state = state_of(names).state
        positions = TaskPositions(topics, state.runtime, [partition], {}, ())
        positions.begin({partition: (5, "")}, metadata)
        commits = TaskCommits(0, topics, state, positions, ChangelogRefill(state, topics))
        commits.continue_after(metadata)
        assert commits.number == 100  # an interrupted batch keeps its own, by which its rows are known
        commits.begin_batch({partition: (5, 7)})
        assert (commits.number > 10**12) is is_moved and (commits.number == 101) is not is_moved
        committed = offset_metadata.decoded(topics.committed([partition]))
        commits.continue_after(committed)
        commits.begin_batch({partition: (7, 8)})
        assert commits.number == offset_metadata.batch_number(committed) + 1


A, B, C = ("a", 0), ("b", 0), ("c", 0)
INTERRUPTED: dict[str, Any] = {"n": 30, "to": 7}
HELD = {"s": {"A": "1"}}
OTHERS: dict[str, tuple[dict[tuple[str, int], dict[str, Any]], bool]] = {
    "numbers of two": ({A: {"n": 12, "to": 7, **HELD}, B: {"n": 30}}, True),
    "the same number": ({A: INTERRUPTED | HELD, B: {"n": 30, "s": {"B": "2"}}}, True),
    "the same number, and one had no stores": ({A: INTERRUPTED, B: {"n": 30, "s": {"B": "2"}}}, True),
    "a moved store with rows": ({A: INTERRUPTED | HELD}, True),
    "a moved store with rows, where there was none": ({A: INTERRUPTED, B: {"n": 30}, C: {"n": 30}}, True),
    "no batch is interrupted": ({A: {"n": 12, **HELD}, B: {"n": 30}}, False),
    "nothing has changed": ({A: INTERRUPTED | {"s": {"A": "1", "B": "2"}}, B: {"n": 30}}, False),
    "a first source that is deleted": ({B: INTERRUPTED}, False),
    "a request to shut down where nothing was committed": ({A: {"n": 0}, B: INTERRUPTED | {"s": {"A": "1", "B": "2"}}}, False),
}


@pytest.mark.parametrize("case", OTHERS)
def test_rows_that_cannot_be_told_from_those_of_an_interrupted_batch_are_refused(case):
    metadata, is_refused = OTHERS[case]
    with pytest.raises(StreamsError, match="The topology has changed while a batch") if is_refused else nullcontext():
        offset_metadata.require_known_rows(metadata, [A, B, C], ["A", "B", "new"], lambda store: store == "B")


def test_a_batch_that_was_interrupted_before_sub_topologies_were_merged_is_refused(drive, spark):
    topics = Ending(spark)

    def start(merges: bool):
        builder = StreamsBuilder()
        one, other = (builder.stream(topic, STRINGS).group_by_key().count(Materialized.as_(f"{topic}s")) for topic in "ab")
        if merges:
            one.join(other, lambda n, m: n + m).to_stream().to("out")
        return drive(builder, topics=topics)

    with start(False) as driver:
        feed(driver, "b", [("k", "1", 1)])
        topics.killed = True
        with pytest.raises(Killed):
            feed(driver, "a", [("k", "1", 1)])
    topics.killed = False
    with pytest.raises(StreamsError, match="Start the previous version"):
        start(True)
    with start(False):
        pass
    with start(True) as driver:
        assert [dict(driver.store(name).all()) for name in ("as", "bs")] == [{"k": 1}, {"k": 1}]


def test_more_stores_than_fit_are_refused_before_anything_is_read():
    context = state_of([hashlib.sha256(str(number).encode()).hexdigest() for number in range(100)])
    with pytest.raises(StreamsError, match=r"Sub-topology 3 has too many stores \(100\): .* where a broker takes 4096"):
        offset_metadata.require_fits(3, context)
