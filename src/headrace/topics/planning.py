"""What becomes of a topic that does not exist: by the rules of its connector, then by the connector's own say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from headrace.connect_config.topic_creation import BROKER_DEFAULT
from headrace.connectors.base import Props, SourceConnector
from headrace.connectors.topic_settings import TopicSettings
from headrace.errors import ConnectError
from headrace.topics.creation import NewTopicPlan, TopicCreation

SettingsForNewTopic = Callable[[TopicSettings, int], TopicSettings | None]
"""`SourceConnector.settings_for_new_topic` of one connector: from the settings of a rule, and the number of brokers."""


def settings_hook(connector: type[Any], config: Props) -> SettingsForNewTopic | None:
    """A connector's hook, None if it does not override it: then the number of brokers is not needed.

    connector: a class in Java has none; config: the connector's, resolved.
    """
    hook = getattr(connector, "settings_for_new_topic", None)
    if hook is None or hook.__func__ is SourceConnector.settings_for_new_topic.__func__:
        return None
    return partial(hook, config)


def planned(
    rules: TopicCreation, topic: str, hook: SettingsForNewTopic | None, broker_count: Callable[[], int]
) -> NewTopicPlan | str:
    """The topic to create; or, if it is not to be created, why.

    hook: the connector's, None if it has none; broker_count: only called for a hook. Raises ConnectError for an answer of the
    hook that no topic can have, and what the two raise.
    """
    plan = rules.new_topic(topic)
    if plan is None:
        return "no rule of topic.creation matches its name"
    if hook is None:
        return plan
    settings = hook(plan, broker_count())
    return "the connector does not want it (settings_for_new_topic)" if settings is None else _checked(plan, settings)


def _checked(plan: NewTopicPlan, settings: TopicSettings) -> NewTopicPlan:
    """The plan with a connector's own settings. Raises ConnectError for what no topic can have."""
    counts = {"partitions": settings.partitions, "replication factor": settings.replication_factor}
    wrong = [f"the {setting} {count}" for setting, count in counts.items() if count < 1 and count != BROKER_DEFAULT]
    if settings.name != plan.name:
        wrong.append(f"the name '{settings.name}'")
    if wrong:
        raise ConnectError(
            f"The connector's settings_for_new_topic answered {' and '.join(wrong)} for the new topic '{plan.name}'; counts "
            "have to be positive, or -1 for the broker's default, and the name stays."
        )
    counts = {"partitions": settings.partitions, "replication_factor": settings.replication_factor}
    return replace(plan, configs=settings.configs, **counts)
