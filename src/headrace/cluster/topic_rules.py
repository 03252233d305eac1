"""The topics of a source connector, compared with the rules of its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from headrace.kafka.admin import Admin
from headrace.runtime.plan import client_settings
from headrace.runtime.worker_config import WorkerConfig
from headrace.topics.creation import topic_creation
from headrace.topics.drift import topic_drift

_TIMEOUT_S = 20.0


def drift_of(name: str, config: Mapping[str, Any], topics: Iterable[str], worker: WorkerConfig) -> list[dict[str, Any]]:
    """How the topics that a connector uses differ from its rules; nothing if it has none (`topic.creation.*`).

    config: the connector's, resolved. Raises KafkaFailure, ConfigError.
    """
    rules = topic_creation(config, worker.topic_creation_enable)
    chosen = sorted(topics)
    if rules is None or not chosen:
        return []
    admin = Admin(client_settings(f"headrace-drift-{name}", "admin", config, worker))
    infos = admin.find(chosen, _TIMEOUT_S)
    drift: list[dict[str, Any]] = []
    for topic in chosen:
        info, plan = infos.get(topic), rules.new_topic(topic)
        if plan is None:  # no rule is for it
            continue
        settings = admin.topic_configs(topic, timeout_s=_TIMEOUT_S) if info and plan.configs else {}
        counts = (len(info.partitions), info.replication_factor) if info else (None, None)
        drift += [asdict(difference) for difference in topic_drift(plan, *counts, settings)]
    return drift
