"""The desired state of a connector, and requests to restart parts of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from headrace.connectors.base import Props
from headrace.runtime.states import UNASSIGNED


@dataclass(frozen=True)
class DesiredState:
    """A connector as written in the config topic, and the parts assigned to this worker."""

    config: Props
    """Its configuration."""
    version: int
    """Changes whenever a configuration is written, even an equal one."""
    target: str
    """STARTED, PAUSED or STOPPED."""
    applied: Props | None
    """The configuration from which the tasks were created, None if there are none."""
    tasks: Sequence[Props]
    """The committed task configurations."""
    tasks_version: int
    """Changes whenever task configurations are written."""
    connector_here: bool
    """Whether the connector's instance runs on this worker."""
    tasks_here: frozenset[int]
    """The tasks that run on this worker."""

    @property
    def has_parts(self) -> bool:
        """Whether this worker has any part of the connector."""
        return self.connector_here or bool(self.tasks_here)


@dataclass
class Restart:
    """A request to restart the connector instance and these tasks."""

    connector: bool = False
    tasks: frozenset[int] = frozenset()
    announce: str = UNASSIGNED
    """The state that their statuses have until they run."""
    done: threading.Event = field(default_factory=threading.Event)
    """Set when it is completed."""
    error: Exception | None = None
    """Why the connector, or a task, could not be started; set before `done`. What fails later is in its status only."""
