"""The topics that a connector uses, compared with the topic creation rules of its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from headrace.connect_config.validation import connector_class
from headrace.errors import RestError
from headrace.kafka.admin import Admin
from headrace.kafka.topic_info import ConfiguredValue, TopicInfo
from headrace.runtime.plan import client_settings
from headrace.runtime.worker_config import WorkerConfig
from headrace.topics.creation import NewTopicPlan, topic_creation
from headrace.topics.drift import topic_drift
from headrace.topics.planning import planned, settings_hook

_TIMEOUT_S = 5.0


def require_tracking(worker: WorkerConfig) -> None:
    """Raise RestError 403 if tracking of topics is off."""
    if not worker.topic_tracking_enable:
        raise RestError(403, "Topic tracking is disabled.")


def topics_in_use(
    name: str, config: Mapping[str, Any], topics: Iterable[str], worker: WorkerConfig, *, has_rules: bool
) -> dict[str, list[dict[str, Any]]]:
    """`topics`, each with its own settings, and `drift`, their differences from the rules (`topic.creation.*`).

    The rules are what the connector makes of them (`settings_for_new_topic`): a topic that it does not want created has none.
    config: the connector's, resolved; has_rules: whether it creates topics, as sources do. Raises KafkaFailure, ConfigError, and
    what the connector raises; RestError 403 if there are rules, and tracking is off.
    """
    rules = topic_creation(config, worker.topic_creation_enable) if has_rules else None
    if rules:
        require_tracking(worker)  # without rules nothing can differ, whether topics are known or not
    chosen = sorted(topics)
    if not chosen:
        return {"topics": [], "drift": []}
    admin = Admin(client_settings(f"headrace-drift-{name}", "admin", config, worker))
    infos = admin.find(chosen, _TIMEOUT_S)
    settings = admin.configs_of(sorted(infos), _TIMEOUT_S)
    hook = settings_hook(connector_class(config, again=False), config) if rules else None
    broker_count = cache(lambda: admin.broker_count(_TIMEOUT_S))
    body: dict[str, list[dict[str, Any]]] = {"topics": [], "drift": []}
    for topic in chosen:
        wanted = rules and planned(rules, topic, hook, broker_count)
        plan = wanted if isinstance(wanted, NewTopicPlan) else None
        info, topic_settings = infos.get(topic), settings.get(topic, {})
        body["topics"].append(_topic(topic, info, topic_settings, plan))
        body["drift"] += _drift(plan, info, topic_settings) if plan else []
    return body


def _topic(
    name: str, info: TopicInfo | None, settings: Mapping[str, ConfiguredValue], plan: NewTopicPlan | None
) -> dict[str, Any]:
    return {
        "topic": name,
        "group": plan.group.name if plan else None,
        "partitions": len(info.partitions) if info else None,
        "replication_factor": info.replication_factor if info else None,
        "settings": {key: setting.value for key, setting in sorted(settings.items()) if setting.is_own},
    }


def _drift(plan: NewTopicPlan, info: TopicInfo | None, settings: Mapping[str, ConfiguredValue]) -> Iterable[dict[str, Any]]:
    counts = (len(info.partitions), info.replication_factor) if info else (None, None)
    return map(asdict, topic_drift(plan, plan.group.name, *counts, {key: setting.value for key, setting in settings.items()}))
