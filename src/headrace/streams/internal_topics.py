"""The internal topics of a topology on a cluster, with partitions and settings: computed, without a request to the cluster.

Kafka derives the same from its topology while a group rebalances (`RepartitionTopics`, `ChangelogTopics`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from headrace.errors import MissingSourceTopicError
from headrace.streams.config import StreamsConfig
from headrace.streams.durations import saturated_sum
from headrace.streams.naming import valid_topic
from headrace.streams.nodes import ProcessorNode, SinkNode, SourceNode
from headrace.streams.partitions import PartitionCounts, Subtopology, repartition_counts
from headrace.streams.stores import WINDOWED, StateStore, StoreKind
from headrace.streams.topology import Topology
from headrace.values.java_hash import java_hash, long_hash, map_hash, objects_hash, set_hash

Count = Callable[[str], int | None]
VERSIONED_ADDITIONAL_MS = 86_400_000
_FALSE = 1237  # `Boolean.FALSE.hashCode()`: nobody sets the number of partitions of a changelog


class TopicKind(StrEnum):
    """The purpose of an internal topic, which decides what is verified."""

    REPARTITION = "repartition"
    CHANGELOG = "changelog"
    WINDOWED_CHANGELOG = "windowed changelog"
    VERSIONED_CHANGELOG = "versioned changelog"


_DEFAULTS = {
    TopicKind.REPARTITION: {"cleanup.policy": "delete", "segment.bytes": "52428800", "retention.ms": "-1"},
    TopicKind.CHANGELOG: {"cleanup.policy": "compact"},
    TopicKind.WINDOWED_CHANGELOG: {"cleanup.policy": "compact,delete"},
    TopicKind.VERSIONED_CHANGELOG: {"cleanup.policy": "compact"},
}


@dataclass(frozen=True)
class InternalTopic:
    """A topic that only the application itself writes to."""

    name: str
    """As on the cluster, with the application's id."""
    kind: TopicKind
    partitions: int
    configs: Mapping[str, str] = field(hash=False)
    """Those that it is created with."""
    replication_factor: int = -1
    """−1: the broker's default."""


def derive(topology: Topology, config: StreamsConfig, count: Count, existing_topics: Iterable[str] = ()) -> list[InternalTopic]:
    """The internal topics, by name.

    count: the number of partitions of a topic on the cluster, None if there is no such topic; existing_topics: those of the
    cluster, against which patterns are matched. Raises MissingSourceTopicError, TopologyError for topics that have to be
    co-partitioned and are not, TaskAssignmentError if a number of partitions does not follow from anything.
    """
    groups = subtopologies(topology, config.topic_prefix, existing_topics)
    counts = _source_counts(groups, count)
    counts |= repartition_counts(groups, copartition_groups(topology, config.topic_prefix, existing_topics), counts)
    topics = {
        name: _topic(name, TopicKind.REPARTITION, counts[name], {}, config) for group in groups for name in group.repartitions
    }
    for group in groups:
        partitions = max((counts[source] for source in group.sources), default=0)
        for store in group.stores if partitions else ():
            if name := changelog_name(topology, config.topic_prefix, store):
                topics[name] = _changelog(name, partitions, topology.stores[store], config)
    return [topics[name] for name in sorted(topics)]


def subtopologies(topology: Topology, prefix: str, existing_topics: Iterable[str] = ()) -> list[Subtopology]:
    """The sub-topologies that have source topics, without global ones. prefix: of internal topics; existing_topics: for
    patterns.
    """
    topics = list(existing_topics)
    all_subtopologies = []
    for number, names in enumerate(topology.groups()):
        if topology.is_global(names):
            continue
        nodes = [topology.nodes[name] for name in names]
        read = [topic for node in nodes if isinstance(node, SourceNode) for topic in _read(node, topics)]
        written = [node.topic for node in nodes if isinstance(node, SinkNode) and isinstance(node.topic, str)]
        stores = dict.fromkeys(store for node in nodes if isinstance(node, ProcessorNode) for store in node.stores)
        repartition_topics = [topology.repartition_topics[topic] for topic in read if topic in topology.repartition_topics]
        sources = frozenset(full_name(topology, prefix, topic) for topic in read)
        all_subtopologies.append(
            Subtopology(
                number,
                sources,
                frozenset(full_name(topology, prefix, topic) for topic in written),
                {full_name(topology, prefix, topic.name): topic.partitions for topic in repartition_topics},
                tuple(name for name in stores if changelog_name(topology, prefix, name)),
                _hash_code(sources, _logs(topology, prefix, stores)),
            )
        )
    return [group for group in all_subtopologies if group.sources]


def _logs(topology: Topology, prefix: str, stores: Iterable[str]) -> dict[str, StateStore]:
    """The stores by their changelogs, which may be source topics."""
    logs = {topology.source_changelogs.get(name) or changelog_name(topology, prefix, name): name for name in stores}
    return {log: topology.stores[name] for log, name in logs.items() if log is not None}


def _hash_code(sources: Iterable[str], logs: Mapping[str, StateStore]) -> int:
    """`TopicsInfo.hashCode()` in Kafka: a remainder of both hashes, beside each other as a signed number of 64 bits."""
    configs = []
    for log, store in logs.items():
        settings = map_hash((java_hash(key), java_hash(value)) for key, value in store.log_config.items())
        retention = [long_hash(_retention_ms(store))] if store.kind in (*WINDOWED, StoreKind.VERSIONED) else []
        configs.append((java_hash(log), objects_hash(java_hash(log), settings, *retention, _FALSE)))
    low = map_hash(configs)
    both = (set_hash(map(java_hash, sources)) << 32) | (low - (1 << 32) if low >> 31 else low) & 0xFFFFFFFFFFFFFFFF
    remainder = (both if both < 1 << 63 else (1 << 64) - both) % 0xFFFFFFFF
    return (remainder if both < 1 << 63 else -remainder) & 0xFFFFFFFF


def external_topics(topology: Topology, existing_topics: Iterable[str]) -> list[str]:
    """The source topics that the application does not write itself, including those of global tables.

    existing_topics: those of the cluster. Raises MissingSourceTopicError for those that are not among them.
    """
    topics = list(existing_topics)
    read = {topic for source in topology.sources() for topic in _read(source, topics)} - set(topology.repartition_topics)
    if missing := sorted(read - set(topics)):
        raise MissingSourceTopicError(missing)
    return sorted(read)


def copartition_groups(topology: Topology, prefix: str, existing_topics: Iterable[str] = ()) -> list[frozenset[str]]:
    """Groups of topics that need the same number of partitions: those of one join, merged where they share a topic."""
    topics = list(existing_topics)
    sources = {source.name: source for source in topology.sources()}
    by_topic: dict[str, set[str]] = {}
    for names in topology.copartitioned:
        read = {full_name(topology, prefix, t) for name in names if name in sources for t in _read(sources[name], topics)}
        group = next((by_topic[topic] for topic in sorted(read) if topic in by_topic), set())
        group |= read
        by_topic.update(dict.fromkeys(read, group))
    return list(dict.fromkeys(frozenset(group) for group in by_topic.values()))


def check_copartitioned(topology: Topology, count: Count, existing_topics: Iterable[str] = ()) -> None:
    """Raise TopologyError if source topics that are joined directly differ in their numbers of partitions.

    Kafka checks this only if the topology has a repartition topic as well; then `derive` has checked it.
    """
    for group in copartition_groups(topology, "", existing_topics):
        external = {topic: partitions for topic in group if (partitions := count(topic)) is not None}
        PartitionCounts.same(external)


def _read(source: SourceNode, existing_topics: list[str]) -> list[str]:
    if source.pattern is None:
        return list(source.topics)
    return source.matched(existing_topics)


def full_name(topology: Topology, prefix: str, topic: str) -> str:
    """The name of a topology's topic on the cluster. prefix: of internal topics."""
    return f"{prefix}-{topic}" if topic in topology.repartition_topics else topic


def changelog_name(topology: Topology, prefix: str, store: str) -> str | None:
    """The name of a store's changelog on the cluster; None without a changelog of its own: logging is off, the source topic of
    its table serves as one, or the store is global.
    """
    logged = store in topology.stores and topology.stores[store].logging_enabled and store not in topology.source_changelogs
    return f"{prefix}-{store}-changelog" if logged else None


def _source_counts(groups: list[Subtopology], count: Count) -> dict[str, int]:
    internal = {name for group in groups for name in group.repartitions}
    external = sorted({topic for group in groups for topic in group.sources} - internal)
    counts = {topic: count(topic) for topic in external}
    if missing := [topic for topic, partitions in counts.items() if partitions is None]:
        raise MissingSourceTopicError(missing)
    return {topic: partitions for topic, partitions in counts.items() if partitions is not None}


def _changelog(name: str, partitions: int, store: StateStore, config: StreamsConfig) -> InternalTopic:
    if store.kind is StoreKind.VERSIONED:
        lag = saturated_sum(_retention_ms(store), VERSIONED_ADDITIONAL_MS)
        configs = {"min.compaction.lag.ms": str(lag), **store.log_config}
        return _topic(name, TopicKind.VERSIONED_CHANGELOG, partitions, configs, config)
    if store.kind in WINDOWED:
        retention = saturated_sum(_retention_ms(store), config.additional_retention_ms)
        configs = {"retention.ms": str(retention), **store.log_config}
        return _topic(name, TopicKind.WINDOWED_CHANGELOG, partitions, configs, config)
    return _topic(name, TopicKind.CHANGELOG, partitions, store.log_config, config)


def _retention_ms(store: StateStore) -> int:
    return (store.retention_ms if store.log_retention_ms is None else store.log_retention_ms) or 0


def _topic(name: str, kind: TopicKind, partitions: int, store_configs: Mapping[str, str], config: StreamsConfig) -> InternalTopic:
    configs = {"message.timestamp.type": "CreateTime", **_DEFAULTS[kind], **config.topic_configs, **store_configs}
    return InternalTopic(valid_topic(name), kind, partitions, dict(sorted(configs.items())), config.replication_factor)
