"""The context that the operators of a sub-topology share: stores, stream times, and the outputs of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.sql_functions import F
from headrace.streams.engine.changelog import Changelog
from headrace.streams.engine.flows import Flow
from headrace.streams.engine.layout import Layout
from headrace.streams.engine.runtime import Output, TaskRuntime
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.serdes import Serde

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from headrace.streams.stores import StateStore

StreamTimes = dict[str, dict[int, int]]
"""By operator and partition, in ms."""
NULL_KEY = "Skipping record due to null key."
NULL_KEY_OR_VALUE = "Skipping record due to null key or value."
NULL_JOIN_KEY_OR_VALUE = "Skipping record due to null join key or value."
EXPIRED_WINDOW = "Skipping record for expired window."
EXPIRED_PUT = "Skipping record for expired put."
LEFT_OUT = (NULL_KEY, NULL_KEY_OR_VALUE, NULL_JOIN_KEY_OR_VALUE, EXPIRED_WINDOW, EXPIRED_PUT)
"""Why operators leave out records, in Kafka's words."""


@dataclass
class StateManager:
    """The state of a sub-topology between batches: rows by store, stream times, formats of changelogs."""

    runtime: TaskRuntime
    stores: Mapping[str, StateStore]
    """By name, without global ones."""
    changelog: Callable[[str], str | None]
    """The topic of a store, None for a store that has none of its own."""
    global_tables: Mapping[str, StoreTable] = field(default_factory=dict)
    """By name of the store, as `tables` and `logs`."""
    tables: dict[str, StoreTable] = field(default_factory=dict)
    logs: dict[str, Changelog] = field(default_factory=dict)
    stream_times: StreamTimes = field(default_factory=dict)
    expires: dict[str, str] = field(default_factory=dict)
    """Windowed stores, each with the operator by whose stream time its rows expire."""
    repartition_sources: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    """By repartition topic whose readers read nothing else, its partitions and those of their changelogs."""

    def set_stream_times(self, stream_times: StreamTimes) -> None:
        """Set the stream times of operators."""
        self.stream_times = stream_times
        self.runtime.set_stream_times(stream_times)
        self._expire()

    def apply(self, stream_times: StreamTimes) -> None:
        """Apply the changes and stream times of a batch to the stores; deletes expired windows now and then."""
        self.runtime.apply()
        self.stream_times = stream_times
        self._expire()
        for store in self.expires:
            self.tables[store].delete_expired(self.runtime.changed_rows(store))

    def _expire(self) -> None:
        for store, node in self.expires.items():
            retention = self.stores[store].retention_ms
            if retention is not None:
                self.tables[store].expired_until = {p: time - retention for p, time in self.stream_times.get(node, {}).items()}

    def signatures(self) -> dict[str, str]:
        """The signatures of the stores with a changelog, by name."""
        return {name: log.signature for name, log in self.logs.items() if self.changelog(name) is not None}

    def stores_written(self, partitions: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
        """Of written partitions, those of changelogs, each with the name of the store; and the topics of `repartition_sources`,
        as if they had one partition.
        """
        stores, written = {self.changelog(store): store for store in self.logs}, list(partitions)
        repartition_sources = {(topic, 0) for topic, _ in written if topic in self.repartition_sources}
        return repartition_sources | {(stores[topic], p) for topic, p in written if topic in stores}

    def table(self, store: str, layout: Layout, time: Column | None = None, size: Column | None = None) -> StoreTable:
        """The rows of a store, which is created at the first call. Raises StreamsError for a store with another layout.

        time, size: by which its rows can be read in their order, as `TimeIndex` has it.
        """
        if store not in self.tables:
            log = Changelog.of(self.changelog(store) or store, self.stores[store], layout)
            self.tables[store], self.logs[store] = StoreTable(self.runtime, store, log, time, size), log
        elif self.tables[store].layout != layout:
            raise StreamsError(f"The store {store} is used with values of two types.")
        return self.tables[store]


@dataclass(frozen=True)
class ForEachAction:
    """Records for a user's function in this process, or to be printed."""

    frame: DataFrame
    show: Callable[[Any], None]
    """Takes a row of the frame."""


@dataclass
class Context:
    """The plan of a batch: made once, and run for every batch."""

    state: StateManager
    tables_with_all_changes: frozenset[str] = frozenset()
    """Tables of which operators need every single change."""
    flows: dict[str, Flow] = field(default_factory=dict)
    """The flow behind each operator."""
    outputs: list[Output] = field(default_factory=list)
    """The outputs of a batch."""
    local_actions: list[ForEachAction] = field(default_factory=list)
    processors: list[str] = field(default_factory=list)
    """Nodes whose punctuations may be due."""
    defaults: tuple[Serde | None, Serde | None] = (None, None)
    """The default serdes of keys and values."""
    topics: tuple[str, ...] = ()
    """The topics of the task in the order of their numbers, which stand in the places of records if there are several."""

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self.state.runtime.spark

    def compute_once(self, frame: DataFrame) -> DataFrame:
        """The frame, computed once per batch for all its uses."""
        return self.state.runtime.compute_once(frame)

    def write(self, frames: Iterable[DataFrame]) -> None:
        """Send records. frames: of `sinks.COLUMNS`."""
        self.outputs += [Output("sink", "", None, frame) for frame in frames]

    def put(self, store: str, updates: DataFrame) -> None:
        """Change a store. updates: the columns of its layout, v, t, and ov, ot of the previous row; each key once."""
        self.put_encoded(store, self.state.logs[store].encoded(updates))
        index = self.state.tables[store].index
        if index is not None:
            self.outputs.append(Output("store", index.name, None, index.changes(updates)))

    def put_encoded(self, store: str, changes: DataFrame) -> None:
        """As `put`, for rows in the store's format: p, key, value (NULL deletes), t, old."""
        kind = "version" if self.state.logs[store].versioned else "store"
        self.outputs.append(Output(kind, store, self.state.changelog(store), changes))

    def schedule_punctuations(self, node: str, times: DataFrame) -> None:
        """Output when the punctuations of a processor are due: p, number, ms. A number below 0: the processor has started."""
        self.outputs.append(Output("due", node, None, times))
        self.processors.append(node)

    def call_locally(self, frame: DataFrame, action: Callable[[Any], None]) -> None:
        """Call a function in this process with rows, after the rest of the batch. frame: computed once."""
        self.outputs.append(Output("show", "", None, frame))
        self.local_actions.append(ForEachAction(frame, action))

    def skip(self, frame: DataFrame, store: str = "") -> None:
        """Output skipped records. frame: topic, partition, offset; for expired records of a store its name, the partition and the
        time. store: also `source.NEGATIVE_TIME`.
        """
        self.outputs.append(Output("skip", store, None, frame.select("topic", "partition", "offset")))

    def takes(self, node: str, condition: Column | str, why: str, *more: Column) -> Column:
        """Whether an operator takes a record: if the condition, which is never NULL, is true. Others are counted as dropped.

        Of rows with p, t, o. why: of `LEFT_OUT`; more: numbers that distinguish rows of one place.
        """
        place = F.concat(F.col("o"), F.array(*more)) if more else F.col("o")
        condition = F.expr(condition) if isinstance(condition, str) else condition
        return condition | ~self.left_out(node, why, F.col("t"), place)

    def left_out(self, node: str, why: str, time: Column, place: Column) -> Column:
        """True. A record for which this is computed is counted as dropped: once in a batch, however often Spark computes it."""
        names = [F.lit(text) for text in (self.state.runtime.id, why, node)]
        return F.call_function("headrace_left_out", *names, F.col("p").cast("int"), time, place)

    def topic_length(self) -> Column:
        """The length of the name of a row's topic, by its place `o`; 0 for what a schedule of a processor has passed on."""
        if len(self.topics) == 1:
            return F.lit(len(self.topics[0]))
        lengths = F.array(*[F.lit(len(topic)) for topic in self.topics])
        return F.coalesce(F.get(lengths, F.get("o", F.lit(1)).cast("int")), F.lit(0))

    def stream_time(self, node: str) -> Column:
        """The stream time of a row's task `p` at an operator before the batch; NULL if there is none."""
        return F.call_function("headrace_stream_time", F.lit(self.state.runtime.id), F.lit(node), F.col("p").cast("int"))

    def advance_stream_time(self, node: str, times: DataFrame, *stores: str) -> None:
        """Output the stream times after a batch: p, ct. stores: whose rows expire by them."""
        self.outputs.append(Output("tick", node, None, times.select("p", "ct").where("ct is not null")))
        self.state.expires |= dict.fromkeys(stores, node)
