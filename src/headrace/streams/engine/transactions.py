"""Exactly once (`exactly_once_v2`): the results of a batch and its offsets, in one Kafka transaction of its sub-topology.

Each sub-topology has one transactional id: a starting instance fences off the previous one, and reads the committed offsets after
that (docs/decisions/0010, 0012). The producer is that of the sub-topology's runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from confluent_kafka import KafkaError

from headrace.errors import HeadraceError, RetriableError
from headrace.kafka.failures import failure as kafka_failure
from headrace.spark import failure
from headrace.streams.engine.cluster import CREATE_INTERNAL_TOPICS, NotCommittedError
from headrace.streams.engine.runtime import TaskRuntime


class TransactionPerBatch:
    """The batches of one sub-topology, for one engine, each as one transaction."""

    def __init__(self, group: str, number: int, is_active: Callable[[], bool], topics: Callable[[], Collection[str]]) -> None:
        """group: the application's; number: of the sub-topology; is_active: whether this instance is still the active one;
        topics: those of the cluster.
        """
        self._group, self._number, self._is_active, self._topics = group, number, is_active, topics

    def begin(self, runtime: TaskRuntime) -> None:
        """Fence off other writers of the sub-topology. Raises KafkaFailure, ConnectError, RetriableError."""
        if not self._is_active():
            raise kafka_failure(KafkaError(KafkaError.ILLEGAL_GENERATION))
        try:
            runtime.fence(f"{self._group}-{self._number}")
        except Exception as error:
            raise failure.as_error(error, "The transactional producer could not be fenced off") from error

    def commit(self, runtime: TaskRuntime, offsets: Mapping[tuple[str, int], tuple[int, str]]) -> None:
        """Commit the results of a batch together with its offsets.

        Offsets of a topic that does not exist keep the producer waiting until `max.block.ms` is over, or the batch is cancelled.
        Raises NotCommittedError; ConnectError or RetriableError, after which the transaction may have been committed or not.
        """
        try:
            runtime.commit(self._group, offsets)
        except Exception as error:
            reason = failure.as_error(error, "The results of a batch could not be committed")
            if isinstance(reason, RetriableError) and not runtime.may_be_committed():
                raise NotCommittedError(f"{reason}{self._missing({topic for topic, _ in offsets})}") from error
            raise reason from error

    def _missing(self, topics: set[str]) -> str:
        """A sentence about those of some topics that do not exist; nothing if they do, or brokers do not say."""
        try:
            missing = sorted(topics - set(self._topics()))
        except HeadraceError:
            return ""
        return f". Topics that it has read are missing: {', '.join(missing)}. {CREATE_INTERNAL_TOPICS}" if missing else ""
