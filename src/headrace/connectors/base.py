"""The base classes of connectors and tasks.

A *connector* inspects the outside system and divides the work into task configurations; it runs on one worker, in the driver,
and touches no record. A source's *task* says which source partitions it reads, how, and what its progress means in Connect
offsets: as a feed of the data plane (`headrace.connectors.feed`), or as DataFrames of micro-batches, here. Reading and writing
are Spark's; creation of topics, delivery and commits are the runtime's (`headrace.runtime`), the same for every connector. What
a sink's task is stands in `headrace.connectors.sink`.
"""

from __future__ import annotations

import inspect
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from headrace.config import ConfigDef
from headrace.connectors.partition_lag import PartitionLag
from headrace.connectors.topic_settings import TopicSettings
from headrace.plugin_metrics import PluginMetrics
from headrace.plugins import Kind
from headrace.record import RecordColumns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Props = Mapping[str, str]
SourcePartition = Mapping[str, Any]
SourceOffset = Mapping[str, Any]
Measured = tuple[str, str, float, Mapping[str, str]]
"""A metric: its group (`mirror-…`: what follows `kafka_connect_` in Prometheus), its name, its value and its labels."""


Stored = Callable[[Sequence[SourcePartition]], Sequence[SourceOffset | None]]


def _no_offsets(partitions: Sequence[SourcePartition]) -> Sequence[SourceOffset | None]:
    return [None for _ in partitions]


@dataclass(frozen=True)
class ConnectorContext:
    """The worker's interface for a running connector."""

    name: str
    """The connector's name."""
    request_reconfiguration: Callable[[], None]
    """Request task reconfiguration: `task_configs` is called again. For any thread."""
    raise_error: Callable[[Exception], None]
    """Report an error that ends the connector; it becomes FAILED with this error as its trace."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the connector is being stopped; a `start` that waits for something should wait for this as well."""
    stored: Stored = _no_offsets
    """Reads a source's stored offsets for these partitions, in their order."""
    metrics: PluginMetrics = field(default_factory=PluginMetrics)
    """Where it registers metrics of its own (KIP-877)."""


@dataclass(frozen=True)
class TaskContext:
    """The worker's interface for a running task."""

    connector: str
    """The connector's name."""
    task: int
    """The task's number, from 0."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when it is being stopped."""
    tasks: int = 1
    """How many tasks the connector has."""
    exactly_once: bool = False
    """The worker writes records and offsets in transactions, where it can (KIP-618)."""
    interval_ms: int | None = None
    """How long a source task should gather records for one batch, unless a batch is full before
    (`transaction.boundary=interval`), None: it takes what there is.
    """
    stored: Stored = _no_offsets
    """As a connector's."""
    own_transactions: bool = False
    """Whether the task defines transaction boundaries (`transaction.boundary=connector`)."""
    metrics: PluginMetrics = field(default_factory=PluginMetrics)
    """Where it registers metrics of its own (KIP-877)."""

    @property
    def id(self) -> str:
        """`<connector>-<task>`, as Kafka Connect writes it."""
        return f"{self.connector}-{self.task}"


class Connector(ABC):
    """Base of SourceConnector and SinkConnector. One instance lives from `start` to `stop`; a restart creates a new one."""

    version: ClassVar[str | None] = None
    task_class: ClassVar[type[Any]]

    def __init_subclass__(cls, **options: object) -> None:
        """Raises TypeError if a class method is overridden by a plain function: it would be called with one argument too few."""
        super().__init_subclass__(**options)
        for name, member in vars(cls).items():
            if isinstance(member, FunctionType) and isinstance(inspect.getattr_static(cls.__base__, name, None), classmethod):
                raise TypeError(f"{cls.__name__}.{name} has to be a class method (@classmethod).")

    def __init__(self, context: ConnectorContext) -> None:
        self.context = context

    @classmethod
    @abstractmethod
    def definition(cls) -> ConfigDef:
        """The connector's own options; those common to all connectors are added by the runtime."""

    @classmethod
    def task_for(cls, config: Props) -> type[Any]:
        """The class of the tasks of a connector with this configuration; by default `task_class`."""
        return cls.task_class

    @classmethod
    def copy_of(cls, config: Props, topic: str) -> str | None:
        """The topic that the records of another go to, unless a transform changes it. Default: None, it is not known."""
        return None

    @classmethod
    def problems(cls, props: Props) -> Mapping[str, Sequence[str]]:
        """Further errors of a configuration whose options are valid one by one: option name → sentences. Default: none."""
        return {}

    @abstractmethod
    def start(self, props: Props) -> None:
        """Start, in the driver, with a valid configuration. May block; raises a HeadraceError to become FAILED."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Cut the work into at most `max_tasks` task configurations; an empty list: nothing to do now."""

    @abstractmethod
    def stop(self) -> None:
        """Stop every thread and client. Called once, also after a failed `start`."""

    @property
    def task_class_name(self) -> str:
        """The class of its tasks as Kafka Connect knows it (`task.class`); known after `start`."""
        name: str = type(self).plugin_name  # type: ignore[attr-defined]
        return name.removesuffix("Connector") + "Task"


class SourceConnector(Connector):
    """Reads from elsewhere into Kafka."""

    plugin_kind: ClassVar[Kind] = Kind.SOURCE
    task_class: ClassVar[type[OffsetTask]]

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """Validate offsets that an administrator sets (None: removes) while the connector is stopped (KIP-875).

        Returns whether the connector's offsets are all in Connect's store. Raises ConnectError for what cannot be right.
        """
        return False

    @classmethod
    def settings_for_new_topic(cls, config: Props, settings: TopicSettings, cluster_size: int) -> TopicSettings | None:
        """Change, or veto, the settings of a topic before it is created (KIP-158, its earlier revision). Default: as they are.

        config: the connector's; settings: as its `topic.creation.` settings have them; cluster_size: how many brokers there are,
        the most that a replication factor can be. Called on any worker, in the driver, for each topic that does not exist when a
        task first writes to it, and again when topics are compared with their rules. Returns what is to be created, by
        `dataclasses.replace` and `TopicSettings.with_configs`, under the same name; None: nothing, the broker or somebody else
        has to create it. Raises a HeadraceError to fail the task.
        """
        return settings

    @classmethod
    def lag(cls, config: Props, tasks: Sequence[Props], offsets: Offsets, *, ages: bool) -> list[PartitionLag] | None:
        """How far each partition of the source is behind, None if unknown. Asked on any worker, for any state.

        config: the connector's; tasks: of its tasks, as far as there are any; offsets: what is stored; ages: with the times.
        """
        return None


Offsets = Sequence[tuple[SourcePartition, SourceOffset]]


def _no_more_offsets(_failed: Sequence[Mapping[str, str | None]]) -> Offsets:
    return ()


def _no_check() -> None:
    pass


@dataclass(frozen=True)
class Progress:
    """The progress of one batch."""

    offsets: Sequence[tuple[SourcePartition, SourceOffset]]
    """The Connect offset of each source partition that advanced, to be stored once the batch is written."""
    topics: frozenset[str] | None
    """Names of the source topics (or whatever the routing starts from) that have records in the batch, None: not known."""
    summary: str
    """The covered range in words, for logs and traces."""
    before: Callable[[Sequence[Mapping[str, str | None]]], Offsets] = _no_more_offsets
    """The offsets to store if records of the batch failed, from their origins (`RecordColumns.origin` as texts): those of what
    precedes them; by default none.
    """
    check: Callable[[], None] = _no_check
    """Raises RetriableError if the source is not the one any more from which the batch was read, so that it is not to be
    committed.
    """


class Task(ABC):
    """Base of all tasks: one instance lives from `start` to `stop`."""

    shutdown_wait_s: float = math.inf
    """Longest wait for the batch in flight when the task is stopped; the worker's own limit counts as well."""

    def __init__(self, context: TaskContext) -> None:
        self.context = context

    @abstractmethod
    def start(self, props: Props) -> None:
        """Start with the task configuration; create clients. Raises a HeadraceError to become FAILED."""

    def stop(self) -> None:  # noqa: B027 - most tasks have nothing to end
        """Close clients. Called once, also after a failed `start`."""


class OffsetTask(Task):
    """Base of source tasks whose offsets are in Connect's store."""

    renews_topics: ClassVar[bool] = False
    """Whether a topic that is deleted while records are written to it is created again, as it was at first."""

    @abstractmethod
    def partitions(self) -> list[SourcePartition]:
        """The source partitions whose stored offsets are wanted for reading."""

    def committed(self, progress: Progress) -> None:
        """Called after the offsets of a batch are stored. Must neither block for long nor raise."""

    def measures(self) -> Iterable[Measured]:
        """The current values of the task's own metrics. Called on any thread; must neither wait nor raise."""
        return ()


class SourceTask(OffsetTask):
    """One query of a source connector: a streaming DataFrame from explicit offsets.

    Life: `start` → `partitions` → `open` → (`progress` → `committed`)* → `stop`; after a failure that may pass, `open` is called
    again with the offsets stored by then.
    """

    @abstractmethod
    def open(self, spark: SparkSession, stored: StoredOffsets) -> Stream | None:
        """Open the stream at the stored offsets; None if there is nothing to read (called again after a pause)."""

    @abstractmethod
    def progress(self, start: str | None, end: str) -> Progress:
        """The progress of a batch, from Spark's offset JSON before (None: the beginning of the stream) and after it."""


@dataclass(frozen=True)
class Stream:
    """A streaming DataFrame, and where it begins."""

    frame: DataFrame
    record: RecordColumns
    """How the columns of the frame make up a record."""
    destination: Callable[[str], str] | None = None
    """How the topic follows from a source topic; None: it depends on the data."""
    after: str | None = None
    """The query's first batch begins after this offset, in Spark's own JSON; None: where the source begins."""
    interval_ms: int | None = None
    """The interval of batches; None: without pause."""


class StoredOffsets:
    """The offsets that were stored when a task opens its stream, found by source partition (order of keys does not matter)."""

    def __init__(self, entries: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> None:
        self._by_key = {partition_key(p): o for p, o in entries if o is not None}

    def get(self, partition: SourcePartition) -> SourceOffset | None:
        """The stored offset of this source partition, None if there is none."""
        return self._by_key.get(partition_key(partition))

    def after(self, offsets: Offsets) -> StoredOffsets:
        """The offsets after further ones were stored."""
        later = StoredOffsets(offsets)
        later._by_key = {**self._by_key, **later._by_key}
        return later


def partition_key(partition: SourcePartition) -> tuple[tuple[str, Any], ...]:
    """A hashable form of a source partition; equal for equal content whatever the order of its keys."""
    return tuple(sorted(partition.items()))


@dataclass(frozen=True)
class Poll:
    """The result of a poll."""

    frame: DataFrame
    """Bounded."""
    record: RecordColumns
    progress: Progress
    """What is stored once the frame's records are acknowledged."""
    destination: Callable[[str], str] | None = None
    """As in `Stream`."""


class PollingSourceTask(OffsetTask):
    """A task that is polled for records, for systems without a streaming source in Spark.

    Life: `start` → (`partitions` → `poll` → `committed`)* → `stop`. Delivery is that of a SourceTask.
    """

    poll_interval_s: float = 1.0

    @abstractmethod
    def poll(self, spark: SparkSession, stored: StoredOffsets) -> Poll | None:
        """The records after the stored offsets; None if there are none now (called again after `poll_interval_s`)."""
