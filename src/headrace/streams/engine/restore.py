"""Restores the stores of a sub-topology from changelogs and source topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.errors import StreamsError
from headrace.kafka.groups import Partition
from headrace.streams.engine.changelog import UNDONE, Changelog
from headrace.streams.engine.cluster import Cluster
from headrace.streams.engine.context import StateManager
from headrace.streams.engine.flows import Flow, Records
from headrace.streams.engine.operators.tables import restored
from headrace.streams.engine.registry_formats import with_schema_lookup
from headrace.streams.engine.source import Ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class StoreRestore:
    """Restores stores from topics."""

    state: StateManager
    cluster: Cluster
    partitions: Sequence[Partition]
    """The source partitions of the sub-topology."""

    def from_changelogs(
        self, pending: Mapping[int, int], written: Collection[tuple[str, int]], counts: Callable[[str, DataFrame], bool]
    ) -> None:
        """Restore every store that has a changelog, and take back there what an interrupted batch has written.

        pending: by partition, the number of the interrupted batch; written: stores with rows, as `StateManager.stores_written`
        returns them; counts: whether a changelog with these records is valid. Raises the errors of `counts` and `Cluster.write`,
        and StreamsError for a recreated changelog.
        """
        for topic, partitions in self.state.repartition_sources.items():
            if (topic, 0) in written and not any(self.cluster.offsets(partitions, "latest").values()):
                raise StreamsError(
                    f"{topic} and the changelogs of what reads it were deleted and created again: their state is lost, but the "
                    "application has committed offsets. Reset it (kafka-streams-application-reset.sh) to compute it again."
                )
        for store, changelog in self.state.logs.items():
            topic = self.state.changelog(store)
            if topic is None:
                continue
            partitions = [(topic, p) for p in sorted({p for _, p in self.partitions})]
            first, last = self.cluster.offsets(partitions, "earliest"), self.cluster.offsets(partitions, "latest")
            if any((store, p) in written and last.get((topic, p)) == 0 for _, p in partitions):  # no clean-up takes offsets back
                raise StreamsError(
                    f"The changelog {topic} was deleted and created again: what the store {store} held is lost, but the "
                    "application has committed offsets. Reset it (kafka-streams-application-reset.sh) to compute it again."
                )
            ranges = {p: (first[p], last[p]) for p in first if last.get(p, 0) > first[p]}
            self.state.tables[store].clear()
            if not ranges:
                continue
            rows = self.cluster.read(ranges)
            if counts(topic, rows):
                self.state.tables[store].restore(changelog.restored(rows, pending))
                self._write_undone(changelog, ranges, pending)

    def take_back(self, pending: Mapping[int, int], complete: Mapping[Partition, int]) -> None:
        """Take back in the changelogs what the failed try of a batch has written: the next one may write other rows.

        pending: by partition, the number of the batch; complete: by partition of a changelog, an offset before which there is
        nothing of the batch. Raises the errors of `Cluster.write`.
        """
        for store, changelog in self.state.logs.items():
            topic = self.state.changelog(store)
            if topic is None:
                continue
            partitions = [(topic, p) for p in sorted(pending)]
            first, last = self.cluster.offsets(partitions, "earliest"), self.cluster.offsets(partitions, "latest")
            starts = {p: max(offset, complete.get(p, 0)) for p, offset in first.items()}
            ranges = {p: (start, last[p]) for p, start in starts.items() if last.get(p, 0) > start}
            self._write_undone(changelog, ranges, pending)

    def _write_undone(self, changelog: Changelog, ranges: Ranges, pending: Mapping[int, int]) -> None:
        """ranges: of the changelog's topic."""
        if of_pending := {partition: offsets for partition, offsets in ranges.items() if partition[1] in pending}:
            self.cluster.write([changelog.undone(self.cluster.read(of_pending), pending)], UNDONE)

    def from_source(self, store: str, topic: str, positions: Mapping[Partition, int], flow: Callable[[DataFrame], Flow]) -> None:
        """Restore a store whose changelog is its source topic, up to the read positions. flow: of the topic's records."""
        partitions = [p for p in self.partitions if p[0] == topic]
        first = self.cluster.offsets(partitions, "earliest")
        ranges = {p: (first[p], positions[p]) for p in partitions if positions[p] > first.get(p, 0)}
        if not ranges:
            return

        def load() -> None:
            records = flow(self.cluster.read(ranges))
            assert isinstance(records, Records)
            self.state.tables[store].clear()
            self.state.tables[store].load(restored(self.state.stores[store], records))

        with_schema_lookup(load)
