"""Batches in Kafka transactions, the driver's side (KIP-618): who may write, what goes together, what was committed.

One Spark task writes a batch, in one transaction with its Connect offsets (`jvm/java/…/TransactionalWrite.java`). Nothing of a
record comes to the driver. Docs: decisions/0010.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace.config import Type, parse_type
from headrace.errors import RetriableError
from headrace.spark import failure, known_servers
from headrace.spark.feeds import FencedId
from headrace.spark.kafka import INTERCEPTOR, ONE_REQUEST

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Entry = tuple[str, bytes, bytes | None]
"""A record of an offset topic: topic, key, value (None: a tombstone)."""

_TIMEOUT, _TIMEOUT_MS = "transaction.timeout.ms", 60_000  # Kafka's own default


class TaskTransactions:
    """The transactions of one task, for one run of it after the other."""

    def __init__(self, transactional_id: str, admin: Mapping[str, str]) -> None:
        """admin: Java settings of a client of the cluster that is written to."""
        self._id, self._admin = transactional_id, dict(admin)
        self._jvm: Any = None
        self._run = ""
        self._settings: dict[str, str] = {}
        self._producer = (0, 0)  # its id and epoch

    @property
    def fenced_id(self) -> FencedId:
        """The transactional id, for a producer of a lane; call `fence` before each."""
        return FencedId(self._id, *self._producer)

    def fence(self, spark: SparkSession) -> None:
        """Initialize transactions: an earlier producer with this id is fenced, and its open transaction is aborted.

        Offsets read after it cannot be changed by others during this run. Raises ConnectError or RetriableError.
        """
        self.end()
        self._jvm = spark._jvm
        try:
            producer, epoch = json.loads(self._jvm.io.headrace.Transactions.fence(self._admin, self._id))
        except Exception as e:
            error = failure.as_error(e, "The transactional producer of this task could not be fenced off")
            if known_servers.is_outage(failure.root(e), self._admin):
                raise RetriableError(str(error)) from error.__cause__
            raise error from error.__cause__
        known_servers.remember(self._admin)
        self._producer = (producer, epoch)

    def end(self) -> None:
        """Close the run's producer in the executors' processes; its open transaction is aborted."""
        if self._run:
            self._jvm.io.headrace.Transactions.end(self._run)
        self._run = ""

    def write(self, frame: DataFrame, producer: Mapping[str, str], offsets: Sequence[Entry]) -> int:
        """Write a batch of `producer_columns` with its offsets, and return when all of it is committed.

        producer: Java producer settings; offsets: the records of the offset topics, which are written if there is a record.
        Returns the number of records. Raises Spark's errors; the transaction may be committed then.
        """
        self._set_producer_settings({_TIMEOUT: str(_TIMEOUT_MS), **producer})
        jvm_frame: Any = frame.selectExpr(*(f"{sql} AS c{n}" for n, sql in enumerate(_COLUMNS)))._jdf
        rows = jvm_frame.queryExecution().toRdd().toJavaRDD().coalesce(1)
        write = self._jvm.io.headrace.TransactionalWrite(json.dumps(self._plan(offsets)))
        results = rows.mapPartitions(write).collect()
        if not results:
            return 0
        size, producer_id, epoch = json.loads(results[0])
        self._producer = (producer_id, epoch)
        return size

    def _set_producer_settings(self, producer: Mapping[str, str]) -> None:
        interceptors = ",".join(filter(None, [INTERCEPTOR, producer.get("interceptor.classes")]))
        settings = {**ONE_REQUEST, **producer, "enable.idempotence": "true", "acks": "all", "interceptor.classes": interceptors}
        if settings != self._settings:
            self.end()
        self._run = self._run or uuid.uuid4().hex
        self._settings = settings

    @property
    def timeout_ms(self) -> int:
        """How long brokers leave a transaction open, by the settings of the last batch. Raises ConfigError."""
        return parse_type(_TIMEOUT, self._settings[_TIMEOUT], Type.INT)

    def _plan(self, offsets: Sequence[Entry]) -> dict[str, Any]:
        return {
            "run": self._run,
            "settings": {**self._settings, "transactional.id": self._id},
            "producer": self._producer,
            "offsets": [_text(entry) for entry in offsets],
        }


_COLUMNS = ("topic", "cast(key AS binary)", "cast(value AS binary)", "headers", "partition")


def _text(entry: Entry) -> tuple[str, str, str | None]:
    topic, key, value = entry
    return topic, key.decode(), None if value is None else value.decode()
