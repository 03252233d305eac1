"""Tasks that run elsewhere than in Spark, in the host of plugins, and what they are given for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base import Measured, PollingSourceTask, Props, Task


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


class HostedTask(PollingSourceTask):
    """A polling task whose records exist elsewhere than in Spark, and are converted to bytes there."""

    @abstractmethod
    def convert_by(self, conversion: Conversion) -> None:
        """Take the converters; called once, before `start`."""


@dataclass(frozen=True)
class SinkClients:
    """Settings of what a hosted sink task makes itself, under Java's names."""

    consumer: Props
    """Of its consumer, with its group."""
    producer: Props
    """Of what writes dead letters."""
    admin: Props
    """Of what creates their topic."""
    errors: Props
    """The connector's own that say what becomes of records that fail."""


@dataclass(frozen=True)
class SinkLook:
    """How a hosted sink task is."""

    topics: frozenset[str]
    """Topics that it has had records of since the last look."""
    figures: Mapping[str, float]
    """Kafka Connect's metrics of the task, by name."""


class HostedSink(Task):
    """A sink task that is run elsewhere than in Spark, with a consumer of its own.

    Life: `run_with` → `start` → `look`* → `end` → `stop`.
    """

    @abstractmethod
    def run_with(self, conversion: Conversion, clients: SinkClients) -> None:
        """Take what reads the records, and the settings of the clients; called once, before `start`."""

    @abstractmethod
    def look(self) -> SinkLook:
        """How the task is now, after waiting a little. Raises what it has failed with."""

    def measures(self) -> Iterable[Measured]:
        """What the task itself measures, as it is now. Called on any thread; must not raise."""
        return ()

    @abstractmethod
    def end(self, timeout_s: float) -> None:
        """Have it commit and end within `timeout_s`; after that nothing of it counts."""
