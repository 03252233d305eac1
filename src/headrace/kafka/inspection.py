"""Checks what a principal may do on a cluster, without changes (KIP-430, and `validateOnly` of topics)."""

# pyright: reportPrivateImportUsage=false
from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from confluent_kafka import TopicCollection, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic, OffsetSpec

from headrace.kafka.admin import DEFAULT_TIMEOUT_S, Admin
from headrace.kafka.failures import KafkaFailure, RetriableKafkaFailure
from headrace.kafka.groups import Partition
from headrace.retry import retry_until

_PAUSE_S = 0.1


class InspectingAdmin(Admin):
    """An admin client that also reads permissions and the newest timestamps. Raises as `Admin` does."""

    def topic_operations(self, name: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> frozenset[str] | None:
        """The operations (`READ`, `DESCRIBE_CONFIGS` …) that this principal may do on a topic.

        None if the topic does not exist, or the principal may not describe it, which brokers do not reliably distinguish.
        """
        topics = TopicCollection([name])
        futures = self._call(
            lambda: self._client.describe_topics(topics, include_authorized_operations=True, request_timeout=timeout_s), timeout_s
        )
        try:
            description = self._wait(lambda: futures[name], timeout_s)
        except KafkaFailure as error:
            if error.code in ("UNKNOWN_TOPIC_OR_PARTITION", "TOPIC_AUTHORIZATION_FAILED"):
                return None
            raise
        return frozenset(operation.name for operation in description.authorized_operations or ())

    def group_operations(self, group: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> frozenset[str]:
        """The operations that this principal may do on a consumer group, existing or not.

        Raises KafkaFailure without `DESCRIBE`.
        """
        descriptions = retry_until(
            lambda left: self._ask_coordinator(group, partial(_describe_group, group), left),
            timeout_s,
            _PAUSE_S,
            lambda error: isinstance(error, RetriableKafkaFailure),  # the coordinator may be loading its groups
        )
        return frozenset(operation.name for operation in descriptions.authorized_operations or ())

    def check_creation(
        self,
        name: str,
        partitions: int,
        replication_factor: int,
        configs: Mapping[str, str],
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> None:
        """Validate the creation of a topic on the broker, without creating it. Raises KafkaFailure if it would fail."""
        topic = NewTopic(name, num_partitions=partitions, replication_factor=replication_factor, config=dict(configs))
        self._wait_all(lambda: self._client.create_topics([topic], validate_only=True, request_timeout=timeout_s), timeout_s)

    def check_settings(self, topic: str, settings: Mapping[str, str], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Validate settings of a topic on the broker, without setting them. Raises KafkaFailure if it would refuse them."""
        entries = [ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in settings.items()]
        resources = [ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)]
        self._wait_all(
            lambda: self._client.incremental_alter_configs(resources, validate_only=True, request_timeout=timeout_s), timeout_s
        )

    def check_partitions(self, topic: str, total: int, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Validate a greater number of partitions on the broker, without adding them. Raises KafkaFailure if it would fail."""
        partitions = [NewPartitions(topic, total)]
        self._wait_all(
            lambda: self._client.create_partitions(partitions, validate_only=True, request_timeout=timeout_s), timeout_s
        )

    def newest_timestamp(self, partitions: Iterable[Partition], timeout_s: float = DEFAULT_TIMEOUT_S) -> int | None:
        """The greatest timestamp, in epoch ms, of the records in these partitions (KIP-734); None if there is no record."""
        requests: dict[Any, Any] = {
            TopicPartition(topic, partition): OffsetSpec.max_timestamp() for topic, partition in partitions
        }
        if not requests:
            return None
        ends = self._wait_all(lambda: self._client.list_offsets(requests, request_timeout=timeout_s), timeout_s)
        return max((result.timestamp for result in ends.values() if result.timestamp > 0), default=None)


def _describe_group(group: str, client: Any, timeout_s: float) -> Mapping[str, Future[Any]]:
    return client.describe_consumer_groups([group], include_authorized_operations=True, request_timeout=timeout_s)
