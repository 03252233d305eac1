"""Configurations of transformations and predicates, as Kafka Connect 4.3 takes or refuses them."""

from pathlib import Path

import pytest

from headrace.testing.conformance import cases
from headrace.testing.conformance_config import problems, run_config_case, start

FILES = [Path(__file__).parents[1] / "conformance" / "smt" / name for name in ("cases.jsonl", "more-cases.jsonl")]
CASES = [case for case in cases(FILES) if case["mode"] == "config"]

OTHER_WORDS = {
    "config-converter-not-a-converter": "that `java.lang.String` is a class, headrace does not know",
    "config-insert-field-static-without-value": "names the field, where Kafka prints the address of an object",
}
"""Case → why a sentence of it is not Kafka's."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_configuration_is_taken_or_refused_as_by_kafka(case):
    assert run_config_case(case) is None


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] not in OTHER_WORDS], ids=lambda case: case["id"])
def test_a_refusal_is_in_the_words_of_kafka(case):
    assert problems(case["config"]) == case["expect"]["validate"]
    error = start(case["config"])
    assert (error and error.message) == case["expect"].get("error", {}).get("message")


def test_a_character_set_that_java_does_not_have_stops_the_start(spark):
    converter, encoding = "org.apache.kafka.connect.storage.StringConverter", "value.converter.converter.encoding"
    config = {"key.converter": converter, "value.converter": converter, encoding: "nope"}
    assert problems(config) == {}
    error = start(config)
    assert error is not None
    assert (error.java_class.rpartition(".")[2], error.message) == ("SerializationException", "Unsupported encoding nope")
    assert start({**config, encoding: "IBM-1047"}) is None
