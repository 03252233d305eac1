"""What a principal may do on a cluster, asked without changing anything (KIP-430, and `validateOnly` of topics)."""

# pyright: reportPrivateImportUsage=false
from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from confluent_kafka import TopicCollection, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, OffsetSpec

from headrace.kafka.admin import DEFAULT_TIMEOUT_S, Admin
from headrace.kafka.failures import KafkaFailure, RetriableKafkaFailure
from headrace.kafka.groups import Partition
from headrace.retry import retry_until

_PAUSE_S = 0.1


class InspectingAdmin(Admin):
    """An admin client that also asks for permissions and for the clock of the producers. Raises as `Admin` does."""

    def topic_operations(self, name: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> frozenset[str] | None:
        """Kafka's names (`READ`, `DESCRIBE_CONFIGS`) of what this principal may do with a topic.

        None if the topic does not exist, or the principal may not describe it, which brokers do not reliably distinguish.
        """
        asked = TopicCollection([name])
        futures = self._call(
            lambda: self._client.describe_topics(asked, include_authorized_operations=True, request_timeout=timeout_s), timeout_s
        )
        try:
            description = self._wait(lambda: futures[name], timeout_s)
        except KafkaFailure as error:
            if error.code in ("UNKNOWN_TOPIC_OR_PARTITION", "TOPIC_AUTHORIZATION_FAILED"):
                return None
            raise
        return frozenset(operation.name for operation in description.authorized_operations or ())

    def group_operations(self, group: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> frozenset[str]:
        """What this principal may do with a consumer group, whether or not it exists. Raises KafkaFailure without `DESCRIBE`."""
        descriptions = retry_until(
            lambda left: self._ask_coordinator(group, partial(_describe_group, group), left),
            timeout_s,
            _PAUSE_S,
            lambda error: isinstance(error, RetriableKafkaFailure),  # a coordinator that is only just loading its groups
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
        """Have the broker check the creation of a topic without creating it; raises KafkaFailure with why it would fail."""
        topic = NewTopic(name, num_partitions=partitions, replication_factor=replication_factor, config=dict(configs))
        self._wait_all(lambda: self._client.create_topics([topic], validate_only=True, request_timeout=timeout_s), timeout_s)

    def check_settings(self, topic: str, settings: Mapping[str, str], timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Have the broker check settings for a topic without setting them; raises KafkaFailure with why it would refuse them."""
        entries = [ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in settings.items()]
        asked = [ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)]
        self._wait_all(
            lambda: self._client.incremental_alter_configs(asked, validate_only=True, request_timeout=timeout_s), timeout_s
        )

    def newest_timestamp(self, partitions: Iterable[Partition], timeout_s: float = DEFAULT_TIMEOUT_S) -> int | None:
        """The greatest timestamp, in epoch ms, of the records in these partitions (KIP-734); None if there is no record."""
        asked: dict[Any, Any] = {TopicPartition(topic, partition): OffsetSpec.max_timestamp() for topic, partition in partitions}
        if not asked:
            return None
        ends = self._wait_all(lambda: self._client.list_offsets(asked, request_timeout=timeout_s), timeout_s)
        return max((result.timestamp for result in ends.values() if result.timestamp > 0), default=None)


def _describe_group(group: str, client: Any, timeout_s: float) -> Mapping[str, Future[Any]]:
    return client.describe_consumer_groups([group], include_authorized_operations=True, request_timeout=timeout_s)
