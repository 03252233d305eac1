"""What `TopologyTestDriver` does not know is refused, as in Kafka: a test that expects nothing would pass."""

from __future__ import annotations

import re

import pytest

from headrace.errors import ArgumentError, StreamsError
from headrace.streams import Materialized, Serdes, StreamsBuilder
from tests.streams.running.conftest import STRINGS, feed


def test_a_topic_that_the_topology_neither_reads_nor_writes_is_unknown(drive):
    builder = StreamsBuilder()
    builder.global_table("names", STRINGS, Materialized.as_("rows"))
    builder.stream("orders", STRINGS).to("out")
    with drive(builder) as driver:
        for topic in ("odrers", "out"):
            with pytest.raises(ArgumentError, match=f"Unknown topic: {topic}"):
                feed(driver, topic, [("a", "x", 1)])
        for topic in ("uot", "orders"):
            with pytest.raises(ArgumentError, match=f"Unknown topic: {topic}"):
                driver.create_output_topic(topic, Serdes.string(), Serdes.string()).read_records()
        assert driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_records() == []
        feed(driver, "names", [("a", "Anna", 1)])
        assert dict(driver.store("rows").all()) == {"a": "Anna"}
        with pytest.raises(StreamsError, match="There is no store rwos"):
            driver.store("rwos")


def test_a_topology_that_reads_a_pattern_is_refused(drive):
    builder = StreamsBuilder()
    builder.stream(re.compile("orders-.*"), STRINGS).to("out")
    with pytest.raises(StreamsError, match=r"KSTREAM-SOURCE-0000000000 reads the topics that match orders-\.\*, and the driver"):
        drive(builder)
