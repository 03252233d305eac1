"""The plan of a preview: the form of a connector's records at the start of its chain, and the chain. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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
from headrace.preview.records import RawRecord
from headrace.runtime import plugin_instances
from headrace.runtime.plan import client_settings, converters, plan_source_task
from headrace.runtime.tolerance import Tolerance, tolerance
from headrace.runtime.worker_config import WorkerConfig
from headrace.topics.creation import TopicCreation
from headrace.transforms.chain import Converters, Readers
from headrace.transforms.stages import Stage, stages

_DEFAULT_TOPIC = "preview"
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class LiveTopics:
    """The topics with live records."""

    matches: Callable[[str], bool]
    """Takes the name of a topic."""
    consumer: Props
    """Java settings of clients of their cluster, as `admin`."""
    admin: Props


@dataclass(frozen=True)
class RecordOrigin:
    """The records that a class of connectors puts into a chain."""

    default_topic: str = _DEFAULT_TOPIC
    """The topic of given records that name none."""
    key_kind: str = "bytes"
    """The kind of the source's column if no converter reads it, as in `headrace.record`; as `value_kind`."""
    value_kind: str = "bytes"
    live: LiveTopics | None = None
    """The topics of its records; None: they are not in Kafka."""
    chain_input: Callable[[RawRecord], RawRecord] = lambda record: record
    """Converts a given record to the one that enters the chain."""
    writes_default_topic: bool = False
    """Whether all of its records are of `default_topic`."""


@dataclass(frozen=True)
class PreviewPlan:
    """The chain that a task of the connector would have."""

    origin: RecordOrigin
    sink: bool
    """Whether the connector is one."""
    stages: tuple[Stage, ...]
    reading: Converters | Readers
    writing: Converters
    tolerance: Tolerance
    creation: TopicCreation | None = None
    """The rules for new topics, None: the connector creates none."""

    def close(self) -> None:
        """Close the chain's plugins in Java; they are created again when needed."""
        sides = self.reading, self.writing
        plugin_instances.close(self.stages, (x for side in sides for x in (side.key, side.value, side.header)))


def plan(connector: type[Any], config: Props, worker: WorkerConfig) -> PreviewPlan:
    """The plan for a connector of this class. Raises ConfigError, ConnectError for errors that are found only when a task
    starts.
    """
    settings = connector_settings(config, connector.plugin_kind)
    if isinstance(settings, SinkConnectorConfig):
        both = converters(config, worker)
        return PreviewPlan(_sink(settings, worker), True, tuple(stages(config)), both, both, tolerance(settings))
    task = plan_source_task(settings.name, 0, settings, config, worker)
    origin = _source(connector, config)
    reading = Readers(
        task.source_key_converter or TypedColumn(origin.key_kind),
        task.source_value_converter or TypedColumn(origin.value_kind),
        TypedHeaders(),
    )
    return PreviewPlan(origin, False, task.stages, reading, task.converters, task.tolerance, task.creation)


def _source(connector: type[Any], config: Props) -> RecordOrigin:
    if issubclass(connector, KafkaSourceConnector):
        return _kafka(KafkaSourceConfig(config), config)
    if issubclass(connector, MirrorSourceConnector):
        return _mirror(MirrorSourceConfig(config), config)
    if issubclass(connector, FileStreamSourceConnector):
        topic = config["topic"]

        def line(record: RawRecord) -> RawRecord:
            return RawRecord(topic, None, 0, None, None, record.value)

        return RecordOrigin(topic, "null", "line", writes_default_topic=True, chain_input=line)
    return RecordOrigin()


def _kafka(parsed: KafkaSourceConfig, config: Props) -> RecordOrigin:
    def chain_input(record: RawRecord) -> RawRecord:
        return replace(
            record,
            topic=parsed.destination_topics_prefix + record.topic,
            partition=None if parsed.destination_partition == "partitioner" else record.partition,
            headers=record.headers if parsed.include_message_headers else (),
        )

    first = normalize(parsed.source_topic_whitelist).partition("|")[0]
    return RecordOrigin(
        first if _NAME.fullmatch(first) else _DEFAULT_TOPIC,
        kind(parsed.source_key_deserializer),
        kind(parsed.source_value_deserializer),
        LiveTopics(lambda topic: bool(parsed.whitelist.fullmatch(topic)), CONSUMER.settings(config), ADMIN.settings(config)),
        chain_input,
    )


def _mirror(parsed: MirrorSourceConfig, config: Props) -> RecordOrigin:
    policy, alias = parsed.policy, parsed.source_cluster_alias

    def chain_input(record: RawRecord) -> RawRecord:
        passed = ((PROVENANCE, alias.encode()),) if parsed.provenance_headers_enabled else ()
        return replace(record, topic=policy.remote(alias, record.topic), headers=(*record.headers, *passed))

    consumer, admin = (client(config, "source", role) for role in ("consumer", "admin"))
    return RecordOrigin(live=LiveTopics(parsed.selection.accepts, consumer, admin), chain_input=chain_input)


def _sink(settings: SinkConnectorConfig, worker: WorkerConfig) -> RecordOrigin:
    consumer, admin = (client_settings(f"headrace-preview-{k}", k, settings.originals, worker) for k in ("consumer", "admin"))
    first = settings.topics[0] if settings.topics else _DEFAULT_TOPIC
    return RecordOrigin(first, live=LiveTopics(settings.consumes, consumer, admin))
