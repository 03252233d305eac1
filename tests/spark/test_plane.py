"""The data plane: feeds that share lanes, and what fails in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.embedded import Broker
from headrace.errors import ConnectError
from headrace.runtime.feed_settings import lane_consumer, lane_producer
from headrace.runtime.tolerance import FailedRecord
from headrace.spark.feeds import Feed, FeedPartition, FencedId, Target, Update
from headrace.spark.plane import DataPlane, Handle, cores, cpu_quota, data_plane, lane_tasks, plan_of, running_planes
from headrace.spark.plane import columns as lane_columns
from headrace.spark.transactions import TaskTransactions
from tests.clusters import Cluster, record
from tests.kafka_source.test_faults import silent
from tests.support import captured_logs, wait_until

WAIT_S = 180
Name = Callable[[str], str]


class Copy:
    """A feed from a topic of one partition to another one, and what it has said."""

    def __init__(self, plane: DataPlane, spark: SparkSession, cluster: Cluster, names: tuple[str, str], **more: Any) -> None:
        self.plane, self.cluster, self.source, self.target = plane, cluster, *names
        value: Column | None = more.pop("value", None)
        limit = more.pop("limit", 1_048_588)
        settings = {"bootstrap.servers": cluster.bootstrap}
        feed = Feed(
            name=f"{self.target}-0",
            consumer=lane_consumer(more.pop("consumer", settings)),
            producer=lane_producer(more.pop("producer", settings), None),
            partitions=[FeedPartition(self.source, 0, more.pop("offset", 0), self.source)],
            targets=[Target(self.target, 1, limit, True)] if more.pop("known", True) else [],
            **more,
        )
        self.handle: Handle = plane.add(feed, plan_of(chain(lane_columns(spark), self.target, value)))
        self.updates: list[Update] = []

    def until(self, condition: Callable[[Update], object], what: str) -> Update:
        """Take updates until one of them says this."""

        def found() -> Update | None:
            update = self.handle.update(0.1)
            if update is not None:
                self.updates.append(update)
            return next((u for u in self.updates if condition(u)), None)

        answer = wait_until(found, WAIT_S, lambda: f"{what}; {self.updates[-3:]}")
        assert answer is not None
        return answer

    def until_copied(self, end: int) -> None:
        self.until(lambda u: any(p.next >= end for p in u.partitions), f"{end} records are acknowledged")

    def end(self) -> Update:
        self.handle.remove()
        return self.until(lambda u: u.ended, "the feed has ended")

    def values(self) -> list[bytes | None]:
        return [r.value for r in self.cluster.read(self.target)]


def chain(frame: DataFrame, target: str, value: Column | None) -> DataFrame:
    """All records to one topic."""
    none = F.lit(None).cast("string")
    return frame.select(
        F.lit(target).alias("topic"),
        frame["partition"],
        F.unix_millis(frame["timestamp"]).alias("timestamp"),
        frame["key"],
        (frame["value"] if value is None else value).alias("value"),
        frame["headers"],
        none.alias("failure"),
    )


@pytest.fixture
def copy(spark: SparkSession, source: Cluster, topic_name: Name) -> Iterator[Callable[..., Copy]]:
    plane, made = data_plane(spark), list[Copy]()

    def make(topic: str, **more: Any) -> Copy:
        target, configs = more.pop("target", None), more.pop("configs", None)
        if target is None:
            source.create(target := topic_name("copy"), configs=configs)
        made.append(Copy(plane, spark, source, (topic, target), **more))
        return made[-1]

    yield make
    for one in made:
        plane.forget(one.handle)


def filled(source: Cluster, topic: str, count: int = 10) -> str:
    source.create(topic)
    source.produce(topic, [record(b"k", b"%d" % n) for n in range(count)])
    return topic


def running_tasks(spark: SparkSession) -> list[int]:
    """The ids of Spark's tasks that run."""
    context: Any = spark.sparkContext
    scala = context._jsc.sc()
    tracker = scala.statusTracker()
    found = []
    for stage in list(tracker.getActiveStageIds()):
        tasks = scala.statusStore().taskList(stage, tracker.getStageInfo(stage).get().currentAttemptId(), 100)
        found += [tasks.apply(n) for n in range(tasks.size())]
    return [task.taskId() for task in found if task.status() == "RUNNING"]


def kill_tasks(spark: SparkSession, plane: DataPlane) -> list[int]:
    """Kill Spark's tasks, those of this plane and of the process's among them, and return their ids."""
    context: Any = spark.sparkContext
    count = sum(each.tasks for each in {plane, *running_planes()})

    def all_tasks() -> list[int] | None:
        tasks = running_tasks(spark)
        return tasks if len(tasks) >= count else None

    tasks = wait_until(all_tasks, WAIT_S, f"{count} tasks, of which Spark tells a little after their start")
    assert tasks is not None
    for task in tasks:
        context._jsc.sc().killTaskAttempt(task, True, "the test")
    return tasks


def test_two_feeds_read_the_same_partition_each_in_a_lane_of_its_own(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("shared"))
    copies = [copy(topic), copy(topic, offset=4)]
    for one in copies:
        one.until_copied(10)
    assert [one.values() for one in copies] == [[b"%d" % n for n in range(first, 10)] for first in (0, 4)]
    for one in copies:
        assert one.end().failure is None


def test_a_chain_that_throws_fails_its_feed_at_that_record_and_no_other(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("throws"))
    bad = F.when(F.col("offset") == 6, F.raise_error(F.lit("no such value")).cast("binary")).otherwise(F.col("value"))
    failing, healthy = copy(topic, value=bad), copy(topic)
    failed = failing.until(lambda u: u.ended, "it has failed").failure
    assert failed is not None
    assert (failed.kind, failed.place) == ("error", f"topic={topic}, partition=0, offset=6")
    assert "no such value" in failed.message
    assert failing.values() == [b"%d" % n for n in range(6)], "what precedes it is delivered"
    assert max(p.next for u in failing.updates for p in u.partitions) == 6
    healthy.until_copied(10)
    source.produce(topic, [record(b"k", b"later")])
    healthy.until_copied(11)
    assert healthy.values()[-1] == b"later"


def test_a_record_larger_than_its_topic_takes_fails_its_feed_before_it_is_sent(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("large"), 3)
    source.produce(topic, [record(b"k", bytes(5000)), record(b"k", b"after")])
    one = copy(topic, limit=2000)
    failed = one.until(lambda u: u.ended, "it has failed").failure
    assert failed is not None
    assert (failed.kind, failed.target, failed.size) == ("large", one.target, 5001)
    assert failed.place == f"topic={topic}, partition=0, offset=3"
    assert one.values() == [b"0", b"1", b"2"]


def test_records_that_the_broker_refuses_are_skipped_where_that_is_tolerated_and_those_of_their_batch_are_written(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("refused"), 3)
    source.produce(topic, [record(None, b"no key"), record(b"k", bytes(5000)), record(b"k", b"5"), record(None, b"no key")])
    producer = {"bootstrap.servers": source.bootstrap, "batch.size": "2000"}
    configs = {"cleanup.policy": "compact", "max.message.bytes": "2000"}
    one = copy(topic, producer=producer, skips_refused=True, configs=configs, known=False)
    one.until(lambda u: u.topics, "it asks for the topic")
    one.handle.update_topic(Target(one.target, 1, 2000, True))
    one.until_copied(7)
    update = one.end()
    assert (update.failure, update.counts.failed) == (None, 3)
    failed = [FailedRecord.parse(report) for update in one.updates for report in update.failures]
    assert sorted((f.origin["offset"], f.java_class.rpartition(".")[2]) for f in failed) == [
        ("3", "InvalidRecordException"), ("4", "RecordTooLargeException"), ("6", "InvalidRecordException"),
    ]  # fmt: skip
    assert list(dict.fromkeys(one.values())) == [b"0", b"1", b"2", b"5"]


def test_a_record_that_the_broker_refuses_is_named_and_ends_no_other_feed_of_its_topic(
    source: Cluster, copy: Callable[..., Copy], spark: SparkSession, topic_name: Name
) -> None:
    good, bad = filled(source, topic_name("good")), filled(source, topic_name("bad"))
    source.produce(bad, [record(None, b"no key")])
    producer = {"bootstrap.servers": source.bootstrap, "linger.ms": "1000"}  # records of both are in one batch
    failing = copy(bad, producer=producer, known=False, configs={"cleanup.policy": "compact"})
    for _ in range(data_plane(spark).tasks - 1):
        copy(good)  # so that the next one is in the same lane
    healthy = copy(good, producer=producer, known=False, target=failing.target)
    for one in (failing, healthy):
        one.until(lambda u: u.topics, "it asks for the topic")
    for one in (failing, healthy):
        one.handle.update_topic(Target(one.target, 1, 1_048_588, True))
    failed = failing.until(lambda u: u.ended, "it has failed").failure
    assert failed is not None
    assert failed.java_class == "org.apache.kafka.common.InvalidRecordException"
    assert failed.place == f"topic={bad}, partition=0, offset=10"
    healthy.until_copied(10)
    assert healthy.end().failure is None


def test_records_wait_for_a_topic_that_is_not_known_and_come_in_order_then(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("waits"))
    one = copy(topic, known=False)
    assert one.until(lambda u: u.topics, "it asks for the topic").topics == {one.target}
    assert one.values() == []
    one.handle.update_topic(Target(one.target, 1, 1_048_588, True))
    one.until_copied(10)
    assert one.values() == [b"%d" % n for n in range(10)]
    assert one.until(lambda u: u.written, "the topic is in use").written == {one.target}


def test_a_source_topic_that_is_not_there_any_more_or_too_short_fails_its_feed_alone(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("short"))
    beyond, healthy = copy(topic, offset=99), copy(topic)
    failed = beyond.until(lambda u: u.ended, "it has failed").failure
    assert failed is not None
    assert failed.java_class == "org.apache.kafka.clients.consumer.OffsetOutOfRangeException"
    healthy.until_copied(10)


@pytest.mark.parametrize("side", ["consumer", "producer"])
def test_a_feed_whose_cluster_is_away_touches_no_other(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name, side: str
) -> None:
    topic = filled(source, topic_name("away"))
    waiting, healthy = copy(topic, **{side: {"bootstrap.servers": "127.0.0.1:1"}}), copy(topic)
    healthy.until_copied(10)
    source.produce(topic, [record(b"k", b"later")])
    healthy.until_copied(11)
    assert not [u.failure for u in iter(lambda: waiting.handle.update(0.0), None) if u.failure], "it waits"
    assert waiting.values() == []
    assert healthy.end().failure is None
    waiting.end()


def test_killed_tasks_of_spark_lose_nothing_and_copy_nothing_twice(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("killed"), 100)
    one = copy(topic)
    one.until_copied(100)
    before = kill_tasks(spark, one.plane)
    source.produce(topic, [record(b"k", b"%d" % n) for n in range(100, 200)])
    one.until_copied(200)
    assert one.values() == [b"%d" % n for n in range(200)], "each once, in order"
    assert one.until(lambda u: u.counts.written == 200, "what earlier attempts have written is counted").counts.read == 200
    assert max(partition.records for update in one.updates for partition in update.partitions) == 200
    wait_until(lambda: not set(before) & set(running_tasks(spark)), WAIT_S, "they have ended")
    assert one.end().failure is None


def test_feeds_that_are_being_prepared_when_spark_kills_its_tasks_are_read_by_the_next_ones(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("killed"))
    copies = [copy(topic, value=F.concat(F.col("value"), F.lit(str(n)).cast("binary"))) for n in range(6)]  # each is compiled
    kill_tasks(spark, copies[0].plane)
    for one in copies:
        one.until_copied(10)
        assert one.end().failure is None


def fenced(spark: SparkSession, cluster: Cluster, name: str) -> FencedId:
    transactions = TaskTransactions(name, {"bootstrap.servers": cluster.bootstrap})
    transactions.fence(spark)
    return transactions.fenced_id


def test_with_transactions_a_killed_task_of_spark_ends_its_feeds_whose_offsets_are_read_again(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("killed"), 100)
    one = copy(topic, transactions=fenced(spark, source, topic_name("id")))
    one.until_copied(100)
    kill_tasks(spark, one.plane)
    failed = one.until(lambda u: u.ended, "it has failed").failure
    assert failed is not None
    assert failed.java_class == "org.apache.kafka.common.errors.ProducerFencedException"
    assert "came in between" in failed.message


def test_with_transactions_nothing_is_written_from_offsets_that_another_owner_of_the_id_may_have_passed(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic, name = filled(source, topic_name("owned")), topic_name("id")
    late = fenced(spark, source, name)
    newer = copy(topic, transactions=fenced(spark, source, name))
    newer.until_copied(10)
    older = copy(topic, transactions=late)
    failed = older.until(lambda u: u.ended, "it has failed").failure
    assert failed is not None
    assert failed.java_class == "org.apache.kafka.common.errors.ProducerFencedException"
    assert older.values() == []


def test_a_feed_whose_target_is_slow_is_paused_with_a_bounded_number_of_bytes_in_flight(
    source: Cluster, destination: Cluster, destination_broker: Broker, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("slow"))
    slow = copy(topic, producer={"bootstrap.servers": destination.bootstrap})
    destination.create(slow.target)
    slow.until_copied(10)
    size, count, most = 100_000, 550, 33 << 20  # beyond the limit of a lane, within the producer's memory
    with silent(destination_broker):
        source.produce(topic, [record(b"k", b"%0*d" % (size, number)) for number in range(count)])
        slow.until(lambda u: u.counts.paused and u.counts.paused_ms > 0, "it is paused")
    slow.until_copied(10 + count)
    flows = slow.until(
        lambda u: u.counts.read == 10 + count and not u.counts.in_flight and not u.counts.paused, "it flows, nothing is in flight"
    )
    assert flows.counts.paused_ms > 0
    assert size < max(u.counts.in_flight for u in slow.updates) < most < size * count
    assert [int((r.value or b"")[-5:]) for r in destination.read(slow.target)] == [*range(10), *range(count)]


def test_a_plan_that_does_not_go_record_by_record_is_named(spark: SparkSession) -> None:
    frame = lane_columns(spark)
    assert plan_of(frame.groupBy("topic").count()) == "Aggregate"
    upper = F.udf(lambda text: text.upper())
    assert "Python" in plan_of(frame.select(upper("topic")))


@pytest.mark.parametrize(
    ("master", "parallelism", "tasks"),
    [
        ("local[2]", 1, 1),
        (f"local[{2 * cores()}]", 1, cores()),
        ("local[64,3]", 1, cores()),
        ("spark://host:7077", 8, 4),
        ("local-cluster[2,1,1024]", 2, 1),
    ],
)
def test_lanes_leave_task_slots_to_other_jobs(master: str, parallelism: int, tasks: int) -> None:
    assert lane_tasks(master, parallelism) == tasks


@pytest.mark.parametrize(
    ("files", "processors"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({}, None),
    ],
)
def test_the_cpu_quota_of_a_container_bounds_the_processors(
    tmp_path: Path, files: dict[str, str], processors: int | None
) -> None:
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert cpu_quota(tmp_path) == processors


@pytest.mark.parametrize("master", ["local", "local[1]"])
def test_a_session_with_one_task_slot_is_refused(master: str) -> None:
    with pytest.raises(ConnectError, match=r"has one task slot, and the data plane holds one for good"):
        lane_tasks(master, 1)


def test_a_plane_without_task_slots_says_so(spark: SparkSession) -> None:
    with captured_logs() as events:
        plane = DataPlane(spark, 64, slots_wait_s=0)
        try:
            wait_until(lambda: [e for e in events if e["event"] == "data-plane.slots.missing"], WAIT_S, "the warning")
        finally:
            plane.stop()
    (started,) = [e for e in events if e["event"] == "data-plane.started"]
    assert (started["tasks"], started["master"]) == (64, spark.sparkContext.master)
    (warning,) = [e for e in events if e["event"] == "data-plane.slots.missing"]
    assert (warning["log_level"], warning["tasks"]) == ("warning", 64)
    assert warning["started"] < 64
