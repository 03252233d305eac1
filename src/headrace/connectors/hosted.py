"""Tasks that run elsewhere than in Spark, in the host of plugins, and what they are given for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace.connectors.base import Measured, Offsets, PollingSourceTask, Props, Task


@dataclass(frozen=True)
class Conversion:
    """What makes the bytes of hosted records: `class`, `location` (None: Kafka Connect's own) and `props` of each converter."""

    key: Mapping[str, Any]
    """Of keys."""
    value: Mapping[str, Any]
    """Of values."""
    header: Mapping[str, Any]
    """Of header values."""
    stages: Sequence[Mapping[str, Any]] = ()
    """What changes the records before: `alias`, `class`, `location` and `props` of each transform, its `predicate` (the same of
    that, or None) and `negate`."""
    tolerant: bool = False
    """Whether a record that a transform refuses is left out, with a line in the log, or ends the task."""
    secrets: Sequence[str] = ()
    """Of the settings of the stages and converters, which errors are not to say."""
    heap: str | None = None
    """Of the JVM of its own that the task runs in; None: it runs in the worker's."""
    retry: Mapping[str, int] = field(default_factory=dict)
    """`timeout` and `delay` for what throws a RetriableException. Empty where Kafka Connect's own classes read the settings."""


@dataclass(frozen=True)
class HostedClients:
    """Settings of what a task in Kafka Connect's own classes makes itself, under Java's names."""

    settings: Props
    """The connector's own that say what becomes of records that fail, and which topics are created."""
    producer: Props
    """Of what writes the records of a source, or the dead letters of a sink."""
    admin: Props
    """Of what creates topics."""
    consumer: Props = field(default_factory=dict)
    """Of a sink's consumer, with its group."""
    store: Callable[[Offsets], None] | None = None
    """Returns once these offsets of a source are stored."""


@dataclass(frozen=True)
class HostedState:
    """How a task in Kafka Connect's own classes is."""

    topics: frozenset[str]
    """Topics that it has had records of since the last look."""
    figures: Mapping[str, float]
    """Kafka Connect's metrics of the task, by name."""


class HostedTask(Task):
    """A task that Kafka Connect's own classes run, in the host, with clients of its own: no record comes to Spark.

    Life: `run_with` → `start` → `state`* → `end` → `stop`.
    """

    @abstractmethod
    def run_with(self, conversion: Conversion, clients: HostedClients) -> None:
        """Take what reads or makes the bytes of the records, and the clients; called once, before `start`."""

    @abstractmethod
    def state(self) -> HostedState:
        """The state of the task, after waiting a little. Raises the error with which it has failed."""

    def measures(self) -> Iterable[Measured]:
        """What the task itself measures, as it is now. Called on any thread; must not raise."""
        return ()

    @abstractmethod
    def end(self, timeout_s: float) -> None:
        """Have it commit and end within `timeout_s`; after that nothing of it counts."""


class HostedPoll(PollingSourceTask):
    """A polling task whose records exist elsewhere than in Spark, and are converted to bytes there."""

    retries: int = 0
    """How often what is applied to the records there, before Spark, was called again."""

    @abstractmethod
    def as_kafka_task(self) -> HostedTask:
        """The task to start in place of this one, where Spark has nothing to do with its records."""

    @abstractmethod
    def convert_by(self, conversion: Conversion) -> None:
        """Take the converters; called once, before `start`."""

    @abstractmethod
    def wake_up(self) -> None:
        """Wake up a poll that waits for records, since the task is to stop. Called on any thread, after `stopping` is set."""
