"""Exactly once (`exactly_once_v2`): what a batch writes, and how far it has come, in one Kafka transaction of its sub-topology.

One transactional id for each sub-topology: who begins to work fences off whoever had it before, and reads the committed offsets
after that (docs/decisions/0010, 0012). The producer is that of the sub-topology's runtime.
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
        """group: the application's; number: of the sub-topology; is_active: whether this instance still has the work."""
        self._group, self._number, self._is_active = group, number, is_active

    def begin(self, runtime: TaskRuntime) -> None:
        """Become the only one who writes for the sub-topology. Raises KafkaFailure, ConnectError, RetriableError."""
        if not self._is_active():
            raise kafka_failure(KafkaError(KafkaError.ILLEGAL_GENERATION))
        try:
            runtime.fence(f"{self._group}-{self._number}")
        except Exception as error:
            raise failure.as_error(error, "The transactional producer could not be fenced off") from error

    def commit(self, runtime: TaskRuntime, offsets: Mapping[tuple[str, int], tuple[int, str]]) -> None:
        """Commit what a batch made and the offsets with it.

        Raises ConnectError or RetriableError; it may be committed all the same.
        """
        try:
            runtime.commit(self._group, offsets)
        except Exception as error:
            raise failure.as_error(error, "The results of a batch could not be committed") from error
