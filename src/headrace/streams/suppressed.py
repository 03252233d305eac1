"""When a table emits its changes: Kafka's `Suppressed` (KIP-328)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from headrace.errors import ArgumentError
from headrace.streams.durations import Duration, milliseconds


@dataclass(frozen=True)
class BufferConfig:
    """The bounds of a buffer, and its changelog."""

    max_record_count: int | None = None
    """None is unbounded."""
    max_byte_count: int | None = None
    """None is unbounded."""
    emit_early: bool = False
    """Whether a full buffer passes on its oldest records; else it shuts the application down."""
    logging_enabled: bool = True
    log_config: Mapping[str, str] = field(default_factory=dict)
    """Settings of the changelog topic."""

    @classmethod
    def unbounded(cls) -> Self:
        """As much as there is."""
        return cls()

    @classmethod
    def max_records(cls, record_limit: int) -> Self:
        """So many records, the oldest being passed on when there are more."""
        return cls(max_record_count=record_limit, emit_early=True)

    @classmethod
    def max_bytes(cls, byte_limit: int) -> Self:
        """So many bytes, the oldest records being passed on when there are more."""
        return cls(max_byte_count=byte_limit, emit_early=True)

    def with_max_records(self, record_limit: int) -> Self:
        """With a limit of records."""
        return replace(self, max_record_count=record_limit)

    def with_max_bytes(self, byte_limit: int) -> Self:
        """With a limit of bytes."""
        return replace(self, max_byte_count=byte_limit)

    def with_no_bound(self) -> Self:
        """As much as there is."""
        return replace(self, max_record_count=None, max_byte_count=None, emit_early=False)

    def shut_down_when_full(self) -> Self:
        """A full buffer shuts the application down."""
        return replace(self, emit_early=False)

    def emit_early_when_full(self) -> Self:
        """A full buffer passes the oldest records on."""
        return replace(self, emit_early=True)

    def with_logging_enabled(self, config: Mapping[str, str]) -> Self:
        """With a changelog topic that has these settings."""
        return replace(self, logging_enabled=True, log_config=dict(config))

    def with_logging_disabled(self) -> Self:
        """Without a changelog topic."""
        return replace(self, logging_enabled=False, log_config={})


@dataclass(frozen=True)
class Suppressed:
    """Suppress changes until a window closes, or for a time."""

    name: str | None
    """Of the operator, and of its store (`<name>-store`); None generates both."""
    wait_ms: int | None
    """None waits until the window closes."""
    buffer: BufferConfig

    BufferConfig = BufferConfig

    @classmethod
    def until_window_closes(cls, buffer_config: BufferConfig) -> Self:
        """One final result per window; the buffer must not pass on anything early (ArgumentError)."""
        if buffer_config.emit_early:
            raise ArgumentError("until_window_closes needs a buffer that never emits early: unbounded, or shut_down_when_full().")
        return cls(None, None, buffer_config)

    @classmethod
    def until_time_limit(cls, time_to_wait_for_more_events: Duration, buffer_config: BufferConfig) -> Self:
        """One change per key in this time. Raises ArgumentError."""
        return cls(None, milliseconds(time_to_wait_for_more_events, "time_to_wait_for_more_events"), buffer_config)

    def with_name(self, name: str) -> Self:
        """With a name."""
        return replace(self, name=name)
