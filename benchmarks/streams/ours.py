"""`python -m benchmarks.streams.ours BROKERS PROGRAM (APPLICATION RECORDS)…`: what StreamsPeer.java does, with headrace."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import Any

from pyspark.sql import functions as F

from headrace.streams import (
    Consumed,
    Grouped,
    Joined,
    KafkaStreams,
    Materialized,
    Produced,
    Serdes,
    State,
    Stores,
    StreamsBuilder,
    TimeWindows,
    Topology,
)


class Counter:
    """Counts the records of each key in a store, in Python: what `quix.py` does."""

    key_serde, value_serde = Serdes.string(), Serdes.long()

    @staticmethod
    def stores() -> list[Any]:
        """Its one store."""
        return [Stores.key_value_store_builder(Stores.persistent_key_value_store("numbers"), Serdes.string(), Serdes.long())]

    def init(self, context: Any) -> None:
        """Take what it works with."""
        self.context, self.numbers = context, context.get_state_store("numbers")

    def process(self, record: Any) -> None:
        """One more of this key."""
        number = (self.numbers.get(record.key) or 0) + 1
        self.numbers.put(record.key, number)
        self.context.forward(record.with_value(number))


STRINGS = Consumed.with_(Serdes.string(), Serdes.string())


def topology(program: str) -> Topology:
    """The topology of a program."""
    builder = StreamsBuilder()
    stream = builder.stream("few-records" if program == "processor" else "records", STRINGS)
    grouped = Grouped.with_(Serdes.string(), Serdes.string())
    if program == "join":
        table = builder.table("table", STRINGS)
        joined = Joined.with_(Serdes.string(), Serdes.string(), Serdes.string())
        stream.join(table, lambda value, row: F.concat(value, F.lit("|"), row), joined).to(
            "out", Produced.with_(Serdes.string(), Serdes.string())
        )
    elif program == "windowed-count":
        minute = timedelta(minutes=1)
        counts = stream.group_by_key(grouped).windowed_by(TimeWindows.of_size_and_grace(minute, minute)).count()
        counts.to_stream().map(lambda key, count: (key["key"], count)).to("out", Produced.with_(Serdes.string(), Serdes.long()))
    elif program == "processor":
        stream.process(Counter).to("out", Produced.with_(Serdes.string(), Serdes.long()))
    else:
        counts = stream.group_by_key(grouped).count(Materialized.as_("counts"))
        counts.to_stream().to("out", Produced.with_(Serdes.string(), Serdes.long()))
    return builder.build()


def run(brokers: str, program: str, application: str, records: int) -> None:
    """Run until so many records have been read and all is written; prints the seconds from RUNNING (restore: from start)."""
    config = {"application.id": application, "bootstrap.servers": brokers}
    streams = KafkaStreams(topology(program), config)
    begin = time.monotonic()
    streams.start()
    if not streams.wait_for(State.RUNNING, State.ERROR, timeout=900_000) or streams.error:
        raise SystemExit(f"not running: {streams.error}")
    if program != "restore":
        begin = time.monotonic()
    while sum(one["records"] for one in streams.metrics().values()) < records:
        if streams.error:
            raise SystemExit(str(streams.error))
        time.sleep(0.005)
    if program != "restore":
        streams.close()
    print(f"seconds={time.monotonic() - begin}", flush=True)
    streams.close()


if __name__ == "__main__":
    _, brokers_, program_, *rest = sys.argv
    for application_, records_ in zip(rest[::2], rest[1::2], strict=True):
        run(brokers_, program_, application_, int(records_))
