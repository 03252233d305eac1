"""What a supervisor works towards, and what it is asked to do besides."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from headrace.cluster.status_reporter import UNASSIGNED
from headrace.connectors.base import Props


@dataclass(frozen=True)
class DesiredState:
    """What the config topic says of a connector, and which part of it belongs to this worker.

    config: its configuration; version: changes whenever a configuration is written, be it the same; target: STARTED, PAUSED or
    STOPPED; applied: the configuration that the tasks were made from, None: there are none; tasks: the committed task
    configurations; tasks_version: changes whenever they are written; connector_here: whether the connector's instance runs on
    this worker; tasks_here: which of the tasks do.
    """

    config: Props
    version: int
    target: str
    applied: Props | None
    tasks: Sequence[Props]
    tasks_version: int
    connector_here: bool
    tasks_here: frozenset[int]

    @property
    def anything_here(self) -> bool:
        """Whether this worker has any part of the connector."""
        return self.connector_here or bool(self.tasks_here)


@dataclass
class Restart:
    """A request to start anew: the connector instance, and these tasks; `done` is set when it has been carried out."""

    connector: bool = False
    tasks: frozenset[int] = frozenset()
    announce: str = UNASSIGNED
    done: threading.Event = field(default_factory=threading.Event)
