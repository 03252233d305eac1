"""What lanes hold when a feed, a Spark task or a target goes: nothing of it is written later, fails others, or stays open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.spark.feeds import FencedId, Target
from headrace.spark.plane import DataPlane
from tests.clusters import Cluster, record
from tests.spark.test_plane import WAIT_S, Copy, Name, fenced, filled, kill_tasks, running_tasks
from tests.support import wait_until

AWAY = {"bootstrap.servers": "127.0.0.1:1", "max.block.ms": "300000"}


@pytest.fixture
def copy(spark: SparkSession, source: Cluster, topic_name: Name) -> Iterator[Callable[..., Copy]]:
    """Makes copies whose feeds are all in one Spark task, and so in one lane where their settings are equal."""
    plane, copies = DataPlane(spark, 1), list[Copy]()

    def make(topic: str, target: str | None = None, **more: Any) -> Copy:
        if target is None:
            target = topic_name("copy")
            source.create(target)
        copies.append(Copy(plane, spark, source, (topic, target), **more))
        return copies[-1]

    yield make
    for each in copies:
        plane.forget(each.handle)
    plane.stop()


def values(begin: int, end: int) -> list[bytes]:
    return [b"%d" % number for number in range(begin, end)]


def send(cluster: Cluster, topic: str, begin: int, end: int) -> None:
    cluster.produce(topic, [record(b"k", value) for value in values(begin, end)])


def get_stuck(copy: Copy) -> None:
    """Delete the copy's topic, and have records on their way to it, the next ten of the source."""
    copy.until_copied(10)
    copy.cluster.admin.delete([copy.target])
    copy.updates.clear()
    send(copy.cluster, copy.source, 10, 20)
    copy.until(lambda u: u.counts.in_flight > 0, "records are on their way")


def come_back(copy: Copy) -> None:
    """Create the copy's topic again."""
    copy.cluster.create(copy.target)
    copy.handle.update_topic(Target(copy.target, 1, 1_048_588, True))


def producers(spark: SparkSession, name: str) -> list[str]:
    """The threads of the producers of a feed's transactions."""
    context: Any = spark.sparkContext
    threads = context._jvm.java.lang.Thread.getAllStackTraces().keySet().toArray()
    return [thread.getName() for thread in threads if thread.getName().endswith(f"| headrace-{name}")]


def test_what_was_given_up_is_not_written_later_and_other_feeds_lose_and_repeat_nothing(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topics = [filled(source, topic_name("topic")) for _ in range(3)]
    given_up, waiting, healthy = [copy(topic) for topic in topics]
    for each in (given_up, waiting):
        get_stuck(each)
    send(source, topics[2], 10, 500)
    given_up.handle.give_up()
    last = given_up.until(lambda u: u.ended, "it has ended")
    assert (last.failure, last.counts.in_flight) == (None, 0)
    source.create(given_up.target)
    come_back(waiting)
    waiting.until_copied(20)
    assert waiting.values() == values(10, 20), "what was on its way is written by the next producer"
    assert given_up.values() == []
    successor = copy(topics[0], given_up.target, offset=10)
    successor.until_copied(20)
    assert successor.values() == values(10, 20)
    healthy.until_copied(500)
    assert healthy.values() == values(0, 500)


def test_a_failed_feed_whose_records_nobody_takes_ends_and_writes_them_no_more(
    source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("topic"))
    failing = copy(topic, limit=2000)
    get_stuck(failing)
    source.produce(topic, [record(b"k", bytes(5000))])
    failed = failing.until(lambda u: u.ended, "it has ended")
    assert failed.failure is not None
    assert (failed.failure.kind, failed.counts.in_flight) == ("large", 0)
    source.create(failing.target)
    successor = copy(filled(source, topic_name("topic")), failing.target)
    successor.until_copied(10)
    assert successor.values() == values(0, 10)


def test_a_killed_task_of_spark_fails_no_feed_whose_target_does_not_answer(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    waiting = copy(filled(source, topic_name("topic")))
    get_stuck(waiting)
    killed = set(kill_tasks(spark, waiting.plane))
    wait_until(lambda: not killed & set(running_tasks(spark)), WAIT_S, "they have ended")
    come_back(waiting)
    waiting.until_copied(20)
    assert waiting.values() == values(10, 20)
    assert waiting.end().failure is None


def test_feeds_that_wait_for_a_cluster_that_is_away_hold_up_no_commit_to_another_one(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("topic"))
    for _ in range(20):
        copy(topic, producer=AWAY, transactions=FencedId(topic_name("id"), 1, 0))
    healthy = copy(topic, transactions=fenced(spark, source, topic_name("id")))
    healthy.until_copied(10)
    assert healthy.end().failure is None


def test_a_feed_that_is_removed_before_its_transactional_id_is_its_own_takes_it_no_more(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    late = copy(filled(source, topic_name("topic")), producer=AWAY, transactions=FencedId(topic_name("id"), 1, 0))
    name = f"{late.target}-0"
    wait_until(lambda: producers(spark, name), WAIT_S, "its producer")
    assert late.end().failure is None
    wait_until(lambda: not producers(spark, name), WAIT_S, lambda: f"its producer is closed: {producers(spark, name)}")


def test_the_producers_of_transactions_are_closed_with_a_killed_task_of_spark(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    exact = copy(filled(source, topic_name("topic")), transactions=fenced(spark, source, topic_name("id")))
    exact.until_copied(10)
    name = f"{exact.target}-0"
    assert len(producers(spark, name)) == 1
    kill_tasks(spark, exact.plane)
    exact.until(lambda u: u.ended, "it has ended")
    wait_until(lambda: not producers(spark, name), WAIT_S, lambda: f"its producers are closed: {producers(spark, name)}")


def test_a_failed_feed_whose_last_commit_fails_too_leaves_no_producer(
    spark: SparkSession, source: Cluster, copy: Callable[..., Copy], topic_name: Name
) -> None:
    topic = filled(source, topic_name("topic"))
    settings = {"bootstrap.servers": source.bootstrap, "max.block.ms": "2000"}
    failing = copy(topic, limit=2000, producer=settings, transactions=fenced(spark, source, topic_name("id")))
    failing.until_copied(10)
    source.admin.delete([failing.target])
    source.produce(topic, [record(b"k", b"stuck"), record(b"k", bytes(5000))])
    failed = failing.until(lambda u: u.ended, "it has ended").failure
    assert failed is not None
    name = f"{failing.target}-0"
    wait_until(lambda: not producers(spark, name), WAIT_S, lambda: f"its producer is closed: {producers(spark, name)}")
