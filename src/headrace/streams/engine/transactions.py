"""Exactly once (`exactly_once_v2`): what a batch writes, and how far it has come, in one Kafka transaction of its sub-topology.

One transactional id for each sub-topology: who begins to work fences off whoever had it before, and reads the committed offsets
after that (docs/decisions/0010, 0012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError

from headrace.kafka.failures import failure as kafka_failure
from headrace.spark import failure
from headrace.spark.transactions import CommittedGroupOffsets, CoveredRecords, TaskTransactions
from headrace.streams.config import StreamsConfig
from headrace.streams.engine.columns import union
from headrace.streams.engine.delivery import stamped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class OneTransaction:
    """The batches of one sub-topology, for one engine, each as one transaction."""

    def __init__(self, spark: SparkSession, config: StreamsConfig, number: int, is_active: Callable[[], bool]) -> None:
        """number: of the sub-topology; is_active: whether this instance still has the work."""
        self._spark, self._group, self._is_active = spark, config.application_id, is_active
        self._producer = config.producer_settings
        self._transactions = TaskTransactions([f"{config.application_id}-{number}"], self._producer)

    def begin(self) -> None:
        """Become the only one who writes for the sub-topology. Raises KafkaFailure, ConnectError, RetriableError."""
        if not self._is_active():
            raise kafka_failure(KafkaError(KafkaError.ILLEGAL_GENERATION))
        self._transactions.fence(self._spark)

    def write(self, rows: Iterable[DataFrame], number: int, offsets: Mapping[tuple[str, int], tuple[int, str]]) -> bool:
        """Write what a batch made and commit the offsets with it; whether there was anything to write, else nothing is done.

        Raises ConnectError or RetriableError; then it may be committed all the same.
        """
        frames = list(rows)
        if not frames:
            return False
        covered = CoveredRecords((), {(): ()}, group=CommittedGroupOffsets(self._group, offsets))
        try:
            return bool(self._transactions.write(stamped(union(frames), number), self._producer, covered).parts)
        except Exception as error:
            raise failure.as_error(error, "The results of a batch could not be written") from error

    def end(self) -> None:
        """Close the producer."""
        self._transactions.end()
