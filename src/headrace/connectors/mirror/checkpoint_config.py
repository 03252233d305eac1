"""The options of MirrorCheckpointConnector, all of them MirrorMaker 2's."""

from __future__ import annotations

from headrace.config import ConfigDef, Importance, Type, option
from headrace.connectors.mirror.config import (
    CONSUMER_POLL_TIMEOUT,
    OFFSET_SYNCS_TOPIC_LOCATION,
    TOPIC_FILTER_CLASS,
    MirrorConfig,
    Only,
    formats_option,
)
from headrace.connectors.mirror.filters import NameFilter, ValidPatterns
from headrace.connectors.mirror.source_config import MirrorSourceConfig, offset_syncs_topic


class MirrorCheckpointConfig(MirrorConfig):
    """Configuration of a MirrorCheckpointConnector."""

    consumer_poll_timeout_ms: int = CONSUMER_POLL_TIMEOUT
    groups: list[str] = option(
        "groups",
        Type.LIST,
        ".*",
        validator=ValidPatterns(),
        importance=Importance.HIGH,
        doc="Consumer groups to replicate. Supports comma-separated group IDs and regexes.",
    )
    groups_exclude: list[str] = option(
        "groups.exclude",
        Type.LIST,
        "console-consumer-.*,connect-.*,__.*",
        validator=ValidPatterns(),
        importance=Importance.HIGH,
        doc="Exclude groups. Supports comma-separated group IDs and regexes. Excludes take precedence over includes.",
    )
    group_filter_class: str = option(
        "group.filter.class",
        Type.CLASS,
        "org.apache.kafka.connect.mirror.DefaultGroupFilter",
        validator=Only("org.apache.kafka.connect.mirror.DefaultGroupFilter"),
        importance=Importance.LOW,
        doc="GroupFilter to use. Selects consumer groups to replicate.",
    )
    refresh_groups_enabled: bool = option(
        "refresh.groups.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to periodically check for new consumer groups.",
    )
    refresh_groups_interval_seconds: int = option(
        "refresh.groups.interval.seconds",
        Type.LONG,
        600,
        importance=Importance.LOW,
        doc="Frequency of group refresh.",
    )
    emit_checkpoints_enabled: bool = option(
        "emit.checkpoints.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to replicate consumer offsets to target cluster.",
    )
    emit_checkpoints_interval_seconds: int = option(
        "emit.checkpoints.interval.seconds",
        Type.LONG,
        60,
        importance=Importance.LOW,
        doc="Frequency of checkpoints.",
    )
    sync_group_offsets_enabled: bool = option(
        "sync.group.offsets.enabled",
        Type.BOOLEAN,
        False,
        importance=Importance.LOW,
        doc="Whether to periodically write the translated offsets to __consumer_offsets topic in target cluster, as long as "
        "no active consumers in that group are connected to the target cluster",
    )
    sync_group_offsets_interval_seconds: int = option(
        "sync.group.offsets.interval.seconds",
        Type.LONG,
        60,
        importance=Importance.LOW,
        doc="Frequency of consumer group offset sync.",
    )
    checkpoints_topic_replication_factor: int = option(
        "checkpoints.topic.replication.factor",
        Type.SHORT,
        3,
        importance=Importance.LOW,
        doc="Replication factor for checkpoints topic.",
    )
    offset_syncs_topic_location: str = OFFSET_SYNCS_TOPIC_LOCATION
    topic_filter_class: str = TOPIC_FILTER_CLASS
    metric_formats: list[str] = formats_option("of the type MirrorCheckpointConnector")

    @property
    def group_filter(self) -> NameFilter:
        """Which groups have checkpoints."""
        return NameFilter(self.groups, self.groups_exclude)

    @property
    def topic_filter(self) -> NameFilter:
        """Which topics' offsets are in checkpoints."""
        options = ConfigDef([MirrorSourceConfig.topics, MirrorSourceConfig.topics_exclude])  # pyright: ignore[reportArgumentType]
        return NameFilter(*options.parse(self.originals).values())

    @property
    def offset_syncs_topic(self) -> str:
        """The topic with the pairs of offsets."""
        return offset_syncs_topic(self, self.offset_syncs_topic_location)

    @property
    def checkpoints_topic(self) -> str:
        """The topic, in the target, that checkpoints are written to."""
        return self.policy.checkpoints_topic(self.source_cluster_alias)
