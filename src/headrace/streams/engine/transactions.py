"""Exactly once (`exactly_once_v2`): the results of a batch and its offsets, in one Kafka transaction of its sub-topology.

Each sub-topology has one transactional id: a starting instance fences off the previous one, and reads the committed offsets after
that (docs/decisions/0010, 0012). The producer is that of the sub-topology's runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from confluent_kafka import KafkaError

from headrace.kafka.failures import failure as kafka_failure
from headrace.spark import failure
from headrace.streams.engine.runtime import TaskRuntime


class TransactionPerBatch:
    """The batches of one sub-topology, for one engine, each as one transaction."""

    def __init__(self, group: str, number: int, is_active: Callable[[], bool]) -> None:
        """group: the application's; number: of the sub-topology; is_active: whether this instance is still the active one."""
        self._group, self._number, self._is_active = group, number, is_active

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

        Raises ConnectError or RetriableError, after which the transaction may have been committed or not.
        """
        try:
            runtime.commit(self._group, offsets)
        except Exception as error:
            raise failure.as_error(error, "The results of a batch could not be committed") from error
