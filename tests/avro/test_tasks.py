"""The chains of tasks with a registry: batches of sources and sinks, and what ends or delays a task."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headrace.connect_config.common import SourceConnectorConfig
from headrace.converters.base import load
from headrace.converters.typed_column import TypedColumn
from headrace.errors import ConnectError
from headrace.record import RecordColumns
from headrace.runtime.chain import SourceChain
from headrace.runtime.plan import plan_source_task
from headrace.runtime.worker_config import WorkerConfig
from headrace.testing.registry import SchemaRegistry
from tests.avro.chains import AVRO, props
from tests.avro.test_data import deserialized

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
    registered_converter, fields = converter(registry, max_schemas_per_subject="5000"), range(200)
    struct = '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"f%d"}],"optional":false}'
    requests = [json.dumps({"topic": "orders", "schema": struct % n}) for n in fields]
    registered_converter.learn(requests)
    ids = [str(version.schema.id) for version in registry.store.subjects["orders-value"]]
    assert len(ids) == len(set(ids)) == 200
    for _ in range(2):
        registered_converter.look_up(ids)
    assert len(registry.requests) == 3 * 200  # to register, to read, and where each is registered


def test_a_batch_with_more_schemas_than_a_plan_may_have_ends_the_task_with_a_sentence(
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


def test_a_column_without_a_registry_asks_for_nothing() -> None:
    column = TypedColumn("bytes")
    column.look_up(["1"])
    column.learn(["x"])
    assert not column.registers
