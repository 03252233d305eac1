"""Counts words."""

from headrace.streams import Consumed, Grouped, Materialized, Serdes, StreamsBuilder


def topology() -> StreamsBuilder:
    """From the topic `words` to the store `counts`."""
    builder, text = StreamsBuilder(), Serdes.string()
    words = builder.stream("words", Consumed.with_(text, text))
    words.group_by(lambda key, word: word, Grouped.with_("counts", text, text)).count(Materialized.as_("counts"))
    return builder
