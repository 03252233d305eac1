"""What becomes of a topic that does not exist, without a broker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.connectors.topic_settings import TopicSettings
from headrace.errors import ConnectError
from headrace.topics.creation import NewTopicPlan, topic_creation
from headrace.topics.planning import SettingsForNewTopic, planned


def plan_of(topic: str, hook: SettingsForNewTopic | None = None) -> NewTopicPlan | str:
    rules = topic_creation({"topic.creation": "a", "topic.creation.a.regex": "a.*"})
    assert rules
    return planned(rules, topic, hook, lambda: 2)


def test_a_topic_has_the_settings_of_its_rule_or_those_that_the_connector_makes_of_them():
    def with_brokers(settings: TopicSettings, cluster_size: int) -> TopicSettings:
        return replace(settings, replication_factor=cluster_size)

    plans = [plan_of("ab"), plan_of("ab", with_brokers)]
    assert [(plan.partitions, plan.replication_factor) for plan in plans if isinstance(plan, NewTopicPlan)] == [(1, 3), (1, 2)]


def test_a_topic_that_is_not_to_be_created_has_a_reason():
    assert plan_of("b") == "no rule of topic.creation matches its name"
    vetoed = plan_of("ab", lambda settings, cluster_size: None)
    assert vetoed == "the connector does not want it (settings_for_new_topic)"


def test_an_answer_that_no_topic_can_have_is_refused():
    with pytest.raises(ConnectError, match="answered the replication factor 0 for the new topic 'ab'"):
        plan_of("ab", lambda settings, cluster_size: replace(settings, replication_factor=0))
