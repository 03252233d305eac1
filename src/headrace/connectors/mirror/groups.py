"""Consumer groups of the source cluster that read mirrored topics."""

from __future__ import annotations

from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.filters import NameFilter
from headrace.kafka.groups import Partition


def accepted_partitions(admin: MirrorAdmin, topics: NameFilter, timeout_s: float) -> list[Partition]:
    """The partitions of the topics that the filter lets through. Raises KafkaFailure."""
    descriptions = admin.topics(timeout_s)
    return [(name, p) for name, info in sorted(descriptions.items()) if topics.accepts(name) for p in sorted(info.partitions)]


def relevant_groups(admin: MirrorAdmin, groups: NameFilter, topics: NameFilter, timeout_s: float) -> list[str]:
    """The groups that the filter lets through and that have an offset in at least one of the topics. Raises KafkaFailure."""
    partitions = accepted_partitions(admin, topics, timeout_s)
    named = [group for group in admin.groups(timeout_s) if groups.accepts(group)]
    return [group for group in named if admin.group_offsets(group, partitions, timeout_s)]
