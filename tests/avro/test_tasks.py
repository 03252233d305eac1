"""The chains of tasks with a registry: batches of sources and sinks, and what ends or delays a task."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headrace.connect_config.common import SinkConnectorConfig, SourceConnectorConfig
from headrace.connectors.base import TaskContext
from headrace.connectors.sink import SinkBatch, SinkTask
from headrace.converters.base import load
from headrace.converters.typed_column import TypedColumn
from headrace.errors import ConnectError
from headrace.record import HEADERS_TYPE, RecordColumns
from headrace.runtime.chain import SourceChain
from headrace.runtime.metrics.events import Batch
from headrace.runtime.plan import plan_source_task
from headrace.runtime.record_counts import RecordCounts
from headrace.runtime.sink.chain import SinkChain
from headrace.runtime.sink.delivery import SinkBatchRange, SinkDelivery, SinkPorts
from headrace.runtime.sink.plan import plan_sink_task
from headrace.runtime.worker_config import WorkerConfig
from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import AVRO, props
from tests.avro.test_data import deserialized

if TYPE_CHECKING:
    from headrace.runtime.metrics import TaskRecorder

WORKER = WorkerConfig({
    "bootstrap.servers": "localhost:1", "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
})  # fmt: skip


def test_the_schemas_of_a_batch_are_registered_before_it_is_written(spark: SparkSession, registry: SchemaRegistry) -> None:
    config = {**props(registry), "name": "lines", "connector.class": "FileStreamSource", "topic": "lines", "file": "x",
              "transforms": "r", "transforms.r.type": "RegexRouter", "transforms.r.regex": "(.).*",
              "transforms.r.replacement": "to-$1"}  # fmt: skip
    frame = spark.createDataFrame([("a1", 1), ("a2", 2), ("b1", 3)], "topic string, n int")
    record = RecordColumns(topic=frame["topic"], key=F.lit(None), value=frame["n"], key_kind="null",
                           value_kind=frame.schema["n"].dataType, origin={})  # fmt: skip
    chain = SourceChain(plan_source_task("lines", 0, SourceConnectorConfig(config), config, WORKER), record)
    assert chain.learns
    incoming = chain.incoming(frame)
    chain.learn(incoming)
    rows = chain.outgoing(incoming).where("failure IS NULL").collect()
    assert sorted((row["topic"], deserialized(registry, bytes(row["value"]))) for row in rows) == [
        ("to-a", 1), ("to-a", 2), ("to-b", 3),
    ]  # fmt: skip
    assert sorted(registry.store.subjects) == ["to-a-value", "to-b-value"]
    asked = len(registry.requests)
    chain.learn(incoming)
    assert len(registry.requests) == asked  # nothing is new


def converter(registry: SchemaRegistry, **settings: str) -> Any:
    options = {"schema.registry.url": registry.url, "max.retries": "0", **{k.replace("_", "."): v for k, v in settings.items()}}
    return load(AVRO, options, is_key=False)


@pytest.mark.slow
def test_hundreds_of_schemas_are_asked_for_once_each(registry: SchemaRegistry) -> None:
    registry.store.levels[None] = "NONE"
    registered_converter, fields = converter(registry, max_schemas_per_subject="1"), range(200)  # it limits a cache only
    struct = '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"f%d"}],"optional":false}'
    requests = [json.dumps({"topic": "orders", "schema": struct % n}) for n in fields]
    registered_converter.learn(requests)
    ids = [str(version.schema.id) for version in registry.store.subjects["orders-value"]]
    assert len(ids) == len(set(ids)) == 200
    for _ in range(2):
        registered_converter.look_up(ids)
    assert len(registry.requests) == 3 * 200  # to register, to read, and where each is registered


def test_more_schemas_than_a_plan_may_have_end_a_task_whose_batches_cannot_be_split(
    spark: SparkSession, registry: SchemaRegistry
) -> None:
    read = {"source.value.converter": AVRO, "source.value.converter.schema.registry.url": registry.url}
    config = {**read, "name": "m", "connector.class": "KafkaSource", "source.bootstrap.servers": "localhost:1",
              "source.topic.whitelist": "t"}  # fmt: skip
    frame = spark.range(505).selectExpr("'t' AS topic", "concat(X'00', unhex(lpad(hex(id + 1), 8, '0')), X'02') AS value")
    record = RecordColumns(topic=frame["topic"], key=F.lit(None), value=frame["value"], key_kind="null", value_kind="bytes",
                           origin={})  # fmt: skip
    chain = SourceChain(plan_source_task("m", 0, SourceConnectorConfig(config), config, WORKER), record)
    with pytest.raises(ConnectError, match=r"A batch has records of 501 different schemas.*max.poll.records=500"):
        chain.learn(chain.incoming(frame))


@dataclass
class Collecting(SinkTask):
    """Collects what it is given."""

    context: TaskContext
    batches: list[tuple[int, Any, list[Any]]] = field(default_factory=list)

    def put(self, batch: SinkBatch) -> None:
        self.batches.append((batch.id, batch.offsets, [(row["offset"], bytes(row["value"])) for row in batch.frame.collect()]))


def test_a_batch_of_too_many_schemas_for_one_plan_is_delivered_as_several(
    spark: SparkSession, registry: SchemaRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.runtime.chain._MAX_SCHEMAS_PER_BATCH", 2)
    registry.store.levels[None] = "NONE"
    ids = [registry.register("t-value", {"type": "record", "name": f"R{n}", "fields": []}) for n in range(8)]
    rows = [("t", n % 2, n // 2, b"\0" + id.to_bytes(4)) for n, id in enumerate(ids)]
    frame = spark.createDataFrame(rows, "topic string, partition int, offset bigint, value binary").selectExpr(
        "*", "cast(NULL as binary) AS key", f"cast(NULL as {HEADERS_TYPE}) AS headers", "current_timestamp() AS timestamp"
    )
    config = {**props(registry), "name": "s", "connector.class": "FileStreamSink", "topics": "t", "file": "x"}
    plan = plan_sink_task(TaskContext("s", 0), SinkConnectorConfig(config), config, WORKER)
    task, commits, counted = Collecting(TaskContext("s", 0)), [], []
    ports = SinkPorts(
        commit_offsets=lambda _, offsets: commits.append(dict(offsets)), ensure_dead_letters=lambda *_: None,
        message_limits=lambda _: None,
        is_active=lambda _: True, record_active=lambda _: None, are_available=lambda _: True,
        recorder=cast("TaskRecorder", SimpleNamespace(record=counted.append)), streams=lambda _: None,
    )  # fmt: skip
    counts = RecordCounts(spark)
    chain = SinkChain(plan, plan.converters, frame, counts)
    ends = {("t", 0): 4, ("t", 1): 4}
    ranges = {partition: (0, end) for partition, end in ends.items()}
    covered = SinkBatchRange(ranges, None, {}, ends | {("t", 2): 7}, dict.fromkeys(ends, 0) | {("t", 2): 7}, {"t": "id"})
    SinkDelivery(plan, task, ports)(chain.incoming(counts.reading(frame)), chain, covered)
    sizes = [len(values) for _, _, values in task.batches]
    assert sum(sizes) == 8 and max(sizes) <= 4
    assert task.batches[0][0] == covered.id and len({id for id, _, _ in task.batches}) == len(sizes)
    delivered: dict[tuple[str, int], list[int]] = {partition: [] for partition in ends}
    for _, offsets, values in task.batches:
        assert len(values) == sum(end - start for start, end in offsets.values())
        for partition, (start, end) in offsets.items():
            delivered[partition] += range(start, end)
    assert delivered == {partition: [*range(4)] for partition in ends}  # in the order of the offsets
    assert len({value for _, _, values in task.batches for _, value in values}) == 8
    uses = cast("Any", plan.converters.value).uses.all()
    assert ("t", "t-value") in {(use.topic, use.subject) for use in uses}  # no topic for those that came many at once
    assert commits[-1] == ends | {("t", 2): 7}
    assert {key: end for commit in commits[:-1] for key, end in commit.items()} == {("t", 0): 4}  # the last commit has the rest
    assert [(event.read, event.written) for event in counted if isinstance(event, Batch)] == [(n, n) for n in sizes]


def test_a_column_without_a_registry_asks_for_nothing() -> None:
    column = TypedColumn("bytes")
    column.look_up(["1"])
    column.learn(["x"])
    assert not column.registers
