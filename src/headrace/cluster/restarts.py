"""Decides whether and when a failed task is restarted automatically: pure, from its configuration and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headrace.connect_config.restarts import TaskRestartConfig
from headrace.errors import ConfigError
from headrace.retry import Backoff
from headrace.values.times import iso

_MAX_LISTED = 5  # failures that a status lists
_LONGEST_CAUSE = 300


@dataclass(frozen=True)
class Failure:
    """A failure of a task."""

    at_ms: int
    """Epoch ms."""
    cause: str
    """In one line."""


@dataclass(frozen=True)
class AutomaticRestart:
    """The decision after a failure."""

    failures: Sequence[Failure]
    """Those within `task.restart.window.ms`, oldest first; the last one is that which is decided on."""
    budget: int
    """How many attempts there are in all."""
    next_ms: int | None
    """When the next attempt is, epoch ms; None: the task stays failed."""

    def status(self) -> dict[str, Any]:
        """The `restart` of a task's status: attempts made and allowed, the time of the next one, the last failures."""
        history = [
            {"at": _time(failure.at_ms), "cause": failure.cause[:_LONGEST_CAUSE]} for failure in self.failures[-_MAX_LISTED:]
        ]
        restarts = len(self.failures) - 1
        following = {"next": _time(self.next_ms)} if self.next_ms is not None else {}
        return {"attempts": restarts, "budget": self.budget, **following, "history": history}


def plan_restart(config: Mapping[str, Any], failures: Sequence[Failure], retriable: bool) -> AutomaticRestart | None:
    """The decision after the last of these failures, by `task.restart.*`; None without automatic restarts.

    config: its options `task.restart.*`, resolved; failures: of one task since it was configured, restarted by a user or
    reassigned; retriable: whether the last one is.
    """
    options = TaskRestartConfig({name: value for name, value in config.items() if _is_valid(name, value)})
    recent = [failure for failure in failures if failure.at_ms > failures[-1].at_ms - options.restart_window_ms]
    allowed = options.restart_policy == "all" or (options.restart_policy == "retriable" and retriable)
    if not allowed and len(recent) == 1:
        return None
    if not allowed or len(recent) > options.restart_attempts:
        return AutomaticRestart(recent, options.restart_attempts, None)
    backoff = Backoff(options.restart_backoff_ms / 1000, options.restart_backoff_max_ms / 1000, failures=len(recent) - 1)
    return AutomaticRestart(recent, options.restart_attempts, recent[-1].at_ms + round(backoff.pause_s * 1000))


def _is_valid(name: str, value: object) -> bool:
    """Whether an option can be read: REST refuses others, but another writer of the topic may have written them."""
    try:
        TaskRestartConfig({name: value})
    except ConfigError:
        return False
    return True


def _time(epoch_ms: int) -> str:
    return iso(datetime.fromtimestamp(epoch_ms / 1000, UTC))
