"""Configurations to preview."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headrace import plugins
from headrace.config import ConfigDef
from headrace.connectors.base import Connector
from headrace.preview.records import from_objects
from headrace.preview.run import Preview, prepare
from headrace.runtime.worker_config import WorkerConfig

JSON = "org.apache.kafka.connect.json.JsonConverter"
TRANSFORMS = "org.apache.kafka.connect.transforms."
WORKER = {
    "bootstrap.servers": "localhost:1",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
}
MIRROR = {
    "connector.class": "org.apache.kafka.connect.kafka.KafkaSourceConnector",
    "source.bootstrap.servers": "localhost:1",
    "source.topic.whitelist": "orders",
    "source.key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
    "source.value.converter": JSON,
    "source.value.converter.schemas.enable": "false",
}
IS_TOMBSTONE = {"predicates": "empty", "predicates.empty.type": TRANSFORMS + "predicates.RecordIsTombstone"}


class Drain(Connector):
    """A sink connector without behaviour."""

    version = "1"

    @classmethod
    def definition(cls) -> ConfigDef:
        return ConfigDef()


@pytest.fixture
def sink() -> Iterator[str]:
    """The class name of a sink connector, for one test."""
    plugins.load()
    before = dict(plugins._REGISTRY)
    plugins.plugin("test.Drain", "sink")(Drain)
    yield "test.Drain"
    plugins._REGISTRY.clear()
    plugins._REGISTRY.update(before)


def chain(**transforms: dict[str, str]) -> dict[str, str]:
    """Settings of a chain: alias → settings, `type` without its package."""
    result = {"transforms": ",".join(transforms)}
    for alias, settings in transforms.items():
        settings = {**settings, "type": TRANSFORMS + settings["type"]}
        result |= {f"transforms.{alias}.{key}": value for key, value in settings.items()}
    return result


def prepared(config: dict[str, Any], **worker: str) -> Preview:
    """A preview by a worker with these settings, dots as `_`."""
    return prepare(config, WorkerConfig(WORKER | {k.replace("_", "."): v for k, v in worker.items()}))


@pytest.fixture
def preview(spark) -> Callable[..., list[dict[str, Any]]]:
    """Preview records by a configuration: `preview(config, {"value": …}, …)`; the records of the answer."""

    def run(config: dict[str, Any], *records: dict[str, Any], **worker: str) -> list[dict[str, Any]]:
        result = prepared(config, **worker)
        return result.run(spark, from_objects([{"timestamp": 0, **r} for r in records], result.topic), describe_topics=False)[
            "records"
        ]

    return run
