"""The objects that the run of a feed uses."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from headrace.connectors.feed import FeedOwner
from headrace.runtime.delivery import FeedPorts, OffsetCommits
from headrace.runtime.exactly_once import ExactlyOnce
from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.tolerance import Tolerance


@dataclass(frozen=True)
class FeedDependencies:
    """Objects of the task and the worker that a run uses."""

    name: str
    """`<connector>-<task>`."""
    task: FeedOwner
    producer: Mapping[str, str]
    """Java settings."""
    tolerance: Tolerance
    ports: FeedPorts
    commits: OffsetCommits
    recorder: TaskRecorder
    stopping: threading.Event
    exactly: ExactlyOnce | None = None
    letter_producer: Mapping[str, str] | None = None
    """Java settings of the producer of dead letters; None: `producer` writes them."""
    skips_refused: bool = False
    """Whether records that the producer or the broker refuses for good are skipped."""
    has_plugins: bool = False
    """Whether its chain has plugins in Java: they may keep a lane's thread for long, so no other feed is in its lanes."""
    file: str | None = None
    """File that gets the records as lines, empty: standard output; None: `producer` writes them to topics."""
