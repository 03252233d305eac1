"""Exactly-once delivery (KIP-618): the offsets of a batch are committed in the Kafka transactions of its records.

A source partition's records and its offset are committed together: whenever a batch is interrupted, every source partition
resumes at its own offset. A task first fences its predecessors and then reads the stored offsets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from headrace.connect_config.common import SourceConnectorConfig
from headrace.connect_config.settings import ConnectorSettings
from headrace.connectors.base import Offsets, Progress
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.groups import Partition
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import Transactional
from headrace.runtime.worker_config import WorkerConfig
from headrace.spark import failure
from headrace.spark.feeds import FencedId, OffsetTemplate
from headrace.spark.transactions import Entry, TaskTransactions

log = structlog.get_logger(__name__)

_EXPIRED = (
    "The task {} was unable to finish writing records to Kafka before its producer transaction expired. It may be necessary to "
    "reconfigure this connector in order for it to run healthily with exactly-once support. Options for this include: tune the "
    "connector's producer configuration for higher throughput, increase the transaction timeout for the connector's producers, "
    "decrease the offset commit interval (if using interval-based transaction boundaries), or use the 'poll' transaction "
    "boundary (if the connector is not already configured to use it)."
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class OffsetPorts:
    """Functions by which exactly-once delivery reaches the offset store and the group."""

    is_current: Callable[[], bool]
    """Whether this worker belongs to its group and has the task, and no newer task configurations of the connector are known."""
    read_configs: Callable[[], None]
    """Returns when the config topic was read to its end."""
    fence_zombies: Callable[[], None]
    """Returns when tasks of earlier generations of the connector are fenced."""
    topic: str
    """The offset topic."""
    records: Callable[[Offsets], list[list[Entry]]]
    """The records of the offset topic that store each of these offsets."""
    copy_offsets: Callable[[Offsets], None]
    """Copies committed offsets to the other offset stores."""


def interval_ms(settings: ConnectorSettings, worker: WorkerConfig) -> int | None:
    """The batch interval by `transaction.boundary`; None: one batch for each poll.

    With boundaries defined by the connector, each of its batches is one transaction.
    """
    if not worker.exactly_once_enabled or not isinstance(settings, SourceConnectorConfig):
        return None
    if settings.transaction_boundary.lower() != "interval":
        return None
    interval = settings.transaction_boundary_interval_ms
    return worker.offset_flush_interval_ms if interval is None else interval


def own_transactions(settings: ConnectorSettings, worker: WorkerConfig) -> bool:
    """Whether the connector defines transaction boundaries (`transaction.boundary=connector`)."""
    defined_by_connector = isinstance(settings, SourceConnectorConfig) and settings.transaction_boundary.lower() == "connector"
    return defined_by_connector and worker.exactly_once_enabled


_MARK = 987_654_321_123_456_789
"""Placeholder for the number of a record in a template."""


def _template(topic: str, key: bytes, value: bytes) -> OffsetTemplate:
    head, _, tail = value.partition(str(_MARK).encode())
    return OffsetTemplate(topic, key, head, tail)


class ExactlyOnce:
    """The transactions of one task, from batch to batch."""

    def __init__(self, task: str, transactions: TaskTransactions, ports: OffsetPorts, recorder: TaskRecorder) -> None:
        """task: `<connector>-<task>`, for messages."""
        self.task, self._transactions, self._ports, self._recorder = task, transactions, ports, recorder
        self._begun, self._expired = False, 0

    @property
    def fenced_id(self) -> FencedId:
        """The transactional id of the task's producer, which is Kafka Connect's, as `begin` has fenced it."""
        return self._transactions.fenced_id

    def fence_zombies(self) -> None:
        """Wait until tasks of earlier generations are fenced. Raises RetriableError."""
        self._ports.fence_zombies()

    def begin(self, spark: SparkSession) -> None:
        """Fence earlier producers of this task, unless that is done; call it before stored offsets are read.

        Raises ConnectError, or RetriableError if a retry may succeed.
        """
        if self._begun:
            return
        self._require_current()  # else it would fence off its successor again and again
        self._transactions.fence(spark)
        # The leader writes task configurations before it fences the tasks that they replace: what fenced this task is known now.
        self._ports.read_configs()
        self._require_current()
        self._begun = True
        log.info("task.exactly-once", reason="the worker has exactly.once.source.support=enabled")

    def _require_current(self) -> None:
        """Raise RetriableError if another task may read the same source partitions; the supervisor is about to stop this one."""
        if not self._ports.is_current():
            raise RetriableError(
                "This worker is not a member of its group now, or the task was moved or replaced; another one may do its work."
            )

    def end(self) -> None:
        """End the run, also after a failure; `begin` fences again."""
        self._begun = False
        self._transactions.end()

    def check(self, topics: Iterable[str]) -> None:
        """Raise ConnectError if records go to the offset topic: its readers would wait for the transaction."""
        if self._ports.topic in topics:
            raise ConnectError("Source tasks may not produce to their own offsets topics when exactly-once support is enabled")

    def templates(self, offsets: Offsets, field: str, partitions: Sequence[Partition]) -> dict[Partition, list[OffsetTemplate]]:
        """Templates of the records that store the offset of each of these partitions; the number is filled in later.

        offsets: one for each partition, in their order, whose field of this name is a number.
        """
        marked = [(partition, {**offset, field: _MARK}) for partition, offset in offsets]
        entries = self._ports.records(marked)
        # Tombstones for other keys of the same partition are left out: the newest key counts.
        templates = [[_template(t, key, value) for t, key, value in some if value is not None] for some in entries]
        return dict(zip(partitions, templates, strict=True))

    def write(self, frame: DataFrame, producer: Mapping[str, str], progress: Progress) -> Offsets:
        """Write a batch; returns the offsets that are not stored yet, because the batch had no records."""
        entries = [entry for some in self._ports.records(progress.offsets) for entry in some]
        begun = time.monotonic()
        try:
            size = self._transactions.write(frame, producer, entries)
        except Exception as e:
            self._expired += (time.monotonic() - begun) * 1000 > self._transactions.timeout_ms
            if self._expired > 1:  # once may be the brokers' fault
                raise ConnectError(_EXPIRED.format(self.task)) from failure.SparkError(failure.root(e))
            raise
        self._expired = 0
        if not size:
            return progress.offsets
        self._recorder.record(Transactional((size,)))
        return ()

    def copy_offsets(self, offsets: Offsets) -> None:
        """Copy committed offsets to the other offset stores."""
        self._ports.copy_offsets(offsets)
