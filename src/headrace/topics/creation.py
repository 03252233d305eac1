"""Which settings a topic gets that a source connector is about to create (KIP-158, in the adopted form). Pure.

`topic.creation.default.…` holds for every topic; groups named in `topic.creation.groups` take precedence, the first
that matches wins. A group inherits partitions and replication factor from `default`, nothing else. The form of the
proposal, a single `default`, is the case without groups. The rules of its earlier revision (`topic.creation`) are groups
without a default: what no rule matches is not created.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import structlog

from headrace.config import ConfigDef, java_text
from headrace.config.java_pattern import java_regex
from headrace.config.prefixes import under
from headrace.connect_config.topic_creation import (
    DEFAULT_GROUP,
    EXCLUDE,
    GROUPS,
    INCLUDE,
    OF_RULE,
    OWN,
    PARTITIONS,
    PREFIX,
    REGEX,
    REPLICATION_FACTOR,
    RULES,
    check_spelling,
    default_group_options,
    group_options,
    has_rules,
    has_settings,
    rule_options,
)
from headrace.connectors.topic_settings import TopicSettings

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class NewTopicPlan(TopicSettings):
    """A topic to create."""

    group: TopicCreationGroup
    """Whose settings it has."""

    def __str__(self) -> str:
        return (
            f"(name={self.name}, numPartitions={self.partitions}, replicationFactor={self.replication_factor}, "
            f"replicasAssignments=null, configs={java_text(dict(self.configs))})"
        )


@dataclass(frozen=True)
class TopicCreationGroup:
    """The settings of one group, and the topics it is for."""

    name: str
    """`default`, or an alias of `topic.creation.groups`."""
    include: tuple[str, ...]
    """Java regular expressions of topics."""
    exclude: tuple[str, ...]
    """The same, of topics that it is not for."""
    partitions: int
    """-1: the broker's default."""
    replication_factor: int
    """-1: the broker's default."""
    configs: Mapping[str, str]
    """Settings of the topic, by Kafka's names."""

    def matches(self, topic: str) -> bool:
        """Whether the whole name matches an `include` and no `exclude`."""
        return not self._excluded.fullmatch(topic) and bool(self._included.fullmatch(topic))

    def new_topic(self, topic: str) -> NewTopicPlan:
        """The topic of this name with this group's settings."""
        return NewTopicPlan(topic, self.partitions, self.replication_factor, self.configs, self)

    @cached_property
    def _included(self) -> re.Pattern[str]:
        return java_regex("|".join(self.include))

    @cached_property
    def _excluded(self) -> re.Pattern[str]:
        return java_regex("|".join(self.exclude))

    def __str__(self) -> str:
        return (
            f"TopicCreationGroup{{name='{self.name}', inclusionPattern={'|'.join(self.include)}, "
            f"exclusionPattern={'|'.join(self.exclude)}, numPartitions={self.partitions}, "
            f"replicationFactor={self.replication_factor}, otherConfigs={java_text(dict(self.configs))}}}"
        )


@dataclass(frozen=True)
class TopicCreation:
    """The groups of a connector."""

    groups: tuple[TopicCreationGroup, ...]
    """In the order in which they are tried."""
    default: TopicCreationGroup | None
    """Tried after all others; None with rules, which have no such group."""

    def rule_for(self, topic: str) -> TopicCreationGroup | None:
        """The first group that matches the final name of a topic, else the default group; None: no rule matches."""
        return next((group for group in self.groups if group.matches(topic)), self.default)

    def new_topic(self, topic: str) -> NewTopicPlan | None:
        """The topic to create; None if it is not created."""
        rule = self.rule_for(topic)
        return rule and rule.new_topic(topic)


def topic_creation(props: Mapping[str, Any], enabled: bool = True) -> TopicCreation | None:
    """Read a source connector's configuration.

    props: the connector's properties; enabled: the worker's `topic.creation.enable`. Returns None if topics are not
    to be created: the worker forbids it, or no property is `topic.creation` or begins with `topic.creation.`. Raises
    ConfigError in Kafka's words.
    """
    if not enabled or not has_settings(props):
        return None
    check_spelling(props)
    if has_rules(props):
        return TopicCreation(tuple(_rule(name, props) for name in ConfigDef([RULES]).parse(props)[RULES.name]), None)
    names = ConfigDef([GROUPS]).parse(props)[GROUPS.name]
    if DEFAULT_GROUP in names:
        log.warning("'default' topic creation group always exists and does not need to be listed explicitly")
    default = _group(DEFAULT_GROUP, default_group_options(), props)
    inherited = (default.replication_factor, default.partitions)
    named = [name for name in names if name != DEFAULT_GROUP]
    return TopicCreation(tuple(_group(n, group_options(n, *inherited), props) for n in named), default)


def _group(name: str, options: ConfigDef, props: Mapping[str, Any]) -> TopicCreationGroup:
    prefix = f"{PREFIX}{name}."
    parsed = options.parse(props)
    is_default = name == DEFAULT_GROUP  # it is for every topic, whatever its include and exclude say
    return TopicCreationGroup(
        name=name,
        include=(".*",) if is_default else tuple(parsed[prefix + INCLUDE]),
        exclude=() if is_default else tuple(parsed[prefix + EXCLUDE]),
        partitions=parsed[prefix + PARTITIONS],
        replication_factor=parsed[prefix + REPLICATION_FACTOR],
        configs=_configs(props, prefix, OWN),
    )


def _rule(name: str, props: Mapping[str, Any]) -> TopicCreationGroup:
    prefix = f"{PREFIX}{name}."
    parsed = rule_options(name).parse(props)
    numbers = (parsed[prefix + PARTITIONS], parsed[prefix + REPLICATION_FACTOR])
    return TopicCreationGroup(name, (parsed[prefix + REGEX],), (), *numbers, _configs(props, prefix, OF_RULE))


def _configs(props: Mapping[str, Any], prefix: str, group_settings: tuple[str, ...]) -> dict[str, str]:
    return {k: java_text(v) for k, v in under(props, prefix).items() if k not in group_settings and v is not None}
