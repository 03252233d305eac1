"""What a task commits: the offsets of its partitions, with metadata from which the next instance continues.

At least once: the metadata of the group's committed offsets has the end of a batch (`to`) and its number (`n`) before it begins;
the offsets after it are committed once its last record has been acknowledged. An interrupted batch is thus known, and is run
again over the same offsets and from the same state: what it had written is written again, to the same rows, and counts once.
Exactly once: a batch and the offsets after it are one transaction, so that no batch is run again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.kafka.groups import Partition
from headrace.streams.engine import offset_metadata
from headrace.streams.engine.changelog_refill import ChangelogRefill
from headrace.streams.engine.cluster import Cluster, NotCommittedError
from headrace.streams.engine.context import StateManager, StreamTimes
from headrace.streams.engine.offset_metadata import OffsetMetadata
from headrace.streams.engine.source import Ranges
from headrace.streams.engine.task_positions import TaskPositions
from headrace.values.times import now_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class TaskCommits:
    """The commits of a task, batch by batch, each with its number."""

    def __init__(
        self, subtopology: int, cluster: Cluster, state: StateManager, positions: TaskPositions, refill: ChangelogRefill
    ) -> None:
        """subtopology: its number; state, positions, refill: those of the task, which commits describe."""
        self.transactions = cluster.transactions(subtopology)
        """None if batches are written at least once."""
        self.number = 0
        """The number of the last batch."""
        self._least_number = 0  # of the next one that begins
        self.written: set[tuple[str, int]] = set()
        """Stores whose changelogs have rows, as `StateManager.stores_written` returns them."""
        self.committed_offsets: dict[Partition, int] = {}
        """By partition, the offset that was committed last; empty before the first commit of this instance."""
        self._cluster, self._state, self._positions, self._refill = cluster, state, positions, refill
        self._uncommitted = False  # whether a batch is complete, and the offsets after it are not committed
        self._is_unknown = False  # whether the last transaction may be committed or not

    def read(self) -> dict[Partition, tuple[int, str]]:
        """Fence off other writers, then read the committed offsets with their metadata. Raises the errors of
        `BatchTransactions.begin` and `Cluster.committed`.
        """
        if self.transactions is not None:
            self.transactions.begin(self._state.runtime)
        return self._cluster.committed(self._positions.partitions)

    def continue_after(self, metadata: OffsetMetadata) -> None:
        """Continue after the last batch that was committed, or had begun. metadata: of the committed offsets."""
        self.number = offset_metadata.batch_number(metadata)
        # A store that was in another sub-topology has rows of its batches: no number of theirs may be used again.
        moved = bool(metadata) and not self._state.signatures().keys() <= offset_metadata.signatures(metadata).keys()
        self._least_number = now_ms() if moved else 0
        self.written = offset_metadata.stores_with_rows(metadata, self._state)

    def holds_state(self, changelog: str, rows: DataFrame) -> bool:
        """Whether a changelog holds valid state although nothing is committed. Raises StreamsError if it would count twice."""
        if self.transactions is not None and rows.isEmpty():
            return False  # the very first transaction was aborted
        if not self._positions.are_internal_and_empty():
            raise StreamsError(
                f"The changelog {changelog} holds state, but the group of the application has no committed offsets: it would be "
                "counted twice. Reset the application (kafka-streams-application-reset.sh), or delete its changelogs."
            )
        # Its repartition topics were deleted, and their committed offsets with them. No batch number may be used again.
        self.number = max(self.number, now_ms())
        return True

    def end_recovery(self) -> None:
        """The stores have been restored to the committed offsets."""
        self._is_unknown = False

    def begin_transactions_again(self) -> bool:
        """Write again after a transaction that was not committed. Returns whether the stores have to be recovered first: the
        transaction may be committed, or another instance has committed batches since. Raises the errors of `read`.
        """
        if self.transactions is not None and not (self._is_unknown or self._state.runtime.can_write()):
            self.transactions.begin(self._state.runtime)
            self._is_unknown = True  # also if brokers do not say what is committed
            committed = self._cluster.committed(self._positions.partitions)
            last = offset_metadata.batch_number(offset_metadata.decoded(committed))
            self._is_unknown = last > self.number - bool(self._positions.unfinished)
        return self._is_unknown

    def begin_batch(self, ranges: Ranges, *, again: bool = False) -> None:
        """A batch of these ranges begins. again: whether it has begun before, and failed. Raises the errors of `commit`."""
        if not again:
            self.number = max(self.number + 1, self._least_number)
        self._positions.begin_batch(ranges)
        if self.transactions is None:  # commits the previous batch, too
            self.commit({p: end for p, (_, end) in ranges.items()})

    def commit_results(self, ranges: Ranges, stream_times: StreamTimes) -> None:
        """Exactly once: commit the results of a batch and the offsets after it in one transaction.

        stream_times: after the batch. Raises NotCommittedError; after every other error the transaction may be committed.
        """
        self.written |= self._state.stores_written(self._state.runtime.written_offsets())
        if self.transactions is None:
            return
        after = self._positions.after(ranges)
        offsets = {p: (offset, self._metadata(p, stream_times=stream_times)) for p, offset in after.items()}
        try:
            self.transactions.commit(self._state.runtime, offsets)
        except BaseException as error:
            self._is_unknown = not isinstance(error, NotCommittedError)
            raise

    def advance(self, ranges: Ranges) -> None:
        """The results of a batch are in the stores: continue after its ranges."""
        self._positions.advance(ranges)
        self._uncommitted = self.transactions is None
        if not self._uncommitted:
            self.committed_offsets = dict(self._positions.offsets)

    def commit(self, to: Mapping[Partition, int]) -> None:
        """Commit the positions. to: by partition, the end of the batch that begins. Raises the errors of `Cluster.commit`."""
        offsets = self._positions.offsets
        self._cluster.commit({p: (offset, self._metadata(p, to.get(p))) for p, offset in offsets.items()})
        self.committed_offsets = dict(offsets)

    def commit_done(self) -> None:
        """Commit the last batch, unless it is. Raises the errors of `commit`."""
        if self._uncommitted:
            self.commit({})
            self._uncommitted = False

    def forget_rows(self, names: Collection[str]) -> None:
        """Forget the rows of stores whose changelogs were deleted, and of repartition topics. names: of both."""
        self.written = {row for row in self.written if row[0] not in names}

    def _metadata(self, partition: Partition, to: int | None = None, stream_times: StreamTimes | None = None) -> str:
        more: dict[str, Any] = {"to": to}
        if partition == self._positions.partitions[0]:
            more |= {"s": self._state.signatures() or None, "e": sorted(self._refill.stores) or None}
        times = self._state.stream_times if stream_times is None else stream_times
        return offset_metadata.encode(self.number, partition, times, self.written, more)
