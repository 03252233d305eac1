"""Admin calls that only a mirror needs: settings and ACLs of topics, the list of groups."""

# pyright: reportPrivateImportUsage=false
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import ConsumerGroupState
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ConfigResource,
    ConfigSource,
    ResourcePatternType,
    ResourceType,
)

from headrace.connectors.mirror.acls import Acl
from headrace.connectors.mirror.settings import TopicSetting
from headrace.kafka.admin import DEFAULT_TIMEOUT_S, Admin
from headrace.kafka.groups import CommittedOffset, GroupOffsets, Partition


class MirrorAdmin(Admin):
    """An admin client of one of the two clusters; errors and time-outs as those of Admin."""

    def settings(self, topics: Iterable[str], timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, list[TopicSetting]]:
        """The settings of topics, with the source of each value."""
        resources = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics]
        settings: dict[str, list[TopicSetting]] = {}
        for resource in resources:  # librdkafka takes one at a time
            entries = self._wait_all(lambda r=resource: self._client.describe_configs([r], request_timeout=timeout_s), timeout_s)
            settings[resource.name] = [_setting(entry) for entry in entries[resource].values()]
        return settings

    def topic_acls(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> list[Acl]:
        """The ACLs of topics, of any pattern; none where the cluster has no authorizer."""
        anything: Any = None  # the stubs want a text where None means all
        pattern, operation = ResourcePatternType.ANY, AclOperation.ANY
        any_topic = AclBindingFilter(ResourceType.TOPIC, anything, pattern, anything, anything, operation, AclPermissionType.ANY)
        return [_acl(b) for b in self._wait(lambda: self._client.describe_acls(any_topic, request_timeout=timeout_s), timeout_s)]

    def create_acls(self, acls: Sequence[Acl], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Add ACLs of topics with literal names; those that are there stay."""
        bindings = [
            AclBinding(
                ResourceType.TOPIC, acl.topic, ResourcePatternType.LITERAL, acl.principal, acl.host,
                AclOperation[acl.operation], AclPermissionType[acl.permission],
            )
            for acl in acls
        ]  # fmt: skip
        self._wait_all(lambda: self._client.create_acls(bindings, request_timeout=timeout_s), timeout_s)

    def groups(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> list[str]:
        """The consumer groups of the cluster."""
        listing = self._wait(lambda: self._client.list_consumer_groups(request_timeout=timeout_s), timeout_s)
        return sorted(group.group_id for group in listing.valid if group.state != ConsumerGroupState.DEAD)

    def group_offsets(
        self, group: str, partitions: Iterable[Partition], timeout_s: float = DEFAULT_TIMEOUT_S
    ) -> dict[Partition, CommittedOffset]:
        """The committed offsets of a group, through a client that ends with the call: there may be thousands of groups."""
        return GroupOffsets(self._props, group).committed(partitions, timeout_s)

    def commit_group(
        self, group: str, offsets: Mapping[Partition, CommittedOffset], timeout_s: float = DEFAULT_TIMEOUT_S
    ) -> None:
        """Set committed offsets of a group without active members, likewise."""
        GroupOffsets(self._props, group).commit(offsets, timeout_s)


def _setting(entry: Any) -> TopicSetting:
    return TopicSetting(
        entry.name,
        entry.value,
        is_default=entry.source == ConfigSource.DEFAULT_CONFIG.value,
        hidden=bool(entry.is_read_only or entry.is_sensitive),
        static=entry.source == ConfigSource.STATIC_BROKER_CONFIG.value,
        own=entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value,
    )


def _acl(binding: Any) -> Acl:
    literal = binding.resource_pattern_type == ResourcePatternType.LITERAL
    return Acl(binding.name, binding.principal, binding.host, binding.operation.name, binding.permission_type.name, literal)
