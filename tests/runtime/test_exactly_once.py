"""When a batch gathers records for a transaction, and who is asked whether it can deliver exactly once."""

from __future__ import annotations

import pytest

from headrace.connect_config.common import SourceConnectorConfig
from headrace.connectors.kafka_source.connector import KafkaSourceConnector
from headrace.connectors.spark_source.connector import SparkSourceConnector
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.exactly_once import interval_ms
from tests.process import worker_properties

WORKER = worker_properties("g", "http://127.0.0.1:8083") | {"offset.flush.interval.ms": "7000"}
ENABLED = DistributedConfig(WORKER | {"exactly.once.source.support": "Enabled"})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, None),
        ({"transaction.boundary": "poll", "transaction.boundary.interval.ms": "5"}, None),
        ({"transaction.boundary": "connector"}, None),
        ({"transaction.boundary": "INTERVAL"}, 7000),
        ({"transaction.boundary": "interval", "transaction.boundary.interval.ms": "250"}, 250),
    ],
)
def test_only_the_boundary_interval_gathers_records(config, expected):
    settings = SourceConnectorConfig({"name": "c", "connector.class": "C", **config})
    assert interval_ms(settings, ENABLED) == expected
    assert interval_ms(settings, DistributedConfig(WORKER)) is None


@pytest.mark.parametrize(
    ("config", "answer"),
    [
        ({"format": "json", "option.path": "/x"}, True),
        ({"format": "json", "option.path": "/x", "mode": "bulk"}, False),
        ({"format": "jdbc", "mode": "timestamp", "timestamp.column.name": "t", "option.url": "u", "option.dbtable": "d"}, True),
        ({"format": "jdbc", "mode": "bulk", "option.url": "u", "option.dbtable": "d"}, False),
        ({"format": "delta", "option.path": "/x"}, True),
        ({"format": "rate"}, None),
    ],
)
def test_a_spark_source_can_if_what_is_after_an_offset_stays_the_same(config, answer):
    assert SparkSourceConnector.exactly_once_support({"topic": "t", **config}) is answer


def test_a_mirror_can():
    assert KafkaSourceConnector.exactly_once_support({}) is True
