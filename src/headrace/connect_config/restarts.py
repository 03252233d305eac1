"""The options of automatic restarts of failed tasks, of every connector."""

from __future__ import annotations

from typing import Any

from headrace.config import Config, Importance, Type, Width, option, validators

GROUP = "Error Handling"  # in Kafka Connect's group: a further group would change responses that clients compare


def _restart(name: str, kind: Type, default: Any, order: int, display: str, **fields: Any) -> Any:
    return option(
        f"task.restart.{name}", kind, default, importance=Importance.LOW, group=GROUP, order=10 + order, width=Width.SHORT,
        display_name=display, **fields,
    )  # fmt: skip


class TaskRestartConfig(Config):
    """Automatic restarts of failed tasks (Kafka Connect has none)."""

    restart_policy: str = _restart(
        "policy", Type.STRING, "retriable", 1, "Restart Policy", validator=validators.ValidString("none", "retriable", "all"),
        doc="Which failed tasks start again by themselves: 'retriable', those whose cause may pass (a cluster or database that "
        "is away, a worker that is short of something); 'all'; or 'none', as in Kafka Connect.",
    )  # fmt: skip
    restart_backoff_ms: int = _restart(
        "backoff.ms", Type.LONG, 1000, 2, "Restart Backoff", validator=validators.Range(1),
        doc="Pause before the first restart, in ms; it doubles with each further failure.",
    )  # fmt: skip
    restart_backoff_max_ms: int = _restart(
        "backoff.max.ms", Type.LONG, 300_000, 3, "Longest Restart Backoff", validator=validators.Range(1),
        doc="Longest pause before a restart, in ms.",
    )  # fmt: skip
    restart_attempts: int = _restart(
        "max.attempts", Type.INT, 10, 4, "Restart Budget", validator=validators.Range(0),
        doc="How many restarts a task gets within `task.restart.window.ms`; then it stays FAILED.",
    )  # fmt: skip
    restart_window_ms: int = _restart(
        "window.ms", Type.LONG, 3_600_000, 5, "Restart Window", validator=validators.Range(1),
        doc="The time, in ms, over which restarts are counted.",
    )  # fmt: skip
