"""What a task of a source connector still does once it was cut off: nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from headrace.connect_config.common import SourceConnectorConfig
from headrace.connectors.base import Offsets, Poll, PollingSourceTask, Progress, SourcePartition, StoredOffsets, TaskContext
from headrace.connectors.feed import FeedSource, FeedTask
from headrace.kafka.groups import Partition
from headrace.record import RecordColumns
from headrace.runtime.delivery import Ports
from headrace.runtime.metrics import Metrics
from headrace.runtime.plan import plan_source_task
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.stream_mode import StreamMode
from headrace.runtime.worker_source_task import SourceDependencies, WorkerSourceTask
from headrace.spark.destination_topic import DestinationTopic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JSON = "org.apache.kafka.connect.json.JsonConverter"
WORKER = StandaloneConfig(
    {
        "bootstrap.servers": "127.0.0.1:1",
        "key.converter": JSON,
        "value.converter": JSON,
        "value.converter.schemas.enable": "false",
        "offset.storage.file.filename": "/o",
    }
)
IN_BATCHES = {
    "transforms": "mine",
    "transforms.mine.type": "tests.transforms.own_plugins.Doubled",
    "source.value.converter": JSON,
    "source.value.converter.schemas.enable": "false",
}
PARTITION: SourcePartition = {"topic": "t", "partition": 0}


def records(spark: SparkSession) -> DataFrame:
    columns = ("'t' AS topic", "0 AS partition", "id AS offset", "CAST(NULL AS binary) AS key", "binary('{\"n\": 1}') AS value")
    return spark.range(2).selectExpr(*columns)


def columns(frame: DataFrame) -> RecordColumns:
    origin = {name: frame[name] for name in ("topic", "partition", "offset")}
    return RecordColumns(frame["topic"], frame["key"], frame["value"], key_kind="bytes", value_kind="bytes", origin=origin)


class Fed(FeedTask):
    """A feed; `reading` is called when a batch is planned."""

    reading: Callable[[], None]

    def start(self, props: Mapping[str, str | None]) -> None: ...

    def partitions(self) -> list[SourcePartition]:
        return [PARTITION]

    def offsets(self, ends: Mapping[Partition, int]) -> Offsets:
        return [(PARTITION, {"offset": end}) for end in ends.values()]

    def open(self, stored: StoredOffsets) -> FeedSource:
        def read(spark: SparkSession, ranges: Mapping[Partition, tuple[int, int]]) -> DataFrame:
            self.reading()
            return records(spark)

        return FeedSource({("t", 0): 0}, {}, columns, lambda topic: topic, read_batch=read)

    def ends(self, positions: Mapping[Partition, int]) -> Mapping[Partition, int]:
        return {("t", 0): 2}


class Polled(PollingSourceTask):
    """A polled task; `reading` is called when a batch is planned."""

    reading: Callable[[], None]

    def start(self, props: Mapping[str, str | None]) -> None: ...

    def partitions(self) -> list[SourcePartition]:
        return [PARTITION]

    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll:
        self.reading()
        frame = records(spark)
        return Poll(frame, columns(frame), Progress([(PARTITION, {"offset": 2})], frozenset(["t"]), "t-0"))


@dataclass
class Reached:
    """Keeps what a task asked for."""

    calls: list[str] = field(default_factory=list)

    def ports(self) -> Ports:
        def called(name: str, answer: Any = None) -> Callable[..., Any]:
            return lambda *_: (self.calls.append(name), answer)[1]

        return Ports(
            missing_topics=called("missing_topics", set()),
            ensure_topics=called("ensure_topics"),
            renew_topics=called("renew_topics", set()),
            ensure_dead_letters=called("ensure_dead_letters"),
            is_active=lambda _: False,
            record_active=called("record_active"),
            look_up=called("look_up", DestinationTopic(1, None)),
            store_offsets=called("store_offsets"),
        )


@pytest.mark.parametrize(("task", "config"), [(Fed(TaskContext("c", 0)), IN_BATCHES), (Polled(TaskContext("c", 0)), {})])
def test_the_batch_in_flight_of_a_task_that_was_cut_off_runs_no_further_job(
    spark: SparkSession, task: Fed | Polled, config: Mapping[str, str]
) -> None:
    reached, modes = Reached(), list[StreamMode]()
    settings = SourceConnectorConfig({"name": "c", "connector.class": "C", "producer.override.max.block.ms": "100", **config})
    needs = SourceDependencies(
        spark=lambda: spark,
        ports=reached.ports(),
        read_offsets=lambda partitions: StoredOffsets([]),
        recorder=Metrics().task("c", 0, "source"),
        record_losses=lambda losses: None,
        streams=modes.append,
    )
    work = WorkerSourceTask(plan_source_task("c", 0, settings, {}, WORKER), task, needs)
    task.reading = work.cut_off
    with ThreadPoolExecutor(1) as thread, pytest.raises(Exception, match="cancelled"):  # jobs of this thread go on
        thread.submit(work.once).result()
    assert not reached.calls
