"""Removes single offsets of a consumer group (KIP-496) with the Java client, as the Python client cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.kafka.failures import from_java
from headrace.spark import failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def remove(
    spark: SparkSession, props: Mapping[str, str], group: str, partitions: Iterable[tuple[str, int]], timeout_s: float = 30.0
) -> None:
    """Remove the committed offsets of these partitions from a group; the group's other offsets stay.

    props: settings of a Java admin client. Raises KafkaFailure, also if a member of the group reads one of the topics.
    """
    jvm: Any = spark._jvm
    settings = jvm.java.util.Properties()
    for name, value in props.items():
        settings.setProperty(name, value)
    partitions_set = jvm.java.util.HashSet()
    for topic, partition in partitions:
        partitions_set.add(jvm.org.apache.kafka.common.TopicPartition(topic, partition))
    try:
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
        try:
            milliseconds = jvm.java.util.concurrent.TimeUnit.MILLISECONDS
            admin.deleteConsumerGroupOffsets(group, partitions_set).all().get(int(timeout_s * 1000), milliseconds)
        finally:
            admin.close(jvm.java.time.Duration.ZERO)
    except Exception as e:
        cause = failure.root(e)
        sentence = f"Offsets of group '{group}' could not be removed: {cause.message or cause.java_class}"
        raise from_java(cause.java_class, cause.message, sentence) from None
