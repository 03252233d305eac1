"""Departures per carrier and hour, by the time of the flight; what comes up to two hours late still counts."""

from datetime import timedelta

from pyspark.sql import functions as F

from headrace.streams import Consumed, Grouped, Materialized, Produced, Serdes, StreamsBuilder, TimeWindows

config = {"application.id": "flights-per-hour", "bootstrap.servers": "localhost:9092"}
FLIGHT = Serdes.json("carrier string, flight int, time_hour string")


def departure(key, value, timestamp):
    """The flight's own time, in milliseconds."""
    return F.unix_millis(F.to_timestamp(value["time_hour"]))


builder = StreamsBuilder()
(
    builder.stream("flights", Consumed.with_(Serdes.string(), FLIGHT).with_timestamp_extractor(departure))
    .group_by(lambda key, flight: flight["carrier"], Grouped.with_(Serdes.string(), FLIGHT))
    .windowed_by(TimeWindows.of_size_and_grace(timedelta(hours=1), timedelta(hours=2)))
    .count(Materialized.as_("departures"))
    .to_stream()
    .map(lambda key, count: (key["key"], F.struct(F.timestamp_millis(key["start"]).alias("hour"), count.alias("departures"))))
    .to("departures-per-hour", Produced.with_(Serdes.string(), Serdes.json()))
)
topology = builder.build(config)
