"""Word count: `headrace streams run examples/streams/word_count.py`, with topics `lines` and `word-counts` on localhost:9092."""

from pyspark.sql import functions as F

from headrace.streams import Consumed, Materialized, Produced, Serdes, StreamsBuilder

config = {"application.id": "word-count", "bootstrap.servers": "localhost:9092"}

builder = StreamsBuilder()
(
    builder.stream("lines", Consumed.with_(Serdes.string(), Serdes.string()))
    .flat_map_values(lambda line: F.split(F.lower(line), r"\W+"))
    .filter(lambda key, word: word != "")
    .group_by(lambda key, word: word)
    .count(Materialized.as_("counts"))
    .to_stream()
    .to("word-counts", Produced.with_(Serdes.string(), Serdes.long()))
)
topology = builder.build(config)
