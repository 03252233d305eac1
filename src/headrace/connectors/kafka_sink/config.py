"""The options of the Kafka sink connector; those that the Kafka source connector has, too, are called the same."""

from __future__ import annotations

from headrace.config import Config, Importance, Type, Width, option
from headrace.config.validators import ValidString
from headrace.connect_config.own_topics import REPLICATION_FACTOR
from headrace.connectors.kafka_source.config import BOOTSTRAP_SERVERS

_TARGET, _TOPICS = "Target cluster", "Topics"


class KafkaSinkConfig(Config):
    """Configuration of a KafkaSinkConnector. Any other `target.…` key is a setting of its Kafka clients (`clients`)."""

    target_bootstrap_servers: list[str] = option(
        "target.bootstrap.servers",
        Type.LIST,
        validator=BOOTSTRAP_SERVERS,
        importance=Importance.HIGH,
        doc="Mandatory. Comma separated list of bootstrap servers for the target Kafka cluster. Any other `target.` key is a "
        "setting of the connector's clients of that cluster; `connector.producer.` and `connector.admin.` are for one of them, "
        "and win.",
        group=_TARGET,
        width=Width.LONG,
    )
    destination_topics_prefix: str = option(
        "destination.topics.prefix",
        Type.STRING,
        "",
        importance=Importance.MEDIUM,
        doc="Prefix to add to topic names when determining the topic of the target cluster, with its separator if there is to be "
        "one: `aggregate.`. Transforms can rename topics in any other way.",
        group=_TOPICS,
    )
    include_message_headers: bool = option(
        "include.message.headers",
        Type.BOOLEAN,
        True,
        importance=Importance.MEDIUM,
        doc="Indicates whether message headers should be included when delivered to the target cluster.",
        group=_TOPICS,
    )
    destination_topics_create: bool = option(
        "destination.topics.create",
        Type.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether topics that the target cluster does not have are made, with as many partitions as the topic that their "
        "records come from (or the cluster's default number, where records of topics of different numbers come together, or "
        "their content decides on the topic). If not, the cluster makes them, or somebody else has to: records wait for it.",
        group=_TOPICS,
    )
    destination_topics_replication_factor: int = option(
        "destination.topics.replication.factor",
        Type.SHORT,
        -1,
        validator=REPLICATION_FACTOR,
        importance=Importance.LOW,
        doc="Replication factor of the topics that are made; -1: the default of the target cluster.",
        group=_TOPICS,
    )
    destination_partition: str = option(
        "destination.partition",
        Type.STRING,
        "auto",
        validator=ValidString("auto", "source", "partitioner"),
        importance=Importance.LOW,
        doc="Which partition of the target topic a record goes to. `source`: the one of the same number as it comes from. "
        "`partitioner`: the one that the producer's partitioner chooses. `auto`: like `source` for topics that have as many "
        "partitions as the topic that their records come from, like `partitioner` for others.",
        group=_TOPICS,
    )
