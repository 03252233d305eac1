"""How the records of a hosted task become those that are written: by Java's converters alone, or through the compiled chain.

Where no transform stands between a task in Java and a converter of Kafka Connect, the host makes the final bytes, at the cost
that a Kafka Connect worker has. Else it hands the records over as JSON with schemas, which the compiled chain reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headrace import plugins
from headrace.connectors.base import Conversion, HostedTask, Props
from headrace.converters.byte_array import ByteArrayConverter
from headrace.converters.json import NAME as JSON
from headrace.converters.json import JsonConverter
from headrace.plugins import Kind
from headrace.runtime.plan import TaskPlan, converter_settings
from headrace.runtime.worker_config import WorkerConfig

_WITH_SCHEMAS: Mapping[str, Any] = {"class": JSON, "location": None, "props": {"schemas.enable": "true"}}
_IN_CONNECT = "org.apache.kafka.connect."
"""What is called so is on the host's own class path."""


def plan_hosted(plan: TaskPlan, task: HostedTask, config: Props, worker: WorkerConfig) -> TaskPlan:
    """The plan of a hosted task, which is told its converters.

    plan: as for any source; config: the connector's, resolved. Raises ConfigError.
    """
    key, value = (_settings(f"{part}.converter", Kind.CONVERTER, config, worker) for part in ("key", "value"))
    header = _settings("header.converter", Kind.HEADER_CONVERTER, config, worker)
    if plan.stages or plan.tolerance.all or plan.tolerance.dead_letters or not (_in_java(key) and _in_java(value)):
        task.convert_by(Conversion(_WITH_SCHEMAS, _WITH_SCHEMAS, header))
        reading = {"schemas.enable": "true", "replace.null.with.default": "false"}
        return replace(
            plan, source_key_converter=JsonConverter(reading, True), source_value_converter=JsonConverter(reading, False)
        )
    task.convert_by(Conversion(key, value, header))
    return replace(
        plan,
        key_converter=ByteArrayConverter({}, True),
        value_converter=ByteArrayConverter({}, False),
        source_key_converter=None,
        source_value_converter=None,
    )


def _settings(option: str, kind: Kind, config: Props, worker: WorkerConfig) -> dict[str, Any]:
    name, props = converter_settings(option, config, worker)
    cls = plugins.find(name, kind)
    return {"class": cls.plugin_name, "location": getattr(cls, "location", None), "props": props}


def _in_java(settings: Mapping[str, Any]) -> bool:
    return settings["location"] is not None or settings["class"].startswith(_IN_CONNECT)
