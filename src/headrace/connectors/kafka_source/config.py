"""The options of the Kafka source connector (KIP-310), and the few that headrace adds."""

from __future__ import annotations

import re
from typing import Any

from headrace.config import Importance, Type, Width, option, parse_type
from headrace.config.validators import Lambda, Range, ValidString
from headrace.connect_config.data_loss import DataLossConfig
from headrace.connect_config.stream_mode import StreamModeConfig
from headrace.connectors.kafka_source.clients import CONSUMER_DEFAULTS, CONSUMER_PREFIX
from headrace.connectors.kafka_source.pattern import check_whitelist, whitelist_pattern
from headrace.errors import ConfigError
from headrace.kafka.reset_policy import BY_DURATION, reset_ms

_SERIALIZATION = "org.apache.kafka.common.serialization."
_DESERIALIZERS = ValidString(
    *(_SERIALIZATION + name for name in ("ByteArrayDeserializer", "BytesDeserializer", "StringDeserializer"))
)
_RESETS = ValidString("earliest", "latest")
_SOURCE, _TOPICS, _TASKS = "Source cluster", "Topics", "Tasks"


def check_reset(name: str, policy: str) -> None:
    """Raise ConfigError for an `auto.offset.reset` that a task cannot begin with: `none` begins nowhere."""
    if policy.startswith(BY_DURATION):
        reset_ms(policy)
    else:
        _RESETS(name, policy)


def _check_servers(name: str, value: Any) -> None:
    if not value:
        raise ConfigError(f"At least one bootstrap server must be configured in {name}")


BOOTSTRAP_SERVERS = Lambda(_check_servers, "non-empty list")
"""Rule for a list of bootstrap servers."""


class KafkaSourceConfig(DataLossConfig, StreamModeConfig):
    """Configuration of a KafkaSourceConnector. Any other `source.…` key is a setting of its Kafka clients (`clients`)."""

    source_bootstrap_servers: list[str] = option(
        "source.bootstrap.servers",
        Type.LIST,
        validator=BOOTSTRAP_SERVERS,
        importance=Importance.HIGH,
        doc="Mandatory. Comma separated list of bootstrap servers for the source Kafka cluster.",
        group=_SOURCE,
        width=Width.LONG,
    )
    source_topic_whitelist: str = option(
        "source.topic.whitelist",
        Type.STRING,
        validator=Lambda(check_whitelist, "regular expression"),
        importance=Importance.HIGH,
        doc="Java regular expression to match topics to mirror; the whole name has to match. For convenience, comma (',') is "
        "interpreted as the regex-choice symbol ('|'). Internal topics are left out.",
        group=_TOPICS,
        width=Width.LONG,
    )
    source_auto_offset_reset: str = option(
        "source.auto.offset.reset",
        Type.STRING,
        CONSUMER_DEFAULTS["auto.offset.reset"],
        validator=_RESETS,
        importance=Importance.MEDIUM,
        doc='If there is no stored offset for a partition, indicates where to start consuming from. Options are "earliest" or '
        '"latest".',
        group=_SOURCE,
    )
    source_group_id: str | None = option(
        "source.group.id",
        Type.STRING,
        None,
        importance=Importance.MEDIUM,
        doc="Group ID used when writing offsets back to source cluster (for offset lag tracking). Not set: none are written.",
        group=_SOURCE,
    )
    destination_topics_prefix: str = option(
        "destination.topics.prefix",
        Type.STRING,
        "",
        importance=Importance.MEDIUM,
        doc="Prefix to add to source topic names when determining the Kafka topic to publish data to, with its separator if "
        "there is to be one: `aggregate.`.",
        group=_TOPICS,
    )
    include_message_headers: bool = option(
        "include.message.headers",
        Type.BOOLEAN,
        True,
        importance=Importance.MEDIUM,
        doc="Indicates whether message headers from source records should be included when delivered to the destination cluster.",
        group=_TOPICS,
    )
    topic_list_timeout_ms: int = option(
        "topic.list.timeout.ms",
        Type.INT,
        60_000,
        validator=Range(1),
        importance=Importance.LOW,
        doc="Amount of time (in milliseconds) the partition monitor thread should wait for the source kafka cluster to "
        "return topic information before logging a timeout error. The connector fails if the first answer takes longer.",
        group=_TOPICS,
    )
    topic_list_poll_interval_ms: int = option(
        "topic.list.poll.interval.ms",
        Type.INT,
        300_000,
        validator=Range(1),
        importance=Importance.MEDIUM,
        doc="Amount of time (in milliseconds) the partition monitor will wait before re-querying the source cluster for a "
        "change in the topic partitions to be consumed.",
        group=_TOPICS,
    )
    reconfigure_tasks_on_leader_change: bool = option(
        "reconfigure.tasks.on.leader.change",
        Type.BOOLEAN,
        False,
        importance=Importance.LOW,
        doc="Indicates whether the partition monitor should request a task reconfiguration when partition leaders have "
        "changed. In some cases this may be a minor optimization as when generating task configurations, the connector "
        "will try to group partitions to be consumed by each task by the leader node. The downside to this is that it "
        "may result in additional rebalances.",
        group=_TASKS,
    )
    poll_loop_timeout_ms: int = option(
        "poll.loop.timeout.ms",
        Type.INT,
        1_000,
        validator=Range(0),
        importance=Importance.LOW,
        doc="Maximum amount of time (in milliseconds) the connector will wait in each poll loop without data before "
        "returning control to the kafka connect task thread.",
        without_effect="records are sent on as they come: no thread of the task polls",
        group=_TASKS,
    )
    max_shutdown_wait_ms: int = option(
        "max.shutdown.wait.ms",
        Type.INT,
        2_000,
        validator=Range(0),
        importance=Importance.LOW,
        doc="Maximum amount of time (in milliseconds) to wait for the connector to gracefully shut down before forcing the "
        "consumer and admin clients to close. Note that any values greater than the kafka connect parameter "
        "task.shutdown.graceful.timeout.ms will not have any effect.",
        group=_TASKS,
    )
    source_max_poll_records: int = option(
        "source.max.poll.records",
        Type.INT,
        int(CONSUMER_DEFAULTS["max.poll.records"]),
        validator=Range(1),
        importance=Importance.LOW,
        doc="Maximum number of records to return from each poll of the internal KafkaConsumer. When dealing with topics with "
        "very large messages, reducing this value can help; conversely, when processing very small messages, increasing "
        "this value may improve overall throughput.",
        group=_SOURCE,
    )
    source_key_deserializer: str = option(
        "source.key.deserializer",
        Type.STRING,
        CONSUMER_DEFAULTS["key.deserializer"],
        validator=_DESERIALIZERS,
        importance=Importance.LOW,
        doc="Key deserializer to use for the kafka consumers connecting to the source cluster.",
        group=_SOURCE,
    )
    source_value_deserializer: str = option(
        "source.value.deserializer",
        Type.STRING,
        CONSUMER_DEFAULTS["value.deserializer"],
        validator=_DESERIALIZERS,
        importance=Importance.LOW,
        doc="Value deserializer to use for the kafka consumers connecting to the source cluster.",
        group=_SOURCE,
    )
    source_key_converter: str | None = option(
        "source.key.converter",
        Type.STRING,
        None,
        importance=Importance.LOW,
        doc="Of headrace: converter class that reads the keys of the source cluster, for transforms that look into them; its "
        "settings are `source.key.converter.…`. Not set: keys are bytes, or text, as the deserializer says.",
        group=_SOURCE,
    )
    source_value_converter: str | None = option(
        "source.value.converter",
        Type.STRING,
        None,
        importance=Importance.LOW,
        doc="Of headrace: converter class that reads the values of the source cluster, for transforms that look into them; its "
        "settings are `source.value.converter.…`. Not set: values are bytes, or text, as the deserializer says.",
        group=_SOURCE,
    )
    source_enable_auto_commit: bool = option(
        "source.enable.auto.commit",
        Type.BOOLEAN,
        CONSUMER_DEFAULTS["enable.auto.commit"],
        importance=Importance.LOW,
        doc="If true the consumer's offset will be committed to the source cluster, under source.group.id. Note that these "
        "offsets are not used to resume the connector (They are stored in the Kafka Connect offset store), but may be "
        "useful in monitoring the current offset lag of this connector on the source cluster.",
        group=_SOURCE,
    )
    destination_partition: str = option(
        "destination.partition",
        Type.STRING,
        "auto",
        validator=ValidString("auto", "source", "partitioner"),
        importance=Importance.LOW,
        doc="Of headrace: which partition of the destination topic a record goes to. `source`: the one of the same number as "
        "in the source cluster. `partitioner`: the one that the producer's partitioner chooses, as KIP-310's base does. "
        "`auto`: like `source` for topics that have as many partitions as the source topic, like `partitioner` for "
        "others.",
        group=_TOPICS,
    )
    batch_max_records: int = option(
        "batch.max.records",
        Type.INT,
        500_000,
        validator=Range(1),
        importance=Importance.LOW,
        doc="Of headrace: how many records a task reads from the source cluster before it writes and commits, at most.",
        group=_TASKS,
    )

    @property
    def whitelist(self) -> re.Pattern[str]:
        """`source.topic.whitelist`, to be matched with the whole name of a topic."""
        return whitelist_pattern(self.source_topic_whitelist)

    # What `connector.consumer.…` overrides, although the connector itself and not the consumer acts on it:

    @property
    def group_id(self) -> str | None:
        """The group whose offsets on the source cluster show the lag; None or empty: none is written."""
        return self._of_consumer("group.id", self.source_group_id, Type.STRING)

    @property
    def enable_auto_commit(self) -> bool:
        """Whether offsets are committed to the source cluster."""
        return self._of_consumer("enable.auto.commit", self.source_enable_auto_commit, Type.BOOLEAN)

    @property
    def auto_offset_reset(self) -> str:
        """`earliest`, `latest` or `by_duration:…`: where a partition without a stored offset begins."""
        return self._of_consumer("auto.offset.reset", self.source_auto_offset_reset, Type.STRING)

    def deserializer(self, side: str) -> str:
        """Kafka's deserializer of the `key` or the `value`."""
        return self._of_consumer(f"{side}.deserializer", self[f"source.{side}.deserializer"], Type.STRING)

    def check(self) -> None:
        """Check the overrides that the connector acts on. Raises ConfigError."""
        for side in ("key", "value"):
            _DESERIALIZERS(f"{CONSUMER_PREFIX}{side}.deserializer", self.deserializer(side))
        check_reset(CONSUMER_PREFIX + "auto.offset.reset", self.auto_offset_reset)
        _ = self.enable_auto_commit

    def _of_consumer(self, name: str, declared: Any, type: Type) -> Any:
        text = self.originals.get(CONSUMER_PREFIX + name)
        return declared if text is None else parse_type(CONSUMER_PREFIX + name, text, type)
