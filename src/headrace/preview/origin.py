"""What a connector's records are when they enter its chain, and what the chain is: the plan of a preview. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headrace.config import parse_list
from headrace.config.java_pattern import java_regex
from headrace.connect_config.common import SinkConnectorConfig
from headrace.connect_config.settings import connector_settings
from headrace.connectors.base import Props
from headrace.connectors.file_stream.source import FileStreamSourceConnector
from headrace.connectors.kafka_source.clients import ADMIN, CONSUMER
from headrace.connectors.kafka_source.config import KafkaSourceConfig
from headrace.connectors.kafka_source.connector import KafkaSourceConnector
from headrace.connectors.kafka_source.pattern import normalize
from headrace.connectors.kafka_source.task import kind
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.connectors.mirror.source_task import PROVENANCE
from headrace.converters.typed_column import TypedColumn, TypedHeaders
from headrace.preview.records import GivenRecord
from headrace.runtime import plugin_instances
from headrace.runtime.plan import client_settings, converter, header_converter, plan_source_task
from headrace.runtime.tolerance import Tolerance, tolerance
from headrace.runtime.worker_config import WorkerConfig
from headrace.topics.creation import TopicCreation
from headrace.transforms.chain import Converters, Readers
from headrace.transforms.stages import Stage, stages

_DEFAULT_TOPIC = "preview"
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class LiveTopics:
    """Where live records are: which topics, and Java settings of clients of their cluster."""

    matches: Callable[[str], bool]
    consumer: Props
    admin: Props


@dataclass(frozen=True)
class Origin:
    """How a kind of connector gives records to a chain."""

    default_topic: str = _DEFAULT_TOPIC
    """Of given records that name none."""
    key_kind: str = "bytes"
    value_kind: str = "bytes"
    """`key_kind`, `value_kind`: what the source gives where no converter reads it, as in `headrace.record`."""
    live: LiveTopics | None = None
    """Where its records are, None: not in Kafka."""
    arriving: Callable[[GivenRecord], GivenRecord] = lambda record: record
    """A given record as it enters the chain."""


@dataclass(frozen=True)
class Plan:
    """A chain as a task of the connector would have it."""

    origin: Origin
    sink: bool
    stages: tuple[Stage, ...]
    reading: Converters | Readers
    writing: Converters
    tolerance: Tolerance
    creation: TopicCreation | None = None
    """The rules for new topics, None: the connector creates none."""

    def close(self) -> None:
        """Close the chain's plugins in Java; a later use creates them again."""
        sides = self.reading, self.writing
        plugin_instances.close(self.stages, (x for side in sides for x in (side.key, side.value, side.header)))


def plan(connector: type[Any], config: Props, worker: WorkerConfig) -> Plan:
    """The plan for a connector of this class. Raises ConfigError, ConnectError for what only shows when a task starts."""
    settings = connector_settings(config, connector.plugin_kind)
    if isinstance(settings, SinkConnectorConfig):
        key, value = (converter(option, config, worker) for option in ("key.converter", "value.converter"))
        converters = Converters(key, value, header_converter(config, worker))
        return Plan(_sink(config, worker), True, tuple(stages(config)), converters, converters, tolerance(settings))
    task = plan_source_task(settings.name, 0, settings, config, worker)
    origin = _source(connector, config)
    reading = Readers(
        task.source_key_converter or TypedColumn(origin.key_kind),
        task.source_value_converter or TypedColumn(origin.value_kind),
        TypedHeaders(),
    )
    return Plan(origin, False, task.stages, reading, task.converters, task.tolerance, task.creation)


def _source(connector: type[Any], config: Props) -> Origin:
    if issubclass(connector, KafkaSourceConnector):
        return _kafka(KafkaSourceConfig(config), config)
    if issubclass(connector, MirrorSourceConnector):
        return _mirror(MirrorSourceConfig(config), config)
    if issubclass(connector, FileStreamSourceConnector):
        topic = config["topic"]
        return Origin(topic, "null", "line", arriving=lambda record: GivenRecord(topic, None, 0, None, None, record.value))
    return Origin()


def _kafka(parsed: KafkaSourceConfig, config: Props) -> Origin:
    def arriving(record: GivenRecord) -> GivenRecord:
        return replace(
            record,
            topic=parsed.destination_topics_prefix + record.topic,
            partition=None if parsed.destination_partition == "partitioner" else record.partition,
            headers=record.headers if parsed.include_message_headers else (),
        )

    first = normalize(parsed.source_topic_whitelist).partition("|")[0]
    return Origin(
        first if _NAME.fullmatch(first) else _DEFAULT_TOPIC,
        kind(parsed.source_key_deserializer),
        kind(parsed.source_value_deserializer),
        LiveTopics(lambda topic: bool(parsed.whitelist.fullmatch(topic)), CONSUMER.settings(config), ADMIN.settings(config)),
        arriving,
    )


def _mirror(parsed: MirrorSourceConfig, config: Props) -> Origin:
    policy, alias = parsed.policy, parsed.source_cluster_alias

    def arriving(record: GivenRecord) -> GivenRecord:
        passed = ((PROVENANCE, alias.encode()),) if parsed.provenance_headers_enabled else ()
        return replace(record, topic=policy.remote(alias, record.topic), headers=(*record.headers, *passed))

    consumer, admin = (client(config, "source", role) for role in ("consumer", "admin"))
    return Origin(live=LiveTopics(parsed.selection.accepts, consumer, admin), arriving=arriving)


def _sink(config: Props, worker: WorkerConfig) -> Origin:
    named = parse_list(config.get("topics") or "")
    regex = java_regex(config.get("topics.regex") or "")
    consumer, admin = (client_settings(f"headrace-preview-{k}", k, config, worker) for k in ("consumer", "admin"))
    live = LiveTopics(lambda topic: topic in named if named else bool(regex.fullmatch(topic)), consumer, admin)
    return Origin(named[0] if named else _DEFAULT_TOPIC, live=live)
