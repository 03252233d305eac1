"""Makes sure that the topics of a source task exist before it writes to them (KIP-158): the side effects.

Sentences and log lines are those of Kafka Connect (AbstractWorkerSourceTask, TopicAdmin). As there, each task
remembers for itself which topics exist and never forgets: one that is deleted while the task runs is not made again
before a restart.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import NoReturn

import structlog

from headrace.errors import ConnectError, RetriableError
from headrace.kafka.admin import Admin, TopicInfo
from headrace.kafka.failures import REQUEST_TIMED_OUT, KafkaFailure
from headrace.topics.creation import NewTopicPlan, TopicCreation
from headrace.topics.waiting import TopicWaiter

log = structlog.get_logger(__name__)

DEFAULT_API_TIMEOUT_S = 60.0
_UNAUTHORIZED = {"TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED"}
# The codes of Kafka's InvalidConfigurationException and its subclasses, as far as a new topic can meet them.
_INVALID = {
    "INVALID_CONFIG",
    "INVALID_REPLICATION_FACTOR",
    "INVALID_TOPIC_EXCEPTION",
    "INVALID_REQUIRED_ACKS",
    "SASL_AUTHENTICATION_FAILED",
    "SSL_HANDSHAKE_FAILED",
}


class TopicCreator:
    """Creates, or waits for, the topics of one source task. Not for use by several threads."""

    def __init__(
        self,
        admin: Admin,
        creation: TopicCreation | None,
        stopping: threading.Event,
        producer: Mapping[str, str] | None = None,
        timeout_s: float = DEFAULT_API_TIMEOUT_S,
    ) -> None:
        """Take what is needed; nothing is asked of a broker yet.

        admin: the task's admin client; creation: the task's rules, None if it may not create topics; stopping: set
        when the task is being stopped; producer: the task's Java producer settings: they name the brokers in
        messages, and without rules it is a producer's request that makes the broker create a topic; timeout_s: the
        admin client's `default.api.timeout.ms`.
        """
        self._admin, self._creation, self._timeout_s = admin, creation, timeout_s
        settings = producer or {}
        self._bootstrap = settings.get("bootstrap.servers", "<unknown>")
        self._waiter = None if creation else TopicWaiter(settings, stopping)
        self._known: set[str] = set()

    def ensure(self, topics: Iterable[str]) -> None:
        """Return once these topics exist. Names are final, after the transforms.

        With rules, a missing topic is created. Raises RetriableError if describing one timed out, ConnectError for
        everything else that goes wrong; the message is Kafka Connect's. Without rules, waits until the broker, or
        somebody else, has created them; raises RetriableError if the task is stopped before that.
        """
        for topic in topics:
            if topic in self._known or self._creation is None:
                log.debug(
                    f"Topic creation by the connector is disabled or the topic {topic} was previously created. If "
                    "auto.create.topics.enable is enabled on the broker, the topic will be created with default "
                    "settings"
                )
            if topic in self._known:
                continue
            if self._waiter is not None:
                self._waiter.wait_for(topic)
            elif self._creation is not None:
                self._find_or_create(topic, self._creation)
            self._known.add(topic)

    def _find_or_create(self, topic: str, creation: TopicCreation) -> None:
        log.info(f"The task will send records to topic '{topic}' for the first time. Checking whether topic exists")
        if self._describe(topic) is not None:
            log.info(f"Topic '{topic}' already exists.")
            return
        log.info(f"Creating topic '{topic}'")
        plan = creation.new_topic(topic)
        log.debug(f"Topic '{topic}' matched topic creation group: {plan.group}")
        if self._create(plan):
            log.info(f"Created topic {plan} on brokers at {self._bootstrap}")
            log.info(f"Created topic '{plan}' using creation group {plan.group}")
        else:
            log.info(f"Found existing topic '{topic}'")

    def _describe(self, topic: str) -> TopicInfo | None:
        try:
            return self._admin.describe(topic, self._timeout_s)
        except KafkaFailure as failure:
            if failure.code == REQUEST_TIMED_OUT:
                raise RetriableError(f"Timed out while describing topics '{topic}'") from failure
            if failure.code in _UNAUTHORIZED:
                why = f"Not authorized to describe topic(s) '{topic}' on the brokers {self._bootstrap}"
            elif failure.code == "UNSUPPORTED_VERSION":
                brokers = f"the brokers at {self._bootstrap}"
                why = f"Unable to describe topic(s) '{topic}' since {brokers} do not support the DescribeTopics API."
            else:
                why = f"Error while attempting to describe topics '{topic}'"
            raise ConnectError(why) from failure

    def _create(self, plan: NewTopicPlan) -> bool:
        """True if the topic was created now, False if somebody else was faster."""
        try:
            self._admin.create(plan.name, plan.partitions, plan.replication_factor, plan.configs, timeout_s=self._timeout_s)
        except KafkaFailure as failure:
            if failure.code == "TOPIC_ALREADY_EXISTS":
                log.debug(f"Found existing topic '{plan.name}' on the brokers at {self._bootstrap}")
                return False
            self._refused(plan, failure)
        return True

    def _refused(self, plan: NewTopicPlan, failure: KafkaFailure) -> NoReturn:
        topic = plan.name
        fallback = "Falling back to assume topic(s) exist or will be auto-created by the broker."
        if failure.code in _UNAUTHORIZED:
            log.debug(f"Not authorized to create topic(s) '{topic}' upon the brokers {self._bootstrap}. {fallback}")
        elif failure.code == "UNSUPPORTED_VERSION":
            brokers = f"the brokers at {self._bootstrap}"
            log.debug(f"Unable to create topic(s) '{topic}' since {brokers} do not support the CreateTopics API. {fallback}")
        else:
            raise ConnectError(_refusal(topic, failure)) from failure
        log.warning(f"Request to create new topic '{topic}' failed")
        raise ConnectError(
            f"Task failed to create new topic {plan}. Ensure that the task is authorized to create topics or that the "
            "topic exists and restart the task"
        ) from failure


def _refusal(topic: str, failure: KafkaFailure) -> str:
    if failure.code in _INVALID:
        return f"Unable to create topic(s) '{topic}': {failure.reason}"
    if failure.code == REQUEST_TIMED_OUT:
        return (
            f"Timed out while checking for or creating topic(s) '{topic}'. This could indicate a connectivity issue, "
            "unavailable topic partitions, or if this is your first use of the topic it may have taken too long to "
            "create."
        )
    return f"Error while attempting to create/find topic(s) '{topic}'"
