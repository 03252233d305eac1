"""What a sub-topology writes stands in the order in which Kafka Streams' task would have written it, whatever a batch has."""

from __future__ import annotations

from headrace.streams import Materialized, Serdes, StreamsBuilder
from tests.streams.running.conftest import STRINGS, feed


def test_changes_of_tables_leave_in_the_order_of_their_records(drive):
    builder = StreamsBuilder()
    table = builder.table("in", STRINGS, Materialized.as_("table"))
    table.to_stream().to("changes")
    table.join(builder.table("other", STRINGS), lambda one, other: other).to_stream().to("joined")
    builder.stream("counted", STRINGS).group_by_key().count().to_stream().to("counts")
    with drive(builder) as driver:
        out = {name: driver.create_output_topic(name, Serdes.string(), Serdes.string()) for name in ("changes", "joined")}
        out["counts"] = driver.create_output_topic("counts", Serdes.string(), Serdes.long())
        keys = ["d", "b", "c", "a"]
        feed(driver, "other", [(key, "x", 1) for key in sorted(keys)])
        for topic in ("in", "counted"):
            feed(driver, topic, [(key, "x", 10 + i) for i, key in enumerate(keys)])
        assert {name: [record.key for record in topic.read_records()] for name, topic in out.items()} == dict.fromkeys(out, keys)
