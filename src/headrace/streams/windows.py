"""Windows: how time is cut for aggregations and joins. Durations are in milliseconds inside."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.errors import ArgumentError
from headrace.streams.durations import MAX_LONG, Duration, milliseconds


def _require(true: bool, sentence: str) -> None:
    if not true:
        raise ArgumentError(sentence)


@dataclass(frozen=True)
class TimeWindows:
    """Windows of one size, aligned to the epoch: tumbling, or hopping with `advance_by`. Start inclusive, end exclusive."""

    size_ms: int
    advance_ms: int
    """From the start of one window to that of the next; `size_ms` where they tumble."""
    grace_ms: int
    """How long after its end a window takes late records."""

    def __post_init__(self) -> None:
        _require(self.size_ms > 0, "Window size (sizeMs) must be larger than zero.")
        _require(
            0 < self.advance_ms <= self.size_ms,
            "Window advancement interval should be more than zero and less than window duration which is "
            f"{self.size_ms} ms, but given advancement interval is: {self.advance_ms} ms",
        )
        _require(self.grace_ms >= 0, "Grace period must not be negative.")

    @classmethod
    def of_size_with_no_grace(cls, size: Duration) -> TimeWindows:
        """Tumbling windows; a record behind the end of its window is dropped. Raises ArgumentError."""
        return cls.of_size_and_grace(size, 0)

    @classmethod
    def of_size_and_grace(cls, size: Duration, after_window_end: Duration) -> TimeWindows:
        """Tumbling windows that take late records for a while after their end. Raises ArgumentError."""
        size_ms = milliseconds(size, "size")
        return cls(size_ms, size_ms, milliseconds(after_window_end, "after_window_end"))

    def advance_by(self, advance: Duration) -> TimeWindows:
        """Hopping windows: one begins every `advance`. Raises ArgumentError."""
        return replace(self, advance_ms=milliseconds(advance, "advance"))

    @property
    def retention_ms(self) -> int:
        """The minimum retention of a store, in ms."""
        return self.size_ms + self.grace_ms


@dataclass(frozen=True)
class UnlimitedWindows:
    """One window from `start_ms` on, without end."""

    start_ms: int = 0
    """After the epoch."""

    @classmethod
    def of(cls) -> UnlimitedWindows:
        """From the epoch on."""
        return cls()

    def start_on(self, start: Duration) -> UnlimitedWindows:
        """From this time after the epoch on. Raises ArgumentError if it is negative."""
        start_ms = milliseconds(start, "start")
        _require(start_ms >= 0, "Window start time (startMs) cannot be negative.")
        return replace(self, start_ms=start_ms)

    @property
    def size_ms(self) -> int:
        """Java's greatest long."""
        return MAX_LONG

    @property
    def grace_ms(self) -> int:
        """None is needed."""
        return 0

    @property
    def retention_ms(self) -> int:
        """The minimum retention of a store, in ms."""
        return MAX_LONG


@dataclass(frozen=True)
class SlidingWindows:
    """One window per distinct set of records that are at most `difference_ms` apart; both ends inclusive."""

    difference_ms: int
    grace_ms: int
    """As in `TimeWindows`."""

    def __post_init__(self) -> None:
        _require(self.difference_ms >= 0, "Window time difference must not be negative.")
        _require(self.grace_ms >= 0, "Window grace period must not be negative.")

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference: Duration) -> SlidingWindows:
        """Without time for late records. Raises ArgumentError."""
        return cls.of_time_difference_and_grace(time_difference, 0)

    @classmethod
    def of_time_difference_and_grace(cls, time_difference: Duration, after_window_end: Duration) -> SlidingWindows:
        """With time for late records. Raises ArgumentError."""
        return cls(milliseconds(time_difference, "time_difference"), milliseconds(after_window_end, "after_window_end"))

    @property
    def size_ms(self) -> int:
        """The length of a window."""
        return self.difference_ms

    @property
    def retention_ms(self) -> int:
        """The minimum retention of a store, in ms."""
        return 2 * self.difference_ms + self.grace_ms


@dataclass(frozen=True)
class SessionWindows:
    """Windows of activity: records at most `gap_ms` apart belong together."""

    gap_ms: int
    grace_ms: int
    """As in `TimeWindows`."""

    def __post_init__(self) -> None:
        _require(self.gap_ms >= 0, "Gap time cannot be negative.")
        _require(self.grace_ms >= 0, "Grace period cannot be negative.")

    @classmethod
    def of_inactivity_gap_with_no_grace(cls, inactivity_gap: Duration) -> SessionWindows:
        """Without time for late records. Raises ArgumentError."""
        return cls.of_inactivity_gap_and_grace(inactivity_gap, 0)

    @classmethod
    def of_inactivity_gap_and_grace(cls, inactivity_gap: Duration, after_window_end: Duration) -> SessionWindows:
        """With time for late records. Raises ArgumentError."""
        return cls(milliseconds(inactivity_gap, "inactivity_gap"), milliseconds(after_window_end, "after_window_end"))

    @property
    def retention_ms(self) -> int:
        """The minimum retention of a store, in ms."""
        return self.gap_ms + self.grace_ms


@dataclass(frozen=True)
class JoinWindows:
    """The other side's time is in [t − before, t + after], both ends inclusive."""

    before_ms: int
    """May be negative, as `after_ms`: then all of the window is after (or before) t."""
    after_ms: int
    grace_ms: int
    """As in `TimeWindows`."""

    def __post_init__(self) -> None:
        _require(self.before_ms + self.after_ms >= 0, "Window interval (ie, beforeMs+afterMs) must not be negative.")
        _require(self.grace_ms >= 0, "Grace period must not be negative.")

    @classmethod
    def of_time_difference_with_no_grace(cls, time_difference: Duration) -> JoinWindows:
        """As long before as after, without time for late records. Raises ArgumentError."""
        return cls.of_time_difference_and_grace(time_difference, 0)

    @classmethod
    def of_time_difference_and_grace(cls, time_difference: Duration, after_window_end: Duration) -> JoinWindows:
        """As long before as after, with time for late records. Raises ArgumentError."""
        difference = milliseconds(time_difference, "time_difference")
        return cls(difference, difference, milliseconds(after_window_end, "after_window_end"))

    def before(self, time_difference: Duration) -> JoinWindows:
        """With another time before. Raises ArgumentError."""
        return replace(self, before_ms=milliseconds(time_difference, "time_difference"))

    def after(self, time_difference: Duration) -> JoinWindows:
        """With another time after. Raises ArgumentError."""
        return replace(self, after_ms=milliseconds(time_difference, "time_difference"))

    @property
    def size_ms(self) -> int:
        """Before and after together."""
        return self.before_ms + self.after_ms

    @property
    def retention_ms(self) -> int:
        """The retention of a store, in ms."""
        return self.size_ms + self.grace_ms


Windows = TimeWindows | UnlimitedWindows | SlidingWindows
"""What `windowed_by` takes for a TimeWindowedKStream; SessionWindows make a SessionWindowedKStream."""
