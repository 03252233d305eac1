"""The consequence for a task if a broker does not describe or create a topic: Kafka Connect's sentences (TopicAdmin). Pure."""

from __future__ import annotations

from headrace.errors import ConnectError, RetriableError
from headrace.kafka.failures import REQUEST_TIMED_OUT, KafkaFailure
from headrace.topics.creation import NewTopicPlan

UNAUTHORIZED = {"TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED"}
UNSUPPORTED = "UNSUPPORTED_VERSION"
# The codes of Kafka's InvalidConfigurationException and its subclasses, as far as a new topic can meet them.
_INVALID = {
    "INVALID_CONFIG",
    "INVALID_REPLICATION_FACTOR",
    "INVALID_TOPIC_EXCEPTION",
    "INVALID_REQUIRED_ACKS",
    "SASL_AUTHENTICATION_FAILED",
    "SSL_HANDSHAKE_FAILED",
}
_FALLING_BACK = "Falling back to assume topic(s) exist or will be auto-created by the broker."


def not_described(topic: str, failure: KafkaFailure, brokers: str) -> ConnectError:
    """The error of a task that could not find out whether a topic exists; retriable after a timeout, and only then."""
    if failure.code == REQUEST_TIMED_OUT:
        return RetriableError(f"Timed out while describing topics '{topic}'")
    if failure.code in UNAUTHORIZED:
        return ConnectError(f"Not authorized to describe topic(s) '{topic}' on the brokers {brokers}")
    if failure.code == UNSUPPORTED:
        return ConnectError(
            f"Unable to describe topic(s) '{topic}' since the brokers at {brokers} do not support the DescribeTopics API."
        )
    return ConnectError(f"Error while attempting to describe topics '{topic}'")


def assumption(topic: str, failure: KafkaFailure, brokers: str) -> str | None:
    """The log line of Kafka Connect if a refused creation is tolerated; None if it fails the task."""
    if failure.code in UNAUTHORIZED:
        return f"Not authorized to create topic(s) '{topic}' upon the brokers {brokers}. {_FALLING_BACK}"
    if failure.code == UNSUPPORTED:
        why = f"since the brokers at {brokers} do not support the CreateTopics API"
        return f"Unable to create topic(s) '{topic}' {why}. {_FALLING_BACK}"
    return None


def not_created(plan: NewTopicPlan, failure: KafkaFailure) -> ConnectError:
    """The error of a task whose topic could not be created."""
    if failure.code in UNAUTHORIZED or failure.code == UNSUPPORTED:
        return ConnectError(
            f"Task failed to create new topic {plan}. Ensure that the task is authorized to create topics or that the topic "
            "exists and restart the task"
        )
    if failure.code in _INVALID:
        return ConnectError(f"Unable to create topic(s) '{plan.name}': {failure.reason}")
    if failure.code == REQUEST_TIMED_OUT:
        return ConnectError(
            f"Timed out while checking for or creating topic(s) '{plan.name}'. This could indicate a connectivity issue, "
            "unavailable topic partitions, or if this is your first use of the topic it may have taken too long to create."
        )
    return ConnectError(f"Error while attempting to create/find topic(s) '{plan.name}'")
