"""Converts Spark's failures to errors of headrace: the root cause instead of two pages of Scala frames.

A failure reaches Python as a captured PySpark exception, a Py4JJavaError, or text: causes in an executor are only in the message
of the job's exception.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from headrace.errors import ConnectError, HeadraceError, RetriableError

# Java's `package.Class: message` at the beginning of a line, after "Lost task …: (host executor n): " or "Caused by: ".
_IN_TEXT = re.compile(r"(?:^|[\s:(])((?:[a-z_][\w$]*\.){2,}[A-Z][\w$]*(?:Exception|Error))(?:: ([^\n]*))?")
# Wrappers without information of their own.
_WRAPPERS = (
    "org.apache.spark.SparkException", "org.apache.spark.sql.streaming.StreamingQueryException", "py4j.Py4JException",
    "java.util.concurrent.ExecutionException", "java.util.concurrent.CompletionException", "java.lang.RuntimeException",
    "org.apache.kafka.common.KafkaException", "org.apache.spark.SparkRuntimeException", "org.apache.spark.api.python",
)  # fmt: skip
# Kafka's errors that end when the cluster is back, a leader is elected, or a deleted topic leaves the assignment; those of a
# producer that the brokers know no more, in whose place another one writes; Spark's for offsets that are gone, after which the
# stream opens again at what is there; and the error of a batch that was cancelled (`BatchThreads.java`).
_RETRIABLE = re.compile(
    r"org\.apache\.kafka\.common\.errors\.(Timeout|Disconnect|Network|UnknownTopicOrPartition|NotLeaderOrFollower|LeaderNotAvailable"
    r"|BrokerNotAvailable|CoordinatorNotAvailable|KafkaStorage|NotEnoughReplicas|NotEnoughReplicasAfterAppend|OffsetOutOfRange"
    r"|ProducerFenced|InvalidProducerEpoch|InvalidPidMapping|UnknownProducerId|InvalidTxnState|OutOfOrderSequence|ConcurrentTransactions|TransactionAborted|TransactionAbortable"
    r"|OperationNotAttempted|OffsetNotAvailable|UnknownLeaderEpoch|FencedLeaderEpoch|UnknownTopicId|RetriableException|NoOffsetForPartition)"
    r"|org\.apache\.kafka\.clients\.consumer\.(OffsetOutOfRange|LogTruncation|NoOffsetForPartition|RetriableCommitFailed)"
    r"|org\.apache\.spark\.TaskKilledException: The batch was cancelled"
    r"|KafkaIllegalStateException|java\.util\.concurrent\.TimeoutException|KAFKA_DATA_LOSS|data may have been lost"
)


@dataclass(frozen=True)
class Cause:
    """One link of a chain of Java causes: class name and message."""

    java_class: str
    message: str


def causes(error: BaseException) -> list[Cause]:
    """The chain of Java causes of Spark's error, outermost first; empty if there is none."""
    chain: list[Cause] = []
    current = _java_exception(error)
    while current is not None and len(chain) < 20:
        chain.append(Cause(current.getClass().getName(), current.getMessage() or ""))
        current = current.getCause()
    texts = [c.message for c in chain] or [str(error)]
    for text in texts:
        chain += [Cause(m[1], (m[2] or "").strip()) for m in _IN_TEXT.finditer(text)]
    return chain


def _java_exception(error: BaseException) -> Any:
    origin = getattr(error, "_origin", None)  # of what PySpark has a class for; what it has none for stays Py4J's
    return getattr(error, "java_exception", None) if origin is None else origin


def root(error: BaseException) -> Cause:
    """The innermost cause that is not a wrapper."""
    chain = [c for c in causes(error) if not c.java_class.startswith(_WRAPPERS)]
    if chain:
        return chain[-1]
    every = causes(error)
    return every[-1] if every else Cause(type(error).__name__, str(error).splitlines()[0] if str(error) else "")


def is_retriable(error: BaseException) -> bool:
    """Whether a retry may succeed: brokers unavailable, leaders moving, topics deleted, offsets expired."""
    if isinstance(error, HeadraceError):
        return isinstance(error, RetriableError)
    return any(map(is_retriable_cause, causes(error)))


def is_retriable_cause(cause: Cause) -> bool:
    """Whether a retry may succeed after this Java exception."""
    return _RETRIABLE.search(f"{cause.java_class}: {cause.message}") is not None


class SparkError(ConnectError):
    """Spark's own error: message and `java_class` of the root cause."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.java_class = cause.java_class  # type: ignore[misc]


def as_error(error: BaseException, context: str) -> HeadraceError:
    """The failure as an error of headrace whose sentence begins with `what`; the root cause stands in its `__cause__`."""
    if isinstance(error, HeadraceError):
        return error
    cause = root(error)
    text = f"{context}: {cause.message.splitlines()[0] if cause.message else cause.java_class}"
    wrapped = RetriableError(text) if is_retriable(error) else ConnectError(text)
    wrapped.__cause__ = SparkError(cause)
    return wrapped
