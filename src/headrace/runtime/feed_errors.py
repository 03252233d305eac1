"""The error of a task whose feed has failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headrace.errors import ConnectError, HeadraceError, RetriableError
from headrace.spark import failure, large_records
from headrace.spark.destination_topic import DestinationTopic, refusal
from headrace.spark.feeds import FeedFailure


def feed_error(
    feed_failure: FeedFailure,
    descriptions: Mapping[str, DestinationTopic],
    look_up: Callable[[str], DestinationTopic],
    exactly: str | None = None,
) -> HeadraceError:
    """The error of a failure that is not of the kind `record`; a RetriableError if a retry may succeed.

    descriptions: the topics as the feed knew them; look_up: describes a topic now, and may raise HeadraceError;
    exactly: as of `refusal`.
    """
    if feed_failure.kind == "large" and feed_failure.target is not None:
        return _too_large(feed_failure, feed_failure.target, descriptions.get(feed_failure.target), look_up)
    cause = failure.Cause(feed_failure.java_class, feed_failure.message)
    words = feed_failure.message.splitlines()[0] if feed_failure.message else feed_failure.java_class
    where = f" ({feed_failure.place})" if feed_failure.place else ""
    if feed_failure.target is not None:
        text = f"{refusal(f'a record of {feed_failure.target}', exactly)}{where}: {words}"
    else:
        text = f"Records could not be copied{where}: {words}"
    error = RetriableError(text) if feed_failure.is_outage or failure.is_retriable_cause(cause) else ConnectError(text)
    error.__cause__ = failure.SparkError(cause)
    return error


def _too_large(
    feed_failure: FeedFailure, topic: str, known: DestinationTopic | None, look_up: Callable[[str], DestinationTopic]
) -> HeadraceError:
    before = known.max_message_bytes or 0 if known else 0
    now = look_up(topic)
    if (now.max_message_bytes or 0) > before:
        return RetriableError(f"max.message.bytes of topic '{topic}' was raised to {now.max_message_bytes}.")
    parts = "key, value and headers" if feed_failure.message else "key and value"  # refused by the broker, or by the producer
    record = large_records.LargeRecord(f"{feed_failure.size} bytes of {parts}", topic, feed_failure.place or "")
    return large_records.too_large(record, feed_failure.message) if feed_failure.message else large_records.too_large(record)
