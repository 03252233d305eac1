from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from headrace.errors import ConnectError, RetriableError, trace
from headrace.kafka.failures import failure, kafka_failure, timed_out


@pytest.mark.parametrize(
    ("error", "code", "reason", "java_class", "retriable"),
    [
        (KafkaError(KafkaError.TOPIC_ALREADY_EXISTS, "Topic 't' already exists."), "TOPIC_ALREADY_EXISTS",
         "Topic 't' already exists.", "TopicExistsException", False),
        (KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART), "UNKNOWN_TOPIC_OR_PARTITION",
         "This server does not host this topic-partition.", "UnknownTopicOrPartitionException", True),
        (KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED), "TOPIC_AUTHORIZATION_FAILED", "Topic authorization failed.",
         "TopicAuthorizationException", False),
        (KafkaError(KafkaError._TIMED_OUT, "Failed while waiting"), "REQUEST_TIMED_OUT", "Failed while waiting",
         "TimeoutException", True),
        # While no broker is registered, librdkafka drops the brokers that it knew, with the calls on their way.
        (KafkaError(KafkaError._DESTROY_BROKER, "Broker handle destroyed"), "REQUEST_TIMED_OUT", "Broker handle destroyed",
         "TimeoutException", True),
        (KafkaError(KafkaError._PARTIAL, "Partial response"), "REQUEST_TIMED_OUT", "Partial response", "TimeoutException", True),
        (KafkaError(KafkaError.POLICY_VIOLATION, "no"), "POLICY_VIOLATION", "no", "PolicyViolationException", False),
        (KafkaError(KafkaError._UNSUPPORTED_FEATURE, "too old"), "UNSUPPORTED_VERSION", "too old",
         "UnsupportedVersionException", False),
    ],
)  # fmt: skip
def test_a_failure_has_kafkas_names(error, code, reason, java_class, retriable):
    found = failure(error)
    assert (found.code, found.reason, str(found)) == (code, reason, reason)
    assert found.java_class == f"org.apache.kafka.common.errors.{java_class}"
    assert isinstance(found, RetriableError) == retriable


def test_a_trace_names_the_java_exceptions():
    error = ConnectError("Unable to create topic(s) 't'")
    error.__cause__ = kafka_failure("INVALID_CONFIG", "Unknown topic config name: x")
    assert trace(error) == (
        "org.apache.kafka.connect.errors.ConnectException: Unable to create topic(s) 't'\n"
        "Caused by: org.apache.kafka.common.errors.InvalidConfigurationException: Unknown topic config name: x\n"
    )


def test_a_timeout_is_retriable():
    assert isinstance(timed_out("late"), RetriableError)
