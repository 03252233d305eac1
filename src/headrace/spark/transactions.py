"""Batches in Kafka transactions, the driver's side (KIP-618): who may write, what goes together, what was committed.

The executors write (`jvm/java/…/TransactionalWrite.java`): each Spark partition of a batch is a transaction, with the Connect
offsets of the source partitions that it has records of. Nothing of a record comes to the driver. Docs: decisions/0010.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.config import Type, parse_type
from headrace.errors import RetriableError
from headrace.spark import failure, known_servers
from headrace.spark.feeds import FencedId
from headrace.spark.kafka import INTERCEPTOR, ONE_REQUEST, ORIGIN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Entry = tuple[str, bytes, bytes | None]
"""A record of an offset topic: topic, key, value (None: a tombstone)."""

Part = tuple[str, ...]
"""A source partition, as the origin of its records."""

# Of a transaction, where nothing is said: Kafka's own; less if a transaction can end in the middle of a batch, so that what a
# process that died has left open holds up nobody for long.
_TIMEOUT_MS, _SHORT_TIMEOUT_MS = 60_000, 15_000
_TIMEOUT = "transaction.timeout.ms"


@dataclass(frozen=True)
class CoveredRecords:
    """The offsets of a batch."""

    names: Sequence[str]
    """The parts of a record's origin that identify its source partition; empty: one offset stands for all records."""
    offsets: Mapping[Part, Sequence[Entry]]
    """The records of the offset topics that store the end of the batch for a source partition."""
    ordinal: str | None = None
    """The part of the origin that is a record's number in its source partition, and the field of that name all that changes in an
    offset (None: an offset is only known at the end of the batch).
    """


@dataclass(frozen=True)
class Written:
    """The result of a batch: the source partitions whose offsets are stored, and the number of records of each transaction."""

    parts: frozenset[Part]
    sizes: Sequence[int]


class TaskTransactions:
    """The transactional ids of one task, for one run of it after the other."""

    def __init__(self, ids: Sequence[str], admin: Mapping[str, str], roll_ms: int | None = None) -> None:
        """ids: as many as the task may have writers; admin: Java settings of a client of the cluster that is written to;
        roll_ms: the age at which a transaction ends in the middle of a batch, None: a third of what brokers allow.
        """
        self._ids, self._admin = list(ids), dict(admin)
        self._roll_ms = roll_ms
        self._jvm: Any = None
        self._run = ""
        self._settings: dict[str, str] = {}
        self._producers: list[tuple[int, int]] = []

    @property
    def first(self) -> FencedId:
        """The first of the ids, for a producer of a lane; call `fence` before each."""
        return FencedId(self._ids[0], *self._producers[0])

    def fence(self, spark: SparkSession) -> None:
        """Initialize transactions: earlier producers with these ids are fenced, and their open transactions are aborted.

        Offsets read after it cannot be changed by others during this run. Raises ConnectError or RetriableError.
        """
        self.end()
        self._jvm = spark._jvm
        try:
            fenced = json.loads(self._jvm.io.headrace.Transactions.fence(self._admin, self._ids))
        except Exception as e:
            error = failure.as_error(e, "The transactional producers of this task could not be fenced off")
            if known_servers.is_outage(failure.root(e), self._admin):
                raise RetriableError(str(error)) from error.__cause__
            raise error from error.__cause__
        known_servers.remember(self._admin)
        self._producers = [(producer, epoch) for producer, epoch in fenced]

    def end(self) -> None:
        """Close the run's producers in this process; their open transactions are aborted."""
        if self._run:
            self._jvm.io.headrace.Transactions.end(self._run)
        self._run = ""

    def write(self, frame: DataFrame, producer: Mapping[str, str], covered: CoveredRecords) -> Written:
        """Write a batch of `producer_columns` with its offsets, and return when all of it is committed.

        producer: Java producer settings. Raises Spark's errors; some of the transactions may be committed then.
        """
        timeout_ms = _TIMEOUT_MS if covered.ordinal is None else _SHORT_TIMEOUT_MS
        self._set_producer_settings({_TIMEOUT: str(timeout_ms), **producer})
        jvm_frame: Any = frame.selectExpr(*_columns(covered))._jdf
        rows = jvm_frame.queryExecution().toRdd().toJavaRDD()
        most = len(self._ids) if covered.names else 1
        if rows.getNumPartitions() > most:
            rows = rows.coalesce(most)
        write = self._jvm.io.headrace.TransactionalWrite(json.dumps(self._plan(covered)))
        return self._written(rows.mapPartitions(write).collect())

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

    def _plan(self, covered: CoveredRecords) -> dict[str, Any]:
        return {
            "run": self._run,
            "settings": self._settings,
            "writers": [(id_, *producer) for id_, producer in zip(self._ids, self._producers, strict=True)],
            "names": len(covered.names),
            "offsets": {_key(part): [_text(entry) for entry in entries] for part, entries in covered.offsets.items()},
            "roll_ms": self.timeout_ms // 3 if self._roll_ms is None else self._roll_ms,
            "number": covered.ordinal,
        }

    def _written(self, results: Iterable[str]) -> Written:
        parts: list[Part] = []
        sizes: list[int] = []
        for result in results:
            writer, producer, epoch, counts, keys = json.loads(result)
            self._producers[writer] = (producer, epoch)
            sizes += counts
            parts += [tuple(json.loads(key)) for key in keys]
        return Written(frozenset(parts), sizes)


def _columns(covered: CoveredRecords) -> list[str]:
    columns = ["topic", "cast(key AS binary)", "cast(value AS binary)", "headers", "partition"]
    columns += [f"cast(`{ORIGIN}{name}` AS string)" for name in covered.names]
    ordinal = "NULL" if covered.ordinal is None else f"`{ORIGIN}{covered.ordinal}`"
    return [f"{sql} AS c{n}" for n, sql in enumerate([*columns, f"cast({ordinal} AS bigint)"])]


def _key(part: Part) -> str:
    """The JSON of a list of texts, in Jackson's format."""
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


def _text(entry: Entry) -> tuple[str, str, str | None]:
    topic, key, value = entry
    return topic, key.decode(), None if value is None else value.decode()
