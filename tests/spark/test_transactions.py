"""Transactions of Spark writers on a real broker: whole or not at all, and only by the present owner of their ids."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from headrace.embedded import Broker
from headrace.errors import RetriableError
from headrace.kafka.transactional_ids import fence, transactional_id
from headrace.record import RecordColumns
from headrace.runtime.exactly_once import ExactlyOnce, OffsetPorts
from headrace.runtime.metrics import Metrics
from headrace.spark import failure
from headrace.spark.kafka import producer_columns
from headrace.spark.transactions import TaskTransactions
from tests.clusters import Cluster
from tests.forgetful import await_forgotten, forgetful_cluster
from tests.support import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


EXPIRED = r"InvalidPidMapping|ProducerFenced"


class Writer:
    """A task's transactions on a topic of its own, with an offset topic beside it."""

    def __init__(self, spark: SparkSession, bootstrap: str, topic: str) -> None:
        self.cluster, self.topic, self.offset_topic = Cluster(bootstrap), topic, f"{topic}-offsets"
        for name in (topic, self.offset_topic):
            self.cluster.create(name)
        self.props = {"bootstrap.servers": bootstrap, "client.id": topic}
        self.id = transactional_id("group", topic, 0)
        self.spark = spark
        self.made: list[TaskTransactions] = []

    def owner(self) -> TaskTransactions:
        """Whoever runs the task: each one that begins is its owner from then on."""
        self.made.append(TaskTransactions(self.id, self.props))
        self.made[-1].fence(self.spark)
        return self.made[-1]

    def frame(self, begin: int, end: int, bad: int | None = None) -> DataFrame:
        """Records with these numbers in two Spark partitions; `bad`: the pass fails there."""
        from pyspark.sql import functions as F

        number = F.col("id") + begin
        text = number.cast("string")
        value = F.when(number == bad, F.raise_error(F.lit("bad"))).otherwise(text) if bad else text
        record = RecordColumns(
            topic=F.lit(self.topic), key=F.lit(None).cast("binary"), value=value.cast("binary"), partition=F.lit(0)
        )  # fmt: skip
        return self.spark.range(0, end - begin, 1, 2).select(*producer_columns(record))

    def write(self, by: TaskTransactions, frame: DataFrame, end: int) -> int:
        return by.write(frame, self.props, [(self.offset_topic, b"orders", json.dumps({"offset": end}).encode())])

    def seen(self) -> list[int]:
        """What a consumer that reads committed records sees."""
        return sorted(int(r.value or b"") for r in self.cluster.read(self.topic, settled=True))

    def offsets(self) -> list[int]:
        return [json.loads(r.value or b"")["offset"] for r in self.cluster.read(self.offset_topic, settled=True)]


@pytest.fixture
def writer(spark: SparkSession, destination_broker: Broker, topic_name: Callable[[str], str]) -> Iterator[Writer]:
    made = Writer(spark, destination_broker.bootstrap, topic_name("transactions"))
    yield made
    for one in made.made:
        one.end()


def test_a_batch_is_committed_with_its_offset_and_one_without_records_stores_none(writer: Writer) -> None:
    owner = writer.owner()
    assert writer.write(owner, writer.frame(0, 10), end=9) == 10
    assert writer.write(owner, writer.frame(10, 10), end=9) == 0
    assert writer.write(owner, writer.frame(10, 11), end=10) == 1
    assert (writer.seen(), writer.offsets()) == (list(range(11)), [9, 10])


def test_of_a_transaction_that_fails_nothing_is_seen(writer: Writer) -> None:
    with pytest.raises(Exception, match="bad"):
        writer.write(writer.owner(), writer.frame(0, 10, bad=7), end=9)
    assert (writer.seen(), writer.offsets()) == ([], [])
    writer.write(writer.owner(), writer.frame(10, 20), end=19)
    assert (writer.seen(), writer.offsets()) == (list(range(10, 20)), [19])


def test_a_zombie_can_write_no_more_and_does_not_disturb_for_long(writer: Writer) -> None:
    zombie = writer.owner()
    writer.write(zombie, writer.frame(0, 4), end=3)
    successor = writer.owner()
    with pytest.raises(Exception) as refused:  # with the producers that it kept, or with new ones
        writer.write(zombie, writer.frame(100, 104), end=103)
    assert failure.is_retriable(refused.value)
    zombie.end()
    with pytest.raises(Exception) as refused:
        writer.write(zombie, writer.frame(100, 104), end=103)
    assert failure.is_retriable(refused.value)
    successor.fence(writer.spark)
    writer.write(successor, writer.frame(4, 8), end=7)
    assert writer.seen() == list(range(8))


def test_a_task_that_was_replaced_fences_off_its_successor_once_at_most(writer: Writer) -> None:
    transactions = TaskTransactions(writer.id, writer.props)
    written, read = [1], [1]  # generations of the tasks in the config topic, and those that the task's worker has read
    ports = OffsetPorts(
        is_current=lambda: read[-1] == 1,
        read_configs=lambda: read.append(written[-1]),
        fence_zombies=lambda: None,
        topic=writer.offset_topic,
        records=lambda offsets: [],
        copy_offsets=lambda offsets: None,
    )
    task = ExactlyOnce("c-0", transactions, ports, Metrics().task("c", 0, "source"))
    task.begin(writer.spark)
    writer.write(transactions, writer.frame(0, 4), end=3)
    task.end()
    task.begin(writer.spark)
    written.append(2)
    successor = writer.owner()
    task.end()
    with pytest.raises(RetriableError, match="moved or replaced"):
        task.begin(writer.spark)
    task.end()
    successor.fence(writer.spark)  # as it was fenced off itself
    with pytest.raises(RetriableError, match="moved or replaced"):
        task.begin(writer.spark)
    writer.write(successor, writer.frame(4, 8), end=7)
    assert writer.seen() == list(range(8))


def test_the_leader_fences_off_tasks_that_run_elsewhere(writer: Writer) -> None:
    zombie = writer.owner()
    writer.write(zombie, writer.frame(0, 4), end=3)
    fence(writer.props, [writer.id], 30)
    with pytest.raises(Exception) as refused:
        writer.write(zombie, writer.frame(4, 8), end=7)
    assert failure.is_retriable(refused.value)
    assert writer.seen() == list(range(4))


def test_a_run_whose_transactional_ids_have_expired_is_to_begin_again(spark: SparkSession) -> None:
    with forgetful_cluster() as cluster:
        writer = Writer(spark, cluster.bootstrap, "orders")

        def begun(begin: int, end: int) -> TaskTransactions | None:
            """Begin and write as a task does; None if its id has expired before its transaction, on a machine that is busy."""
            owner = writer.owner()
            try:
                writer.write(owner, writer.frame(begin, end), end=end - 1)
            except Exception as error:
                if not re.search(EXPIRED, str(error)):
                    raise
                return None
            return owner

        owner = wait_until(lambda: begun(0, 10), 300, "the first transaction")
        assert owner is not None
        await_forgotten(cluster)
        with pytest.raises(Exception, match=EXPIRED) as raised:
            writer.write(owner, writer.frame(10, 20), end=19)
        assert failure.is_retriable(raised.value)
        wait_until(lambda: begun(10, 20), 300, "the transaction of who begins again")
        assert writer.seen() == list(range(20))
        for one in writer.made:
            one.end()
