"""The examples do what they say, each in a script that fits on a screen."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from headrace.streams import Serdes
from headrace.testing.topology_test_driver import TopologyTestDriver

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "streams").glob("*.py"))


def _driver(name: str, spark) -> TopologyTestDriver:
    module = runpy.run_path(str(next(path for path in EXAMPLES if path.stem == name)))
    return TopologyTestDriver(module["topology"], module["config"], spark)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_forty_lines_at_most(path):
    assert len(path.read_text().splitlines()) <= 40


def test_words_are_counted(spark):
    with _driver("word_count", spark) as driver:
        lines = driver.create_input_topic("lines", Serdes.string(), Serdes.string())
        lines.pipe_batch([(None, "To be, or not"), (None, "to be")])
        counts = driver.create_output_topic("word-counts", Serdes.string(), Serdes.long()).read_key_values()
        assert dict(counts) == {"to": 2, "be": 2, "or": 1, "not": 1}


def _flight(carrier: str, hour: str) -> str:
    return json.dumps({"carrier": carrier, "flight": 1, "origin": "EWR", "dest": "IAH", "time_hour": f"2013-01-01T{hour}:00:00Z"})


def test_flights_are_counted_per_hour_and_late_ones_too(spark):
    with _driver("flights_per_hour", spark) as driver:
        flights = driver.create_input_topic("flights", Serdes.string(), Serdes.string())
        flights.pipe_batch([(None, _flight("UA", "10")), (None, _flight("UA", "12")), (None, _flight("UA", "10"))])
        flights.pipe_batch([(None, _flight("UA", "13")), (None, _flight("UA", "10"))])  # two hours after its end: too late
        out = driver.create_output_topic("departures-per-hour", Serdes.string(), Serdes.json("hour timestamp, departures int"))
        departures = [(key, value["hour"].hour, value["departures"]) for key, value in out.read_key_values()]
        assert sorted(departures) == [("UA", 10, 2), ("UA", 12, 1), ("UA", 13, 1)]


def test_flights_get_the_names_of_their_airlines(spark):
    with _driver("flights_with_airlines", spark) as driver:
        airlines = driver.create_input_topic("airlines", Serdes.string(), Serdes.string())
        airlines.pipe_batch([("UA", '{"name":"United"}', 0)])
        flights = driver.create_input_topic("flights", Serdes.string(), Serdes.string())
        flights.pipe_batch([(None, _flight("UA", "10"), 1), (None, _flight("XX", "10"), 2)])
        out = driver.create_output_topic("flights-with-airlines", Serdes.string(), Serdes.json("carrier string, airline string"))
        assert sorted((key, value["airline"]) for key, value in out.read_key_values()) == [("UA", "United"), ("XX", "unknown")]
