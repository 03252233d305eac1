"""A write that is cut off leaves nothing behind that arrives later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from headrace.embedded import Broker
from headrace.record import RecordColumns
from headrace.spark.kafka import producer_columns, write
from tests.clusters import Cluster
from tests.support import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def one_record(spark: SparkSession, topic: str, value: str) -> DataFrame:
    from pyspark.sql import functions as F

    record = RecordColumns(topic=F.lit(topic), key=F.lit(None).cast("binary"), value=F.lit(value).cast("binary"))
    return spark.range(1).select(*producer_columns(record))


def test_a_write_that_is_cut_off_does_not_arrive_when_its_topic_is_back(
    spark: SparkSession, destination_broker: Broker, topic_name: Callable[[str], str]
) -> None:
    topic, cluster = topic_name("cut-off"), Cluster(destination_broker.bootstrap)
    producer = {"bootstrap.servers": destination_broker.bootstrap, "client.id": topic}
    cluster.create(topic, 1)
    write(one_record(spark, topic, "before"), producer)
    cluster.admin.delete([topic])
    ended = threading.Event()

    def hanging() -> None:
        spark.sparkContext.setJobGroup(topic, topic, interruptOnCancel=True)
        with pytest.raises(Exception, match="cancelled"):
            write(one_record(spark, topic, "cut off"), producer)
        ended.set()

    thread = threading.Thread(target=hanging)
    thread.start()
    wait_until(lambda: spark.sparkContext.statusTracker().getJobIdsForGroup(topic), 120, "the write has begun")
    ended.wait(1)  # time for the record to get into the producer
    spark.sparkContext.cancelJobGroup(topic)
    assert ended.wait(120)
    thread.join()
    cluster.create(topic, 1)
    write(one_record(spark, topic, "after"), producer)
    ended_again = threading.Event()
    ended_again.wait(3)  # what must not come has this long to come
    assert [record.value for record in cluster.read(topic)] == [b"after"]
