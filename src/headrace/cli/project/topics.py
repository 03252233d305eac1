"""The topics that a project declares, compared with those of the cluster, created and changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headrace.cli.connectors.texts import plain
from headrace.cli.project.folder import TOPICS
from headrace.config.diff import Action, ChangedSetting, Diff
from headrace.connectors.topic_settings import TopicSettings
from headrace.kafka.admin import DEFAULT_TIMEOUT_S
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.inspection import InspectingAdmin
from headrace.topics.drift import TopicDrift, topic_drift

_PARTITIONS, _REPLICATION_FACTOR = "partitions", "replication.factor"


class TopicChanges:
    """What makes the topics of a cluster those that a project declares; settings that it does not name stay as they are."""

    def __init__(self, admin: InspectingAdmin, declared: Mapping[str, TopicSettings]) -> None:
        """Compare, and have the broker check what is new. Raises KafkaFailure if the cluster does not answer."""
        self._admin, self._declared = admin, declared
        drift = declared_drift(admin, declared)
        self.diffs = [_diff(topic, drift[name]) for name, topic in declared.items()]
        self.problems = [problem for diff in self.diffs for problem in self._problems(diff)]

    def carry_out(self, diff: Diff) -> None:
        """Create the topic, or give it settings and partitions. Raises KafkaFailure."""
        topic = self._declared[diff.name]
        if diff.action is Action.CREATE:
            self._admin.create(topic.name, topic.partitions, topic.replication_factor, topic.configs)
            return
        if settings := _settings(diff):
            self._admin.alter(topic.name, settings)
        if any(setting.key == _PARTITIONS for setting in diff.settings):
            self._admin.add_partitions(topic.name, topic.partitions)

    def sentence(self, diff: Diff) -> str:
        """That it has been done."""
        return f"Topic {plain(diff.name)} has been {'created' if diff.action is Action.CREATE else 'changed'}."

    def _problems(self, diff: Diff) -> list[str]:
        """Why it cannot be done: what no request can change, and what the broker refuses."""
        topic, problems, grows = self._declared[diff.name], list[str](), False
        for setting in diff.settings if diff.action is Action.CHANGE else ():
            where = f"{TOPICS}: {topic.name} has {setting.old} as {setting.key}, and is declared with {setting.new}"
            if setting.key == _REPLICATION_FACTOR:
                problems.append(f"{where}: move its replicas with kafka-reassign-partitions.sh, or declare what it has.")
            elif setting.key == _PARTITIONS:
                grows = int(setting.new or 0) > int(setting.old or 0)
                if not grows:
                    problems.append(f"{where}: Kafka takes no partitions away; declare what it has.")
        try:
            if diff.action is Action.CREATE:
                self._admin.check_creation(topic.name, topic.partitions, topic.replication_factor, topic.configs)
            elif settings := _settings(diff):
                self._admin.check_settings(topic.name, settings)
            if grows:
                self._admin.check_partitions(topic.name, topic.partitions)
        except KafkaFailure as failure:
            problems.append(f"{TOPICS}: {topic.name}: {failure.reason}")
        return problems


def declared_drift(admin: InspectingAdmin, declared: Mapping[str, TopicSettings]) -> dict[str, list[TopicDrift]]:
    """How the topics of a cluster differ from those that are declared, by name. Raises KafkaFailure.

    A cluster that does not answer is waited for as long as `default.api.timeout.ms` of the environment says, 30 s at most.
    """
    timeout_s = min(DEFAULT_TIMEOUT_S, admin.api_timeout_s)
    infos = admin.find(declared, timeout_s)
    settings = admin.configs_of(sorted(infos), timeout_s)
    drift = {}
    for name, topic in declared.items():
        info = infos.get(name)
        counts = (len(info.partitions), info.replication_factor) if info else (None, None)
        drift[name] = list(topic_drift(topic, TOPICS, *counts, {k: v.value for k, v in settings.get(name, {}).items()}))
    return drift


def _diff(topic: TopicSettings, drift: Sequence[TopicDrift]) -> Diff:
    declared = {_PARTITIONS: str(topic.partitions), _REPLICATION_FACTOR: str(topic.replication_factor), **topic.configs}
    if any(difference.actual is None and difference.what == "topic" for difference in drift):
        return Diff(topic.name, Action.CREATE, tuple(ChangedSetting(key, None, value) for key, value in declared.items()))
    changed = tuple(ChangedSetting(difference.what, difference.actual, difference.wanted) for difference in drift)
    return Diff(topic.name, Action.CHANGE if changed else Action.KEEP, changed, len(declared) - len(changed))


def _settings(diff: Diff) -> dict[str, str]:
    """The topic-level settings among what differs."""
    counts = (_PARTITIONS, _REPLICATION_FACTOR)
    return {setting.key: setting.new for setting in diff.settings if setting.key not in counts and setting.new is not None}
