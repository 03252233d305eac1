"""Tasks that run elsewhere than in Spark, in the host of plugins, and what they are given for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace.connectors.base import Measured, Offsets, PollingSourceTask, Props, Task


@dataclass(frozen=True)
class Conversion:
    """The converters and transforms of hosted records.

    Converters: `class`, `location` (None: Kafka Connect's own) and `props`.
    """

    key: Mapping[str, Any]
    """Converter of keys."""
    value: Mapping[str, Any]
    """Converter of values."""
    header: Mapping[str, Any]
    """Converter of header values."""
    stages: Sequence[Mapping[str, Any]] = ()
    """Transforms before the converters: `alias`, `class`, `location` and `props` of each, its `predicate` (likewise, or None)
    and `negate`.
    """
    secrets: Sequence[str] = ()
    """Secrets in settings of the stages and converters, hidden in errors."""
    heap: str | None = None
    """Heap of the task's own JVM; None: it runs in the worker's JVM."""
    retry: Mapping[str, int] = field(default_factory=dict)
    """`timeout` and `delay` for what throws a RetriableException. Empty where Kafka Connect's own classes read the settings."""


@dataclass(frozen=True)
class HostedClients:
    """Settings of what a task in Kafka Connect's own classes makes itself, under Java's names."""

    settings: Props
    """The connector's settings of error handling and topic creation."""
    producer: Props
    """Settings of the producer of a source's records, or of a sink's dead letters."""
    admin: Props
    """Settings of the admin client that creates topics."""
    consumer: Props = field(default_factory=dict)
    """Settings of a sink's consumer, with its group."""
    store: Callable[[Offsets], None] | None = None
    """Returns once these offsets of a source are stored."""


@dataclass(frozen=True)
class HostedState:
    """How a task in Kafka Connect's own classes is."""

    topics: frozenset[str]
    """Topics with records since the last poll of the state."""
    figures: Mapping[str, float]
    """Those of Kafka Connect's metrics of the task that were asked for, by name."""


class HostedTask(Task):
    """A task that Kafka Connect's own classes run, in the host, with clients of its own: no record comes to Spark.

    Life: `run_with` → `start` → `state`* → `end` → `stop`.
    """

    @abstractmethod
    def run_with(self, conversion: Conversion, clients: HostedClients) -> None:
        """Take what reads or makes the bytes of the records, and the clients; called once, before `start`."""

    @abstractmethod
    def state(self, figures: Sequence[str]) -> HostedState:
        """The state of the task, after waiting a little. Raises the error with which it has failed.

        figures: the names of the metrics in it, the same at each call.
        """

    def measures(self) -> Iterable[Measured]:
        """The current values of the task's own metrics. Called on any thread; must not raise."""
        return ()

    @abstractmethod
    def end(self, timeout_s: float) -> None:
        """Commit and stop within `timeout_s`; afterwards its offsets are ignored."""


class HostedPoll(PollingSourceTask):
    """A polling task whose records exist elsewhere than in Spark, and are converted to bytes there."""

    @property
    def retries(self) -> int:
        """How often what is applied to the records there, before Spark, was called again, up to now. Called on any thread."""
        return 0

    @abstractmethod
    def as_kafka_task(self) -> HostedTask:
        """The task to start in place of this one, where Spark has nothing to do with its records."""

    @abstractmethod
    def convert_by(self, conversion: Conversion) -> None:
        """Take the converters; called once, before `start`."""

    @abstractmethod
    def wake_up(self) -> None:
        """Wake up a poll that waits for records, since the task is to stop. Called on any thread, after `stopping` is set."""
