"""Ensures that the topics of a source task exist before it writes to them (KIP-158): the side effects.

Sentences and log lines are those of Kafka Connect (AbstractWorkerSourceTask, TopicAdmin). As there, each task remembers for
itself which topics exist and never forgets: one that is deleted while the task runs is not made again before a restart, but for
the copies of a mirror (`renew`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from functools import partial

import structlog

from headrace.errors import ConnectError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import REQUEST_TIMED_OUT, KafkaFailure
from headrace.kafka.topic_info import TopicInfo
from headrace.topics.creation import NewTopicPlan, TopicCreation
from headrace.topics.planning import SettingsForNewTopic, planned
from headrace.topics.refusals import assumption, not_created, not_described
from headrace.topics.waiting import WITHOUT_SETTINGS, TopicWaiter

log = structlog.get_logger(__name__)

_RENEW_S = 5.0


class TopicCreator:
    """Creates, or waits for, the topics of one source task. Not for use by several threads."""

    def __init__(
        self,
        admin: Admin,
        creation: TopicCreation | None,
        stopping: threading.Event,
        producer: Mapping[str, str],
        settings_for_new_topic: SettingsForNewTopic | None = None,
    ) -> None:
        """Take what is needed; nothing is asked of a broker yet.

        admin: the task's admin client; creation: the task's rules, None if it may not create topics; stopping: set when the
        task is being stopped; producer: the task's Java producer settings: they name the brokers in messages, and without rules
        it is a producer's request that makes the broker create a topic; settings_for_new_topic: the connector's hook, None if
        it has none.
        """
        self._admin, self._creation, self._timeout_s = admin, creation, admin.api_timeout_s
        self._hook = settings_for_new_topic
        self._brokers = producer.get("bootstrap.servers", "<unknown>")
        self._waiter = TopicWaiter(producer, stopping)
        self._existing: set[str] = set()
        self._awaited: dict[str, str] = {}  # topics that the connector does not create, and why not
        self._missed: set[str] = set()

    def ensure(self, topics: Iterable[str]) -> None:
        """Return once these topics exist. Names are final, after the transforms.

        Raises what `missing` raises. Without rules, waits until the broker, or somebody else, has created them; raises
        RetriableError if the task is stopped before that.
        """
        for topic in topics:
            if self.missing([topic]):
                self._waiter.wait_for(topic, self._awaited[topic])
                self._existing.add(topic)

    def missing(self, topics: Iterable[str]) -> set[str]:
        """The topics that do not exist, and that the broker, or somebody else, has to create: those without rules.

        With rules, a missing topic is created. Raises RetriableError if describing one timed out, ConnectError for everything
        else that goes wrong; the message is Kafka Connect's.
        """
        missing = set[str]()
        for topic in topics:
            if topic in self._existing or self._creation is None:
                log.debug(
                    "Topic creation by the connector is disabled or the topic %s was previously created. If "
                    "auto.create.topics.enable is enabled on the broker, the topic will be created with default settings",
                    topic,
                )
            if topic in self._existing:
                continue
            if topic not in self._awaited:
                why = WITHOUT_SETTINGS if self._creation is None else self._find_or_create(topic, self._creation)
                if why is not None:
                    self._awaited[topic] = why
            if topic in self._awaited and not self._waiter.exists(topic, self._awaited[topic]):
                missing.add(topic)
            else:
                self._existing.add(topic)
        return missing

    def renew(self, topics: Iterable[str], *, create: bool) -> set[str]:
        """Look whether these topics, which `ensure` has found or created, are still there, and say so in the log if one is not.

        create: make it again, if there are rules; returns those that were made. Otherwise the producer waits for it. For any
        thread. Raises KafkaFailure, ConnectError.
        """
        rules = self._creation if create else None
        missing, created = set(topics), set[str]()
        present = self._admin.find(missing, _RENEW_S)
        self._missed -= present.keys()
        for topic in sorted(missing - present.keys()):
            if self._admin.describe(topic, _RENEW_S) is not None:  # a topic that may not be described is not missing
                continue
            plan = rules and self._plan(rules, topic)
            if isinstance(plan, NewTopicPlan) and self._create(plan):
                log.warning("Topic '%s' was deleted while it is written to. It is created again, without what was in it", topic)
                created.add(topic)
            elif not isinstance(plan, NewTopicPlan) and topic not in self._missed:
                log.warning("Topic '%s' was deleted while it is written to; waiting until it exists", topic)
                self._missed.add(topic)
        return created

    def ensure_dead_letters(self, topic: str, replication_factor: int) -> None:
        """Return once the dead letter topic exists: one partition, if it has to be created. Raises as `ensure` does."""
        if topic in self._existing:
            return
        try:
            description = self._admin.describe(topic, self._timeout_s)
        except KafkaFailure as failure:
            if failure.code == REQUEST_TIMED_OUT:
                raise not_described(topic, failure, self._brokers) from failure
            raise ConnectError(f"Could not initialize dead letter queue with topic={topic}") from failure
        try:
            if description is None:
                self._admin.create(topic, 1, replication_factor, {}, self._timeout_s, exist_ok=True)
        except KafkaFailure as failure:
            raise ConnectError(f"Could not initialize dead letter queue with topic={topic}") from failure
        self._existing.add(topic)

    def _find_or_create(self, topic: str, creation: TopicCreation) -> str | None:
        """Find a topic, or create it; returns why it is not created."""
        log.info("The task will send records to topic '%s' for the first time. Checking whether topic exists", topic)
        if self._describe(topic) is not None:
            log.info("Topic '%s' already exists.", topic)
            return None
        plan = self._plan(creation, topic)
        if isinstance(plan, str):
            return plan
        log.info("Creating topic '%s'", topic)
        log.debug("Topic '%s' matched topic creation group: %s", topic, plan.group)
        if self._create(plan):
            log.info("Created topic %s on brokers at %s", plan, self._brokers)
            log.info("Created topic '%s' using creation group %s", plan, plan.group)
        else:
            log.info("Found existing topic '%s'", topic)
        return None

    def _plan(self, creation: TopicCreation, topic: str) -> NewTopicPlan | str:
        """The plan of a topic by the rules and the hook; if it is not to be created, the reason, which is logged."""
        plan = planned(creation, topic, self._hook, partial(self._broker_count, topic))
        if isinstance(plan, str):
            log.info("topic.not-created", topic=topic, why=plan)
        return plan

    def _broker_count(self, topic: str) -> int:
        try:
            return self._admin.broker_count(self._timeout_s)
        except KafkaFailure as failure:
            raise not_described(topic, failure, self._brokers) from failure

    def _describe(self, topic: str) -> TopicInfo | None:
        try:
            return self._admin.describe(topic, self._timeout_s)
        except KafkaFailure as failure:
            raise not_described(topic, failure, self._brokers) from failure

    def _create(self, plan: NewTopicPlan) -> bool:
        """Create the topic; False if it exists already."""
        numbers = (plan.partitions, plan.replication_factor)
        try:
            self._admin.create(plan.name, *numbers, plan.configs, timeout_s=self._timeout_s)
        except KafkaFailure as failure:
            if failure.code == "TOPIC_ALREADY_EXISTS":
                log.debug("Found existing topic '%s' on the brokers at %s", plan.name, self._brokers)
                return False
            if text := assumption(plan.name, failure, self._brokers):
                log.debug(text)
                log.warning("Request to create new topic '%s' failed", plan.name)
            raise not_created(plan, failure) from failure
        return True
