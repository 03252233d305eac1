"""User processors: Python objects that get one record at a time, and forward records (Kafka's Processor API).

`process` takes a supplier: a callable without arguments that is called for every task and batch, and returns an object with
`process(record)`; `init(context)` and `close()` are optional. A class is its own supplier. The supplier, or the processor, may
have `key_serde` and `value_serde`: forwarded records have their types, else those of the input. State that has to outlast a
batch belongs in a store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from headrace.errors import ArgumentError, StreamsError
from headrace.streams.arguments import choice
from headrace.streams.durations import Duration, milliseconds
from headrace.streams.row_headers import Headers


@dataclass(frozen=True)
class Record:
    """A record in Python. Structs are Spark's `Row`."""

    key: Any
    value: Any
    timestamp: int
    """In milliseconds."""
    headers: Headers = ()
    """Names and values."""

    def with_key(self, key: Any) -> Record:
        """With another key."""
        return Record(key, self.value, self.timestamp, self.headers)

    def with_value(self, value: Any) -> Record:
        """With another value."""
        return Record(self.key, value, self.timestamp, self.headers)

    def with_timestamp(self, timestamp: int) -> Record:
        """With another time, in milliseconds. Raises StreamsError if it is negative."""
        check_time(timestamp)
        return Record(self.key, self.value, timestamp, self.headers)

    def with_headers(self, headers: Headers) -> Record:
        """With other headers."""
        return Record(self.key, self.value, self.timestamp, tuple(headers))


def check_time(timestamp: int) -> None:
    """Raise StreamsError for a time of a record that is negative."""
    if timestamp < 0:
        raise StreamsError(f"Malformed Record: timestamp may not be negative, but is {timestamp}.")


class PunctuationType(StrEnum):
    """The time by which punctuations are called."""

    STREAM_TIME = "stream_time"
    WALL_CLOCK_TIME = "wall_clock_time"


@dataclass
class Punctuation:
    """Calls a function of a processor periodically: Kafka's Cancellable."""

    interval_ms: int
    kind: PunctuationType
    callback: Callable[[int], Any]
    """Takes the time, in ms, by which it is called."""
    due: int
    """The time of the next call, in ms."""
    cancelled: bool = False

    def cancel(self) -> None:
        """Stop the calls in this batch; `init` schedules again in the next one."""
        self.cancelled = True

    def punctuate(self, time: int) -> None:
        """Call it if it is due; several missed calls become one."""
        if not self.cancelled and self.due <= time:
            self.due += ((time - self.due) // self.interval_ms + 1) * self.interval_ms
            self.callback(time)


class ProcessorContext:
    """The context of a processor (Kafka's ProcessorContext)."""

    def __init__(
        self, partition: int, forward: Callable[[Record, str | None], None], stores: Mapping[str, Any], stream_time: int,
        now: int, dues: Mapping[int, int],
    ) -> None:  # fmt: skip
        """stream_time: of the task, -1 if there is none; now: wall-clock time; dues: next calls by it, by number of the
        schedule.
        """
        self.partition = partition
        self.schedules: list[Punctuation] = []
        self.stream_time, self.now = stream_time, now
        self.is_initializing = False
        """Whether `init` of the processor runs."""
        self._forward, self._stores, self._dues = forward, stores, dues

    def forward(self, record: Record, child_name: str | None = None) -> None:
        """Forward a record to all children, or to one. Raises StreamsError for a child that the processor does not have, and for
        a negative time.
        """
        check_time(record.timestamp)
        self._forward(record, child_name)

    def get_state_store(self, name: str) -> Any:
        """A store that is connected to the processor, or a global one. Raises StreamsError for any other."""
        if name not in self._stores:
            raise StreamsError(
                f"The processor has no access to the store {name}: give its name to process(…), or connect it with "
                "connect_processor_and_state_stores."
            )
        return self._stores[name]

    def schedule(self, interval: Duration, punctuation: PunctuationType, callback: Callable[[int], Any]) -> Punctuation:
        """Call a function with the time (ms) periodically; only from `init`, which runs again with every batch.

        By stream time when it reaches a multiple of the interval; by wall-clock time with or without records. Raises
        ArgumentError for less than a millisecond or another type, and StreamsError outside of `init`: the schedule would end
        with the batch.
        """
        if not self.is_initializing:
            raise StreamsError("A schedule has to be made in init, which runs with every batch: it ends with the batch.")
        interval_ms = milliseconds(interval, "interval")
        if interval_ms < 1:
            raise ArgumentError("The minimum supported scheduling interval is 1 millisecond.")
        kind = choice(PunctuationType, punctuation, "punctuation")
        if kind is PunctuationType.STREAM_TIME:
            due = 0 if self.stream_time < 0 else (self.stream_time // interval_ms + 1) * interval_ms
        else:
            due = self._dues.get(len(self.schedules), self.now + interval_ms)
        self.schedules.append(Punctuation(interval_ms, kind, callback, due))
        return self.schedules[-1]

    def current_stream_time_ms(self) -> int:
        """The greatest timestamp of a record that this processor got, -1 if it got none."""
        return self.stream_time

    def current_system_time_ms(self) -> int:
        """The wall-clock time at the start of the batch."""
        return self.now

    def commit(self) -> None:
        """Does nothing: everything is committed with its batch."""

    def punctuate(self, punctuation: PunctuationType) -> None:
        """Call the schedules of this type that are due, first the one that was due first."""
        time = self.stream_time if punctuation is PunctuationType.STREAM_TIME else self.now
        for schedule in sorted(self.schedules, key=lambda schedule: schedule.due):  # callbacks can make no more
            if schedule.kind is punctuation:
                schedule.punctuate(time)
