from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from headrace.cluster.standalone.group import StandaloneGroup
from headrace.connect_config.ignored import ignored_by_converters
from headrace.connectors.base import ConnectorContext
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import Worker

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONFIG = StandaloneConfig({"key.converter": JSON, "value.converter": JSON, "offset.storage.file.filename": "/o"})


def test_options_without_effect_are_logged_also_those_of_converters(events: list[MutableMapping[str, Any]]) -> None:
    converters = {
        "value.converter": "JsonConverter", "value.converter.schemas.cache.size": "5", "value.converter.schemas.enable": "false",
        "source.key.converter": " JsonConverter ", "source.key.converter.schemas.cache.size": "5",
        "key.converter.schemas.cache.size": "5",  # no converter is named there: the worker's has the worker's options
    }  # fmt: skip
    config = {"name": "c", "connector.class": "FileStreamSource", "topic": "t", "config.action.reload": "none", **converters}
    made = Worker(CONFIG, None, None, None, StandaloneGroup().session)  # type: ignore[arg-type]
    made.start_connector(config, ConnectorContext("c", lambda: None, lambda _: None)).instance.stop()
    ignored = {event["option"]: event["reason"] for event in events if event["event"] == "connector.option.ignored"}
    assert ignored == {
        "config.action.reload": "values of config providers do not expire",
        "value.converter.schemas.cache.size": "schemas in use stay in memory",
        "source.key.converter.schemas.cache.size": "schemas in use stay in memory",
    }


def test_a_converter_that_does_not_exist_has_no_such_options() -> None:
    assert ignored_by_converters({"value.converter": "NoSuch", "value.converter.schemas.cache.size": "5"}) == {}
