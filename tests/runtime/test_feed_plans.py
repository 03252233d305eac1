"""Feeds whose chains are the same share one plan, and no others."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from headrace.connect_config.common import SourceConnectorConfig
from headrace.connectors.feed import FeedSource
from headrace.record import RecordColumns
from headrace.runtime.feed_plans import FeedPlans, source_plans
from headrace.runtime.plan import plan_source_task
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.testing.registry import SchemaRegistry

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
WORKER = StandaloneConfig({"key.converter": BYTES, "value.converter": BYTES, "offset.storage.file.filename": "/o"})
ROUTED = {"transforms": "r", "transforms.r.type": "org.apache.kafka.connect.transforms.RegexRouter",
          "transforms.r.regex": "(.*)", "transforms.r.replacement": "to-$1"}  # fmt: skip


def record(frame: DataFrame) -> RecordColumns:
    return RecordColumns(topic=frame["destination"], key=frame["key"], value=frame["value"], key_kind="bytes", value_kind="bytes",
                         origin={part: frame[part] for part in ("topic", "partition", "offset")})  # fmt: skip


SOURCE = FeedSource(positions={}, consumer={}, record=record, destination=lambda topic: topic, record_key="bytes")


def plans(spark: SparkSession, name: str, config: Mapping[str, str], source: FeedSource = SOURCE) -> FeedPlans:
    settings = SourceConnectorConfig({"name": name, "connector.class": "C", **config})
    return source_plans(spark, plan_source_task(name, 0, settings, {}, WORKER), source)


def test_connectors_with_equal_chains_have_one_plan_whatever_their_names_and_prefixes(spark: SparkSession) -> None:
    others = [replace(SOURCE, destination=lambda topic, n=n: f"m{n}.{topic}") for n in range(8)]
    with ThreadPoolExecutor(8) as pool:  # tasks start side by side
        made = list(pool.map(lambda n: plans(spark, f"m{n}", ROUTED, others[n]).first(), range(8)))
    assert all(plan is made[0] for plan in made)


def test_what_makes_a_chain_another_one_makes_another_plan(spark: SparkSession) -> None:
    letters = {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": "letters"}
    configs: list[dict[str, str]] = [
        {}, ROUTED, {**ROUTED, "transforms.r.replacement": "from-$1"}, letters,
        {**letters, "errors.deadletterqueue.context.headers.enable": "true"},
    ]  # fmt: skip
    made: list[Any] = [plans(spark, "a", config).first() for config in configs]
    made.append(plans(spark, "b", configs[-1]).first())  # its dead letters say which connector it is
    made.append(plans(spark, "a", {}, replace(SOURCE, record_key="text")).first())
    assert len({id(plan) for plan in made}) == len(made)
    assert plans(spark, "a", {}).first() is made[0]


def test_a_source_that_does_not_say_what_its_records_depend_on_shares_no_plan(spark: SparkSession) -> None:
    unknown = replace(SOURCE, record_key=None)
    assert plans(spark, "a", {}, unknown).first() is not plans(spark, "a", {}, unknown).first()


def test_a_converter_that_registers_schemas_shares_no_plan(spark: SparkSession) -> None:
    with SchemaRegistry() as registry:
        config = {
            "value.converter": "io.confluent.connect.avro.AvroConverter", "value.converter.schema.registry.url": registry.url,
        }  # fmt: skip
        assert plans(spark, "a", config).first() is not plans(spark, "a", config).first()


def test_of_many_schemas_the_plans_that_were_asked_for_last_are_kept_and_others_are_made_again(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.runtime.feed_plans._MAX_PLANS", 2)
    monkeypatch.setattr("headrace.runtime.chain._MAX_SCHEMAS_PER_CHAIN", 1)
    avro = "io.confluent.connect.avro.AvroConverter"
    with SchemaRegistry() as registry:
        ids = [registry.register(f"s{n}", {"type": "fixed", "name": "F", "size": n}) for n in range(1, 4)]
        needs = [f'{{"value":"{schema_id}","topic":"a"}}' for schema_id in ids]
        config = {"source.value.converter": avro, "source.value.converter.schema.registry.url": registry.url}
        many = plans(spark, "a", config)
        references = [weakref.ref(many.plans_for([need])[0][0]) for need in needs]
        gc.collect()
        assert [reference() is not None for reference in references] == [False, True, True]
        [(_, knows)] = many.plans_for([needs[0], needs[0].replace('"a"', '"b"')])
        gc.collect()
        assert knows == [f'{{"value":"{ids[0]}"}}']  # whatever the topic
        assert [reference() is not None for reference in references] == [False, False, True]
