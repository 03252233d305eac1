# pyright: reportOptionalMemberAccess=false, reportArgumentType=false
# None, for a topic that is not created, fails the test.

import pytest

from headrace.errors import ConnectError, RetriableError, trace
from headrace.kafka.failures import KafkaFailure, kafka_failure
from headrace.topics.creation import topic_creation
from headrace.topics.refusals import assumption, not_created, not_described

BROKERS = "b:9092"
CREATION = topic_creation({"topic.creation.default.partitions": "5", "topic.creation.default.replication.factor": "3"})
PLAN = CREATION.new_topic("T") if CREATION else pytest.fail()
TASK_FAILED = (
    "Task failed to create new topic (name=T, numPartitions=5, replicationFactor=3, replicasAssignments=null, configs={}). "
    "Ensure that the task is authorized to create topics or that the topic exists and restart the task"
)


def failed(code: str) -> KafkaFailure:
    return kafka_failure(code, "broker text")


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("REQUEST_TIMED_OUT", RetriableError, "Timed out while describing topics 'T'"),
        ("TOPIC_AUTHORIZATION_FAILED", ConnectError, "Not authorized to describe topic(s) 'T' on the brokers b:9092"),
        ("CLUSTER_AUTHORIZATION_FAILED", ConnectError, "Not authorized to describe topic(s) 'T' on the brokers b:9092"),
        (
            "UNSUPPORTED_VERSION",
            ConnectError,
            "Unable to describe topic(s) 'T' since the brokers at b:9092 do not support the DescribeTopics API.",
        ),
        ("INVALID_TOPIC_EXCEPTION", ConnectError, "Error while attempting to describe topics 'T'"),
        ("NOT_CONTROLLER", ConnectError, "Error while attempting to describe topics 'T'"),
    ],
)
def test_a_topic_that_could_not_be_described(code, kind, message):
    error = not_described("T", failed(code), BROKERS)
    assert (type(error), str(error)) == (kind, message)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("TOPIC_AUTHORIZATION_FAILED", TASK_FAILED),
        ("CLUSTER_AUTHORIZATION_FAILED", TASK_FAILED),
        ("UNSUPPORTED_VERSION", TASK_FAILED),
        (
            "REQUEST_TIMED_OUT",
            "Timed out while checking for or creating topic(s) 'T'. This could indicate a connectivity issue, unavailable topic "
            "partitions, or if this is your first use of the topic it may have taken too long to create.",
        ),
        ("INVALID_CONFIG", "Unable to create topic(s) 'T': broker text"),
        ("INVALID_REPLICATION_FACTOR", "Unable to create topic(s) 'T': broker text"),
        ("POLICY_VIOLATION", "Error while attempting to create/find topic(s) 'T'"),
        ("INVALID_PARTITIONS", "Error while attempting to create/find topic(s) 'T'"),
    ],
)
def test_a_topic_that_could_not_be_created_ends_the_task(code, message):
    error = not_created(PLAN, failed(code))
    assert (type(error), str(error)) == (ConnectError, message)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("TOPIC_AUTHORIZATION_FAILED", "Not authorized to create topic(s) 'T' upon the brokers b:9092. "),
        (
            "UNSUPPORTED_VERSION",
            "Unable to create topic(s) 'T' since the brokers at b:9092 do not support the CreateTopics API. ",
        ),
    ],
)
def test_what_is_assumed_after_a_refusal_is_logged(code, says):
    falling_back = "Falling back to assume topic(s) exist or will be auto-created by the broker."
    assert assumption("T", failed(code), BROKERS) == says + falling_back


def test_nothing_is_assumed_when_the_topic_itself_is_impossible():
    assert assumption("T", failed("INVALID_CONFIG"), BROKERS) is None


def test_the_trace_names_the_exceptions_that_connect_throws():
    failure = failed("INVALID_REPLICATION_FACTOR")
    error = not_created(PLAN, failure)
    error.__cause__ = failure
    assert trace(error) == (
        "org.apache.kafka.connect.errors.ConnectException: Unable to create topic(s) 'T': broker text\n"
        "Caused by: org.apache.kafka.common.errors.InvalidReplicationFactorException: broker text\n"
    )
