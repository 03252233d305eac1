"""Failures that a broker, or the way to it, reports: Kafka's error names, and the exceptions of the Java clients for them."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

from headrace.errors import ConnectError, RetriableError

REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
TOO_LARGE = "MESSAGE_TOO_LARGE"
_MOST_REPLICAS = 10_000  # of librdkafka

_RENAMED = {  # librdkafka's name -> Kafka's
    "UNKNOWN_TOPIC_OR_PART": "UNKNOWN_TOPIC_OR_PARTITION",
    "TOPIC_EXCEPTION": "INVALID_TOPIC_EXCEPTION",
    "INVALID_MSG": "CORRUPT_MESSAGE",
    "MSG_SIZE_TOO_LARGE": "MESSAGE_TOO_LARGE",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "GROUP_COORDINATOR_NOT_AVAILABLE": "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR_FOR_GROUP": "NOT_COORDINATOR",
    "GROUP_LOAD_IN_PROGRESS": "COORDINATOR_LOAD_IN_PROGRESS",
    "_AUTHENTICATION": "SASL_AUTHENTICATION_FAILED",
    "_SSL": "SSL_HANDSHAKE_FAILED",
    "_UNSUPPORTED_FEATURE": "UNSUPPORTED_VERSION",
    "_FENCED": "PRODUCER_FENCED",
    "_NOENT": "UNKNOWN_TOPIC_OR_PARTITION",
    "_UNKNOWN_TOPIC": "UNKNOWN_TOPIC_OR_PARTITION",
    "_UNKNOWN_PARTITION": "UNKNOWN_TOPIC_OR_PARTITION",
}
UNREACHABLE = {
    "_TRANSPORT", "_TIMED_OUT", "_ALL_BROKERS_DOWN", "_RESOLVE", "_TIMED_OUT_QUEUE", "_MSG_TIMED_OUT", "_DESTROY_BROKER",
    "_PARTIAL",  # of metadata: the broker that answers knows none that runs
}  # fmt: skip

_JAVA = {  # Kafka's name -> (exception of the Java clients, its own text where the broker sends none)
    "TOPIC_ALREADY_EXISTS": ("TopicExistsException", "Topic with this name already exists."),
    "TOPIC_AUTHORIZATION_FAILED": ("TopicAuthorizationException", "Topic authorization failed."),
    "CLUSTER_AUTHORIZATION_FAILED": ("ClusterAuthorizationException", "Cluster authorization failed."),
    "GROUP_AUTHORIZATION_FAILED": ("GroupAuthorizationException", "Group authorization failed."),
    "UNSUPPORTED_VERSION": ("UnsupportedVersionException", "The version of API is not supported."),
    "REQUEST_TIMED_OUT": ("TimeoutException", "The request timed out."),
    "INVALID_CONFIG": ("InvalidConfigurationException", "Configuration is invalid."),
    "POLICY_VIOLATION": ("PolicyViolationException", "Request parameters do not satisfy the configured policy."),
    "INVALID_REPLICATION_FACTOR": (
        "InvalidReplicationFactorException",
        "Replication factor is below 1 or larger than the number of available brokers.",
    ),
    "INVALID_PARTITIONS": ("InvalidPartitionsException", "Number of partitions is below 1."),
    "INVALID_TOPIC_EXCEPTION": ("InvalidTopicException", "The request attempted to perform an operation on an invalid topic."),
    "UNKNOWN_TOPIC_OR_PARTITION": ("UnknownTopicOrPartitionException", "This server does not host this topic-partition."),
    "THROTTLING_QUOTA_EXCEEDED": ("ThrottlingQuotaExceededException", "The throttling quota has been exceeded."),
    "NOT_CONTROLLER": ("NotControllerException", "This is not the correct controller for this cluster."),
    "MESSAGE_TOO_LARGE": ("RecordTooLargeException", "The request included a message larger than the max message size."),
    "SASL_AUTHENTICATION_FAILED": ("SaslAuthenticationException", "SASL authentication failed."),
    "SSL_HANDSHAKE_FAILED": ("SslAuthenticationException", "SSL handshake failed."),
    "PRODUCER_FENCED": ("ProducerFencedException", "There is a newer producer with the same transactionalId."),
    "UNKNOWN_MEMBER_ID": ("UnknownMemberIdException", "The coordinator is not aware of this member."),
    "NON_EMPTY_GROUP": ("GroupNotEmptyException", "The group is not empty."),
    "GROUP_ID_NOT_FOUND": ("GroupIdNotFoundException", "The group id does not exist."),
    "GROUP_SUBSCRIBED_TO_TOPIC": (
        "GroupSubscribedToTopicException",
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it.",
    ),
}
_RETRIABLE = {
    "REQUEST_TIMED_OUT",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "NOT_LEADER_OR_FOLLOWER",
    "LEADER_NOT_AVAILABLE",
    "COORDINATOR_NOT_AVAILABLE",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "NOT_COORDINATOR",
    "NOT_CONTROLLER",
    "THROTTLING_QUOTA_EXCEEDED",
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "NETWORK_EXCEPTION",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "OFFSET_NOT_AVAILABLE",
    "REPLICA_NOT_AVAILABLE",
    "KAFKA_STORAGE_ERROR",
    "UNKNOWN_TOPIC_ID",
    "CONCURRENT_TRANSACTIONS",
    "UNSTABLE_OFFSET_COMMIT",
    "REBALANCE_IN_PROGRESS",
}


class KafkaFailure(ConnectError):  # noqa: N818 - what Kafka says is a failure; "KafkaError" is taken
    """An error of Kafka, or of the connection to it.

    `code` is Kafka's own name of the error (`TOPIC_ALREADY_EXISTS`), whatever librdkafka calls it; `reason` is the sentence of
    the broker, or where it sends none, that of the Java client. `str()` is `reason` unless there is something to add.
    """

    def __init__(self, code: str, reason: str, message: str | None = None) -> None:
        super().__init__(message or reason)
        self.code = code
        self.reason = reason
        name = _JAVA.get(code, ("KafkaException",))[0]
        package = "org.apache.kafka.common" if name == "KafkaException" else "org.apache.kafka.common.errors"
        self.java_class = f"{package}.{name}"  # type: ignore[misc]


class RetriableKafkaFailure(KafkaFailure, RetriableError):  # noqa: N818
    """A KafkaFailure whose retry may succeed: the cluster was not reached in time, a leader was missing."""


def leader_moves(error: Exception) -> bool:
    """Whether a retry may succeed soon: the cluster answered, but a leader or coordinator moves or loads."""
    return isinstance(error, RetriableKafkaFailure) and error.code != REQUEST_TIMED_OUT


def kafka_error(error: KafkaException | KafkaError) -> KafkaError:
    """The KafkaError of an exception of confluent-kafka."""
    return error if isinstance(error, KafkaError) else error.args[0]


def failure(error: KafkaException | KafkaError) -> KafkaFailure:
    """The KafkaFailure for an error of confluent-kafka; it is returned, not raised."""
    inner = kafka_error(error)
    name = inner.name() or "UNKNOWN"
    code = REQUEST_TIMED_OUT if name in UNREACHABLE else _RENAMED.get(name, name)
    text = "The brokers did not acknowledge the record in time." if name == "_MSG_TIMED_OUT" else inner.str()
    if (text.startswith("Broker: ") or name == "_NOENT") and code in _JAVA:  # librdkafka's words: the broker sent none
        text = _JAVA[code][1]
    return kafka_failure(code, text)


def kafka_failure(code: str, reason: str, message: str | None = None) -> KafkaFailure:
    """A KafkaFailure of the class that fits its code."""
    kind = RetriableKafkaFailure if code in _RETRIABLE else KafkaFailure
    return kind(code, reason, message)


def from_java(java_class: str, reason: str, message: str | None = None) -> KafkaFailure:
    """A KafkaFailure for an exception of the Java clients, by the name of its class."""
    name = java_class.rpartition(".")[2]
    code = next((code for code, (exception, _) in _JAVA.items() if exception == name), "UNKNOWN_SERVER_ERROR")
    return kafka_failure(code, reason, message)


def timed_out(message: str) -> KafkaFailure:
    """A retriable time-out: the Java clients' TimeoutException."""
    return kafka_failure(REQUEST_TIMED_OUT, message)


def beyond_librdkafka(partitions: int, replication_factor: int, refusal: str) -> KafkaFailure:
    """The failure that a broker answers to a topic of so many partitions or replicas that librdkafka does not ask for it.

    refusal: librdkafka's own words.
    """
    if -1 <= replication_factor <= _MOST_REPLICAS:
        return kafka_failure("POLICY_VIOLATION", f"Unable to perform excessively large batch operation: {partitions} partitions.")
    if replication_factor < 0:
        return kafka_failure("INVALID_REPLICATION_FACTOR", "Replication factor must be larger than 0.")
    reason = f"Unable to replicate the partition {replication_factor} time(s): {refusal}"
    return kafka_failure("INVALID_REPLICATION_FACTOR", reason)
