"""What is read out of Spark's failures."""

from __future__ import annotations

from headrace.errors import ConnectError, DataError, RetriableError, trace
from headrace.spark.failure import Cause, as_error, causes, is_retriable, is_retriable_cause, root

TEXT = (
    "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0 in stage 3.0 "
    "(TID 4) (localhost executor driver): org.apache.kafka.common.errors.RecordTooLargeException: The request included a "
    "message larger than the max message size the server will accept.\n\nDriver stacktrace:\n\tat org.apache.spark.X.y(X.scala:1)"
)


def test_a_cause_that_crossed_an_executor_is_found_in_the_text() -> None:
    cause = root(Exception(TEXT))
    assert cause.java_class == "org.apache.kafka.common.errors.RecordTooLargeException"
    assert cause.message.startswith("The request included a message larger")


def test_wrappers_are_passed_over() -> None:
    text = "org.apache.spark.SparkException: Bad.\nCaused by: org.apache.kafka.common.errors.TimeoutException: Topic t gone"
    assert root(Exception(text)) == Cause("org.apache.kafka.common.errors.TimeoutException", "Topic t gone")
    assert is_retriable(Exception(text))


def test_what_kafka_refuses_for_good_is_not_retriable() -> None:
    assert not is_retriable(Exception(TEXT))
    assert not is_retriable(DataError("bad"))
    assert is_retriable(RetriableError("later"))


def test_what_ended_a_transaction_is_retriable() -> None:
    """What the commit says if somebody has begun with the transactional id: an abort is what the broker knows of it by then."""
    invalid = "The producer attempted a transactional operation in an invalid state."
    assert is_retriable_cause(Cause("org.apache.kafka.common.errors.InvalidTxnStateException", invalid))


def test_an_error_without_java_keeps_its_own_words() -> None:
    assert causes(ValueError("nothing of Java")) == []
    assert root(ValueError("nothing of Java")) == Cause("ValueError", "nothing of Java")


def test_the_trace_names_what_failed_and_the_root_cause() -> None:
    error = as_error(Exception(TEXT), "Records of t-0 offsets 0 to 9 could not be written")
    assert type(error) is ConnectError
    lines = trace(error).splitlines()
    assert lines[0].startswith(
        "org.apache.kafka.connect.errors.ConnectException: Records of t-0 offsets 0 to 9 could not be written: "
    )
    assert lines[1].startswith("Caused by: org.apache.kafka.common.errors.RecordTooLargeException: The request included")
