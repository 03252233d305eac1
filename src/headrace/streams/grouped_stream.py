"""`KGroupedStream`: a stream grouped by key; and its windows."""

from __future__ import annotations

from typing import Generic, TypeVar, overload

from headrace.errors import ArgumentError
from headrace.streams import cogrouped, table
from headrace.streams.aggregation import Grouping, aggregate
from headrace.streams.arguments import choice
from headrace.streams.flow import StreamFlow
from headrace.streams.functions import Aggregator, Function, check_function
from headrace.streams.materialized import Materialized
from headrace.streams.operations import Aggregation, Count, EmitStrategy, Fold, Reduce
from headrace.streams.options import Grouped, Named, take
from headrace.streams.windows import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows, Windows

Options = Named | Materialized


class KGroupedStream:
    """A stream grouped by key."""

    def __init__(self, flow: StreamFlow, grouped: Grouped, repartition_required: bool) -> None:
        self.grouping = Grouping(flow, grouped, repartition_required)

    def count(self, *options: Options, **keywords: Options) -> table.KTable:
        """The number of records of each key."""
        return self._aggregate(Count(), options, keywords)

    def reduce(self, reducer: Function, *options: Options, **keywords: Options) -> table.KTable:
        """One value per key, reduced two at a time, starting with the first one."""
        return self._aggregate(Reduce(reducer), options, keywords)

    def aggregate(self, initializer: Function, aggregator: Function, *options: Options, **keywords: Options) -> table.KTable:
        """One value per key, beginning with the initializer's; the aggregator takes key, value and aggregate."""
        return self._aggregate(Fold(initializer, aggregator), options, keywords)

    def cogroup(self, aggregator: Function) -> cogrouped.CogroupedKStream:
        """Begin an aggregation of several groups into one."""
        return cogrouped.CogroupedKStream().cogroup(self, aggregator)

    @overload
    def windowed_by(self, windows: Windows) -> TimeWindowedKStream: ...
    @overload
    def windowed_by(self, windows: SessionWindows) -> SessionWindowedKStream: ...
    def windowed_by(self, windows: Windows | SessionWindows) -> TimeWindowedKStream | SessionWindowedKStream:
        """Group by window as well."""
        if isinstance(windows, SessionWindows):
            return SessionWindowedKStream(self.grouping, windows)
        if not isinstance(windows, TimeWindows | UnlimitedWindows | SlidingWindows):
            kinds = "TimeWindows, UnlimitedWindows, SlidingWindows or SessionWindows"
            raise ArgumentError(f"windowed_by takes {kinds}, not {windows!r}.")
        return TimeWindowedKStream(self.grouping, windows)

    def _aggregate(self, aggregation: Aggregation, options: tuple[Options, ...], keywords: dict[str, Options]) -> table.KTable:
        return table.KTable(aggregate(self.grouping, aggregation, _named_and_materialized(options, keywords)))


Kind = TypeVar("Kind", bound="Windows | SessionWindows")


class _WindowedStream(Generic[Kind]):
    """What streams grouped by key and window, and by key and session, have in common."""

    def __init__(self, grouping: Grouping, windows: Kind, emit: EmitStrategy = EmitStrategy.ON_WINDOW_UPDATE) -> None:
        self._grouping, self._windows, self._emit = grouping, windows, emit

    def count(self, *options: Options, **keywords: Options) -> table.KTable:
        """The number of records of each key in each window, or of each session."""
        return self._aggregate(Count(), options, keywords)

    def reduce(self, reducer: Function, *options: Options, **keywords: Options) -> table.KTable:
        """One value per key and window, or per session, reduced two at a time."""
        return self._aggregate(Reduce(reducer), options, keywords)

    def _aggregate(self, aggregation: Aggregation, options: tuple[Options, ...], keywords: dict[str, Options]) -> table.KTable:
        return table.KTable(
            aggregate(self._grouping, aggregation, _named_and_materialized(options, keywords), self._windows, self._emit)
        )


class TimeWindowedKStream(_WindowedStream[Windows]):
    """A stream grouped by key and window."""

    def aggregate(self, initializer: Function, aggregator: Function, *options: Options, **keywords: Options) -> table.KTable:
        """One value per key and window, beginning with the initializer's."""
        return self._aggregate(Fold(initializer, aggregator), options, keywords)

    def emit_strategy(self, emit_strategy: EmitStrategy) -> TimeWindowedKStream:
        """When to pass on results. Raises ArgumentError for a window that never closes, and for what is no strategy."""
        emit = choice(EmitStrategy, emit_strategy, "emit_strategy")
        if isinstance(self._windows, UnlimitedWindows) and emit is EmitStrategy.ON_WINDOW_CLOSE:
            raise ArgumentError("ON_WINDOW_CLOSE emit strategy cannot be used for UnlimitedWindows")
        return TimeWindowedKStream(self._grouping, self._windows, emit)


class SessionWindowedKStream(_WindowedStream[SessionWindows]):
    """A stream grouped by key and session."""

    def aggregate(
        self, initializer: Function, aggregator: Function, session_merger: Function, *options: Options, **keywords: Options
    ) -> table.KTable:
        """One value per session, starting with the initializer's; the merger merges the values of two sessions."""
        check_function(session_merger, "session_merger", Aggregator)
        return self._aggregate(Fold(initializer, aggregator, session_merger), options, keywords)

    def emit_strategy(self, emit_strategy: EmitStrategy) -> SessionWindowedKStream:
        """When to pass on results. Raises ArgumentError for what is no strategy."""
        return SessionWindowedKStream(self._grouping, self._windows, choice(EmitStrategy, emit_strategy, "emit_strategy"))


def _named_and_materialized(
    options: tuple[Options, ...], keywords: dict[str, Options]
) -> tuple[Named | None, Materialized | None]:
    named, materialized = take(options, keywords, Named, Materialized)
    return named, materialized
