"""The options of MirrorSourceConnector: MirrorMaker 2's, and the few that headrace adds."""

from __future__ import annotations

from headrace.config import Importance, Type, option
from headrace.config.validators import Range, ValidString
from headrace.connect_config.data_loss import DataLossConfig
from headrace.connect_config.stream_mode import StreamModeConfig
from headrace.connectors.mirror.config import (
    CONSUMER_POLL_TIMEOUT,
    OFFSET_SYNCS_TOPIC_LOCATION,
    TOPIC_FILTER_CLASS,
    MirrorConfig,
    Only,
    formats_option,
)
from headrace.connectors.mirror.filters import NameFilter, Selection, ValidPatterns


class MirrorSourceConfig(DataLossConfig, StreamModeConfig, MirrorConfig):
    """Configuration of a MirrorSourceConnector."""

    topics: list[str] = option(
        "topics",
        Type.LIST,
        ".*",
        validator=ValidPatterns(),
        importance=Importance.HIGH,
        doc="Topics to replicate. Supports comma-separated topic names and regexes.",
    )
    topics_exclude: list[str] = option(
        "topics.exclude",
        Type.LIST,
        "mm2.*\\.internal,.*\\.replica,__.*",
        validator=ValidPatterns(),
        importance=Importance.HIGH,
        doc="Excluded topics. Supports comma-separated topic names and regexes. Excludes take precedence over includes.",
    )
    config_properties_exclude: list[str] = option(
        "config.properties.exclude",
        Type.LIST,
        "follower.replication.throttled.replicas,leader.replication.throttled.replicas,"
        "message.timestamp.difference.max.ms,log.message.timestamp.before.max.ms,"
        "log.message.timestamp.after.max.ms,message.timestamp.type,unclean.leader.election.enable,"
        "min.insync.replicas",
        validator=ValidPatterns(),
        importance=Importance.HIGH,
        doc="Topic config properties that should not be replicated. Supports comma-separated property names and regexes.",
    )
    topic_filter_class: str = TOPIC_FILTER_CLASS
    config_property_filter_class: str = option(
        "config.property.filter.class",
        Type.CLASS,
        "org.apache.kafka.connect.mirror.DefaultConfigPropertyFilter",
        validator=Only("org.apache.kafka.connect.mirror.DefaultConfigPropertyFilter"),
        importance=Importance.LOW,
        doc="ConfigPropertyFilter to use. Selects topic config  properties to replicate.",
    )
    consumer_poll_timeout_ms: int = CONSUMER_POLL_TIMEOUT
    refresh_topics_enabled: bool = option(
        "refresh.topics.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to periodically check for new topics and partitions.",
    )
    refresh_topics_interval_seconds: int = option(
        "refresh.topics.interval.seconds",
        Type.LONG,
        600,
        importance=Importance.LOW,
        doc="Frequency of topic refresh.",
    )
    sync_topic_configs_enabled: bool = option(
        "sync.topic.configs.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to periodically configure remote topics to match their corresponding upstream topics.",
    )
    sync_topic_configs_interval_seconds: int = option(
        "sync.topic.configs.interval.seconds",
        Type.LONG,
        600,
        importance=Importance.LOW,
        doc="Frequency of topic config sync.",
    )
    sync_topic_acls_enabled: bool = option(
        "sync.topic.acls.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to periodically configure remote topic ACLs to match their corresponding upstream topics.",
    )
    sync_topic_acls_interval_seconds: int = option(
        "sync.topic.acls.interval.seconds",
        Type.LONG,
        600,
        importance=Importance.LOW,
        doc="Frequency of topic ACL sync.",
    )
    replication_factor: int = option(
        "replication.factor",
        Type.INT,
        2,
        importance=Importance.LOW,
        doc="Replication factor for newly created remote topics.",
    )
    offset_syncs_topic_replication_factor: int = option(
        "offset-syncs.topic.replication.factor",
        Type.SHORT,
        3,
        importance=Importance.LOW,
        doc="Replication factor for offset-syncs topic.",
    )
    offset_lag_max: int = option(
        "offset.lag.max",
        Type.LONG,
        100,
        importance=Importance.LOW,
        doc="How out-of-sync a remote partition can be before it is resynced.",
    )
    offset_syncs_topic_location: str = OFFSET_SYNCS_TOPIC_LOCATION
    emit_offset_syncs_enabled: bool = option(
        "emit.offset-syncs.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to store the new offset of the replicated records in offset-syncs topic or not. "
        "MirrorCheckpointConnector will not be able to sync group offsets or emit checkpoints if emit.checkpoints.enabled"
        " and/or sync.group.offsets.enabled are enabled while emit.offset-syncs.enabled is disabled.",
    )
    heartbeats_replication_enabled: bool = option(
        "heartbeats.replication.enabled",
        Type.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether to replicate the heartbeats topics even when the topic filter does not include them. If set to true, "
        "heartbeats topics identified by the replication policy will always be replicated, regardless of the topic filter"
        " configuration. If set to false, heartbeats topics will only be replicated if the topic filter allows.",
    )
    use_defaults_from: str = option(
        "use.defaults.from",
        Type.STRING,
        "target",
        validator=ValidString("source", "target"),
        importance=Importance.LOW,
        doc="Of the default config property filter: which defaults (source or target) to use when syncing topic configurations "
        "that have default values. If set to source, a property at its default on the source is written with the source's value. "
        "If set to target, it is removed on the target, which then uses its own default.",
    )
    provenance_headers_enabled: bool = option(
        "provenance.headers.enabled",
        Type.BOOLEAN,
        False,
        importance=Importance.LOW,
        doc="Of headrace: give every record a header `mirror.provenance` with the alias of the cluster that it comes from, and "
        "leave out records that have been in the target cluster before, so that topics can be mirrored both ways under one name.",
    )
    metric_formats: list[str] = formats_option("of the type MirrorSourceConnector")
    batch_max_records: int = option(
        "batch.max.records",
        Type.INT,
        500_000,
        validator=Range(1),
        importance=Importance.LOW,
        doc="Of headrace: how many records a task reads from the source cluster before it writes and commits, at most.",
    )

    @property
    def selection(self) -> Selection:
        """Which topics are mirrored."""
        name_filter = NameFilter(self.topics, self.topics_exclude)
        return Selection(self.policy, name_filter, self.target_cluster_alias, self.heartbeats_replication_enabled)

    @property
    def offset_syncs_topic(self) -> str:
        """The topic with the pairs of offsets."""
        return offset_syncs_topic(self, self.offset_syncs_topic_location)


def offset_syncs_topic(config: MirrorConfig, location: str) -> str:
    """The topic with the pairs of offsets, which is named after the cluster on the other side of where it is."""
    alias = config.target_cluster_alias if location == "source" else config.source_cluster_alias
    return config.policy.offset_syncs_topic(alias)
