"""What the operators of one batch share: the stores, the stream times, and what the batch has to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.streams.engine.changelog import Changelog
from headrace.streams.engine.flows import Flow
from headrace.streams.engine.state import Layout, StoreTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headrace.streams.stores import StateStore

Clocks = dict[str, dict[int, int]]


@dataclass
class Memory:
    """What a sub-topology keeps from batch to batch: rows by store, stream times, formats of changelogs."""

    spark: SparkSession
    parts: int
    stores: Mapping[str, StateStore]
    changelog: Callable[[str], str | None]
    """The topic of a store, None for a store that has none of its own."""
    global_tables: Mapping[str, StoreTable] = field(default_factory=dict)
    tables: dict[str, StoreTable] = field(default_factory=dict)
    logs: dict[str, Changelog] = field(default_factory=dict)
    clocks: Clocks = field(default_factory=dict)
    expires: dict[str, str] = field(default_factory=dict)
    """Windowed stores, each with the operator by whose stream time its rows expire."""

    def expire(self) -> None:
        """Tell each windowed store from which time on its rows are kept: stream time less retention."""
        for store, node in self.expires.items():
            retention = self.stores[store].retention_ms
            if retention is not None:
                self.tables[store].kept_from = {p: time - retention for p, time in self.clocks.get(node, {}).items()}

    def table(self, store: str, layout: Layout) -> StoreTable:
        """The rows of a store, which the first batch lays out. Raises StreamsError for a store that has another layout."""
        if store not in self.tables:
            self.tables[store] = StoreTable(self.spark, layout, self.parts)
            topic = self.changelog(store)
            self.logs[store] = Changelog.of(topic or store, self.stores[store], layout)
        elif self.tables[store].layout != layout:
            raise StreamsError(f"The store {store} is used with values of two types.")
        return self.tables[store]


@dataclass(frozen=True)
class Shown:
    """Records that go to a function of the user's in this process, or are printed."""

    frame: DataFrame
    show: Callable[[Any], None]


@dataclass
class Context:
    """One batch."""

    memory: Memory
    quiet: frozenset[str] = frozenset()
    """Names of sources that have nothing in this batch."""
    watched: frozenset[str] = frozenset()
    """Tables of which every single change is wanted."""
    flows: dict[str, Flow] = field(default_factory=dict)
    """What each operator passed on."""
    rows: list[DataFrame] = field(default_factory=list)
    """To be written."""
    updates: list[tuple[str, DataFrame]] = field(default_factory=list)
    """Of stores."""
    ticks: list[tuple[str, DataFrame]] = field(default_factory=list)
    """Stream times."""
    shown: list[Shown] = field(default_factory=list)
    cut_off: list[DataFrame] = field(default_factory=list)

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self.memory.spark

    def cut(self, frame: DataFrame) -> DataFrame:
        """The frame, computed once for everything that uses it in this batch."""
        kept = frame.localCheckpoint(eager=False)
        self.cut_off.append(kept)
        return kept

    def put(self, store: str, updates: DataFrame) -> None:
        """Change a store. updates: the names of its layout, v, t, and ov, ot of the row before; each key once; cut off."""
        self.updates.append((store, updates))
        if self.memory.changelog(store) is not None:
            self.rows.append(self.memory.logs[store].records(updates))

    def clock(self, node: str) -> DataFrame:
        """The stream time of each task at an operator before this batch: p, ct."""
        times = self.memory.clocks.get(node, {})
        return self.spark.createDataFrame(list(times.items()), "p int, ct bigint")

    def tick(self, node: str, times: DataFrame, *stores: str) -> None:
        """The stream times that this batch has come to: p, ct; cut off. stores: whose rows expire by them."""
        self.ticks.append((node, times))
        self.memory.expires |= dict.fromkeys(stores, node)
