"""The plan of a source task, from configurations: a value, computed without network, clock or Spark.

The settings of worker, connector and task are merged here: client settings by Kafka Connect's order of precedence (built-in,
worker `producer.`…, connector `producer.override.`…), converters, the rules for new topics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headrace.config.prefixes import under
from headrace.connect_config import overrides
from headrace.connect_config.common import SourceConnectorConfig
from headrace.connect_config.packaged import location_of_connector
from headrace.connectors.base import Props
from headrace.converters.base import Converter, Used, load, load_header
from headrace.errors import ConfigError
from headrace.runtime import plugin_instances
from headrace.runtime.data_loss_log import DataLossTopic, loss_topic
from headrace.runtime.tolerance import Tolerance, tolerance
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark.topic_writer import PRODUCER
from headrace.topics.creation import TopicCreation, topic_creation
from headrace.transforms.chain import Converters
from headrace.transforms.stages import Stage, stages

_PRODUCER_ID = "connector-producer-"
CONSUMER_ID, LETTER_PRODUCER_ID = "connector-consumer-", "connector-dlq-producer-"
"""Prefixes of the `client.id` of a sink task's clients."""


@dataclass(frozen=True)
class TaskPlan:
    """All settings of one source task."""

    connector: str
    task: int
    props: Props
    """The task configuration."""
    producer: Mapping[str, str]
    """Java client settings for the destination, as `admin`."""
    admin: Mapping[str, str]
    creation: TopicCreation | None
    """The rules for new topics; None if Connect creates no topics for this connector."""
    converters: Converters
    """The converters of written records."""
    source_key_converter: Converter | None
    """Of bytes that are read, as `source_value_converter`; None: they stay bytes."""
    source_value_converter: Converter | None
    stages: tuple[Stage, ...]
    """The chain."""
    tolerance: Tolerance
    """The handling of failed records."""
    losses: DataLossTopic
    """The topic for data losses of the source."""

    @property
    def all_converters(self) -> list[object]:
        """The converters of read and written records."""
        written = self.converters
        return [written.key, written.value, written.header, self.source_key_converter, self.source_value_converter]


def plan_source_task(name: str, task: int, settings: SourceConnectorConfig, props: Props, worker: WorkerConfig) -> TaskPlan:
    """The plan of a source task.

    settings: the connector's; props: the task's. Raises ConfigError, in Kafka's words, if one is invalid, and ConnectError as
    `client_settings` does.
    """
    config: Props = settings.originals
    clients = client_settings(f"{_PRODUCER_ID}{name}-{task}", "producer", config, worker)
    plan = TaskPlan(
        connector=name,
        task=task,
        props=props,
        producer=PRODUCER | clients,
        admin=client_settings(f"connector-adminclient-{name}-{task}", "admin", config, worker),
        creation=topic_creation(config, worker.topic_creation_enable),
        converters=converters(config, worker),
        source_key_converter=_source_converter("source.key.converter", config),
        source_value_converter=_source_converter("source.value.converter", config),
        stages=tuple(stages(config)),
        tolerance=tolerance(settings),
        losses=loss_topic(name, config),
    )
    plugin_instances.assign_owner(name, task, plan.stages, plan.all_converters, plan.tolerance.retry)
    return plan


def is_default_client_id(client_id: str) -> bool:
    """Whether this is Kafka Connect's default `client.id` of a task's client."""
    return client_id.startswith((_PRODUCER_ID, CONSUMER_ID, LETTER_PRODUCER_ID))


def client_settings(client_id: str, kind: str, config: Props, worker: WorkerConfig) -> dict[str, str]:
    """Settings of a client, "producer", "consumer" or "admin", of the worker's cluster for one connector.

    Raises ConnectError if the worker's policy refuses one of the connector's overrides.
    """
    refuse = overrides.policy(worker.override_policy, worker.override_allowlist)
    return {"client.id": client_id} | worker.client_props(kind) | overrides.permitted(config, kind, refuse)


def converters(config: Props, worker: WorkerConfig, used: Used | None = None) -> Converters:
    """The converters of `key.converter`, `value.converter` and `header.converter`.

    If the connector names one, only the connector's settings apply to it; else the worker's do. used: returns the class to use
    for one that is named. Raises ConfigError.
    """
    options = [f"{part}.converter" for part in ("key", "value", "header")]
    key, value, header = (converter_settings(option, config, worker) for option in options)
    with_key, with_value, with_header = (packaged_with(option, config) for option in options)
    return Converters(
        load(*key, True, used, with_key), load(*value, False, used, with_value), load_header(*header, used, with_header)
    )


def packaged_with(option: str, config: Props) -> str | None:
    """The location of the connector if it names the converter of this option, which may be packaged with it; else None."""
    return location_of_connector(config) if config.get(option) else None


def converter_settings(option: str, config: Props, worker: WorkerConfig) -> tuple[str, dict[str, str]]:
    """The class that `key.converter`, `value.converter` or `header.converter` names, and its settings. Raises ConfigError."""
    source = config if config.get(option) else worker.originals
    name = source.get(option) or (worker.header_converter if option == "header.converter" else None)
    if not name:
        raise ConfigError.missing(option)
    return name, under(source, f"{option}.")


def _source_converter(option: str, config: Props) -> Converter | None:
    """The converter that reads the source's bytes, if the connector has one."""
    name = config.get(option)
    return load(name, under(config, f"{option}."), is_key="key" in option) if name else None
