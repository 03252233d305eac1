"""Every flight with the name of its airline, from a table that is keyed by carrier."""

from pyspark.sql import functions as F

from headrace.streams import Consumed, Joined, Produced, Serdes, StreamsBuilder

config = {"application.id": "flights-with-airlines", "bootstrap.servers": "localhost:9092"}
FLIGHT = Serdes.json("carrier string, flight int, origin string, dest string")

builder = StreamsBuilder()
airlines = builder.table("airlines", Consumed.with_(Serdes.string(), Serdes.json("name string")))
(
    builder.stream("flights", Consumed.with_(Serdes.string(), FLIGHT))
    .select_key(lambda key, flight: flight["carrier"])
    .left_join(
        airlines,
        lambda flight, airline: flight.withField("airline", F.coalesce(airline["name"], F.lit("unknown"))),
        Joined.with_(Serdes.string(), FLIGHT),
    )
    .to("flights-with-airlines", Produced.with_(Serdes.string(), Serdes.json()))
)
topology = builder.build(config)
