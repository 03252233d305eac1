"""Decides who converts and transforms the records of a hosted task: Kafka Connect's own classes, or Spark.

Without work for Spark, Kafka Connect's own classes run the task, at the cost of a Kafka Connect worker. Otherwise the host
applies Java's and Kafka's transforms up to headrace's first one; it hands the records over as JSON with schemas, which the
compiled chain reads, or as final bytes if no transform remains. With `errors.tolerance=all` the compiled chain calls all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from headrace import plugins
from headrace.config.prefixes import under
from headrace.config.redaction import maskable
from headrace.connect_config.engine import heap
from headrace.connect_config.java_sinks import refused
from headrace.connect_config.shadowing import as_named, in_host, in_java_sink, is_in_java
from headrace.connect_config.topic_creation import has_rules
from headrace.connect_config.versions import with_version
from headrace.connectors.base import Props
from headrace.connectors.hosted import Conversion, HostedClients, HostedTask
from headrace.converters.base import Used
from headrace.converters.byte_array import ByteArrayConverter
from headrace.converters.connect_data import PluginJsonConverter
from headrace.plugins import Kind
from headrace.runtime import plugin_instances
from headrace.runtime.plan import TaskPlan, converter_settings, packaged_with
from headrace.runtime.sink.plan import SinkPlan
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark.java_call import secrets_of
from headrace.spark.java_plugin import JavaPlugin
from headrace.spark.kafka import ONE_REQUEST
from headrace.transforms.stages import Stage

_NULL_KEEPING_JSON = "io.headrace.connect.NullKeepingJsonConverter"
_WITH_SCHEMAS: Mapping[str, Any] = {"class": _NULL_KEEPING_JSON, "location": None, "props": {"schemas.enable": "true"}}
_SINK_SETTINGS = ("name", "connector.class", "topics", "topics.regex", "errors.")
_SOURCE_SETTINGS = ("name", "connector.class", "errors.", "topic.creation.")
"""Settings of a connector, or their prefixes, that Kafka Connect's own classes read."""
_WITHOUT_END_MS = str(2**63 - 1)  # Kafka Connect's `max.block.ms` of producers


def plan_polled(plan: TaskPlan, config: Props, worker: WorkerConfig) -> tuple[TaskPlan, Conversion]:
    """The plan of a task whose records the host polls and Spark delivers, and the conversion in the host.

    plan: as for any source; config: the connector's, resolved. Raises ConfigError.
    """
    key, value, header = _converters(config, worker)
    tolerant, retry = plan.tolerance.all, plan.tolerance.retry
    # The host does not report what a transform refuses: where that must not end the task, the compiled chain calls all of them.
    hosted = 0 if tolerant else len(list(takewhile(_runs_in_host, plan.stages)))
    secrets = secrets_of(plugin_instances.java_instances(plan.stages, plan.all_converters))
    stages, left = [_stage(stage, config) for stage in plan.stages[:hosted]], plan.stages[hosted:]
    if left or tolerant or not (_in_java(key) and _in_java(value)):
        reading = {"schemas.enable": "true"}
        with_schemas = replace(
            plan,
            stages=left,
            source_key_converter=PluginJsonConverter(reading, True),
            source_value_converter=PluginJsonConverter(reading, False),
        )
        return with_schemas, Conversion(_WITH_SCHEMAS, _WITH_SCHEMAS, header, stages, secrets, heap(config), retry)
    as_bytes = replace(
        plan,
        stages=(),
        converters=replace(plan.converters, key=ByteArrayConverter({}, True), value=ByteArrayConverter({}, False)),
        source_key_converter=None,
        source_value_converter=None,
    )
    return as_bytes, Conversion(key, value, header, stages, secrets=secrets, heap=heap(config), retry=retry)


def plan_hosted(plan: TaskPlan, config: Props, worker: WorkerConfig) -> tuple[Conversion, HostedClients] | None:
    """The conversion and clients of a source task run by Kafka Connect's own classes; None if its records need Spark.

    Spark is needed for headrace's transforms and converters, for transactions, and for dead letters of sources and rules for new
    topics, which Kafka Connect does not have. Parameters as for `plan_polled`.
    """
    converters = _converters(config, worker)
    in_java = all(map(_in_java, converters)) and all(map(_runs_in_host, plan.stages))
    if worker.exactly_once_enabled or plan.tolerance.dead_letters or has_rules(config) or not in_java:
        return None
    clients = HostedClients(_settings_of(config, *_SOURCE_SETTINGS), _producer(plan.producer), plan.admin)
    return _conversion(plan, converters, config), clients


def plan_hosted_sink(plan: SinkPlan, config: Props, worker: WorkerConfig) -> tuple[Conversion, HostedClients]:
    """The conversion and clients of a hosted sink task.

    plan: as for any sink; config: the connector's, resolved. Raises ConfigError.
    """
    defaults = {option: worker.originals.get(option) or "" for option in ("key.converter", "value.converter")}
    for _, error in refused(config, {**defaults, "header.converter": worker.header_converter}):
        raise error
    conversion = _conversion(plan, _converters(config, worker, in_java_sink), config)
    consumer = {**plan.consumer, "group.id": plan.group, "enable.auto.commit": "false"}
    settings = _settings_of(config, *_SINK_SETTINGS)
    return conversion, HostedClients(settings, _producer(plan.letter_producer), plan.letter_admin, consumer)


def with_secrets_of(connector: type[Any], config: Props, conversion: Conversion) -> Conversion:
    """The conversion with the secrets of the connector's configuration, too: its tasks may have them under other names.

    config: the connector's, resolved.
    """
    own = connector.passwords(config) if issubclass(connector, JavaPlugin) else []
    return replace(conversion, secrets=maskable([*conversion.secrets, *own]))


def converters_of(task: object) -> Used | None:
    """Returns the class to use for a converter that is named, for the plan of a sink task; None: that class."""
    return in_java_sink if isinstance(task, HostedTask) else None


def _producer(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a producer that Kafka Connect's own classes use: as a lane's, but a send waits for brokers without end.

    The task has a thread of its own, and what is not sent within a limit would be lost, where errors are tolerated. With one
    request in flight batches fill while the one before is on its way: a millisecond of waiting is all that helps them.
    """
    return {**ONE_REQUEST, "linger.ms": "1", "max.block.ms": _WITHOUT_END_MS, **settings}


def _conversion(plan: TaskPlan | SinkPlan, converters: tuple[dict[str, Any], ...], config: Props) -> Conversion:
    """The conversion by Kafka Connect's own classes alone. converters: of keys, values and headers."""
    key, value, header = converters
    secrets = secrets_of(plugin_instances.java_instances(plan.stages, plan.all_converters))
    return Conversion(key, value, header, [_stage(stage, config) for stage in plan.stages], secrets=secrets, heap=heap(config))


def _runs_in_host(stage: Stage) -> bool:
    parts = [stage.transformation, *([stage.predicate] if stage.predicate else [])]
    return all(is_in_java(type(part)) for part in parts)


def _stage(stage: Stage, config: Props) -> dict[str, Any]:
    """A stage for the host, which creates instances of its classes from the connector's configuration."""
    transformation = _part(f"transforms.{stage.alias}.", stage.transformation, config)
    for name in ("predicate", "negate"):  # Kafka Connect's own options of a transformation, not of its class
        transformation["props"].pop(name, None)
    return {
        "alias": stage.alias,
        **transformation,
        "predicate": stage.predicate and _part(f"predicates.{stage.predicate_alias}.", stage.predicate, config),
        "predicate_alias": stage.predicate_alias,
        "negate": stage.negate,
    }


def _part(prefix: str, part: Any, config: Props) -> dict[str, Any]:
    return {
        "class": type(part).plugin_name,
        "location": getattr(type(part), "location", None),
        "props": dict(under(config, prefix)),
    }


def _settings_of(config: Props, *names: str) -> dict[str, str]:
    """The settings with these names or prefixes (ending with a dot)."""
    return {
        key: value for key, value in config.items() if any(key == n or (n.endswith(".") and key.startswith(n)) for n in names)
    }


def _converters(
    config: Props, worker: WorkerConfig, used: Used = as_named
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The converters of keys, values and headers, for the host. used: returns the class to use for one that is named."""
    key, value = (_settings(f"{part}.converter", Kind.CONVERTER, config, worker, used) for part in ("key", "value"))
    return key, value, _settings("header.converter", Kind.HEADER_CONVERTER, config, worker, used)


def _settings(option: str, kind: Kind, config: Props, worker: WorkerConfig, used: Used) -> dict[str, Any]:
    name, props = converter_settings(option, config, worker)
    cls = with_version(used(plugins.find(name, kind)), props.get("plugin.version"), packaged_with(option, config))
    return {"class": cls.plugin_name, "location": getattr(cls, "location", None), "props": props}


def _in_java(settings: Mapping[str, Any]) -> bool:
    return in_host(settings["class"], settings["location"])
