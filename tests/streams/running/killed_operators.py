"""An application with every kind of state, each operator with a topic of its own for its results: `test_killed.py` kills it."""

from __future__ import annotations

from pyspark.sql import functions as F

from headrace.streams import (
    BufferConfig,
    Consumed,
    Joined,
    JoinWindows,
    Materialized,
    Produced,
    Serdes,
    SessionWindows,
    Stores,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)

STRINGS = Consumed.with_(Serdes.string(), Serdes.string())
RESULTS = {
    "processed": "each", "met": "each", "waited": "each", "closed": "each", "alone": "each", "sessions": "last",
}  # fmt: skip
"""By topic, what is the same however records came into batches: each result, or the last one of each key."""


class Chain:
    """Forwards the values of a key so far, by their number and the last three."""

    @staticmethod
    def stores():
        return [Stores.key_value_store_builder(Stores.persistent_key_value_store("chains"), Serdes.string(), Serdes.string())]

    def init(self, context) -> None:
        self.context, self.chains = context, context.get_state_store("chains")

    def process(self, record) -> None:
        number, _, values = (self.chains.get(record.key) or "0:").partition(":")
        chain = f"{int(number) + 1}:{' '.join([*values.split(), record.value][-3:])}"
        self.chains.put(record.key, chain)
        self.context.forward(record.with_value(chain))


def builder(prefix: str) -> StreamsBuilder:
    """The application. prefix: of the topics `in` and `rows`, and of those of RESULTS."""
    result = StreamsBuilder()
    stream = result.stream(f"{prefix}in", STRINGS)
    history = Stores.persistent_versioned_key_value_store("history", 100_000)
    table = result.table(f"{prefix}rows", STRINGS, Materialized.as_(history))

    def write(records, topic: str) -> None:
        records.to(f"{prefix}{topic}", Produced.with_(Serdes.string(), Serdes.string()))

    def both(left, right):
        return F.concat_ws("-", F.coalesce(left, F.lit("none")), F.coalesce(right, F.lit("none")))

    write(stream.process(Chain), "processed")
    write(stream.join(table, both), "met")
    waiting = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string()).with_grace_period(40)
    write(stream.join(table, both, waiting), "waited")
    grouped = stream.group_by_key()
    windows = grouped.windowed_by(TimeWindows.of_size_and_grace(50, 20)).count(Materialized.as_("windows"))
    until_closed = Suppressed.until_window_closes(BufferConfig.unbounded())
    write(windows.suppress(until_closed).to_stream().map(lambda w, n: (_text_of(w), n.cast("string"))), "closed")
    within = JoinWindows.of_time_difference_and_grace(30, 20)
    low, high = stream.filter(lambda key, value: value < "5"), stream.filter(lambda key, value: value >= "5")
    write(low.outer_join(high, both, within), "alone")
    sessions = grouped.windowed_by(SessionWindows.of_inactivity_gap_and_grace(15, 30)).count(Materialized.as_("sessions"))
    write(sessions.to_stream().map(lambda session, count: (_text_of(session), count.cast("string"))), "sessions")
    return result


def _text_of(window):
    return F.concat_ws("@", window["key"], window["start"].cast("string"), window["end"].cast("string"))
