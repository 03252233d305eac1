"""Records through chains, as the real Kafka Connect 4.3 takes them (tests/conformance/smt/README.md)."""

import functools
import json
from collections import defaultdict
from pathlib import Path

import pytest

from headrace.testing.conformance import cases, difference, outcome, outcomes

FILES = [Path(__file__).parents[1] / "conformance" / "smt" / name for name in ("cases.jsonl", "more-cases.jsonl")]
CASES = [case for case in cases(FILES) if case["mode"] == "record"]

_BEYOND_INT64 = "an integer beyond int64 keeps its digits; Connect wraps it to another number"
DIFFERENT = {
    "cast-value-schemaless-int64-json-integer-beyond-long": _BEYOND_INT64,
    "converter-json-integer-beyond-long-wraps": _BEYOND_INT64,
    "converter-json-double-beyond-range": "a number beyond float64 stays as it is written; Connect writes the text Infinity",
}
"""Case → why headrace does something else."""


def params(cases):
    marks = {id: [pytest.mark.xfail(reason=reason, strict=True)] for id, reason in DIFFERENT.items()}
    return [pytest.param(case, id=case["id"], marks=marks.get(case["id"], [])) for case in cases]


def configuration(case):
    return json.dumps(case["config"], sort_keys=True)


BY_CONFIGURATION = defaultdict(list)
for case in CASES:
    BY_CONFIGURATION[configuration(case)].append(case)


@functools.cache
def together(text):
    """What becomes of the cases of a configuration, by id: they are planned and run as rows of one query."""
    of = BY_CONFIGURATION[text]
    return dict(zip([case["id"] for case in of], outcomes(json.loads(text), [case["input"] for case in of]), strict=True))


def made_of(case):
    try:
        return together(configuration(case))[case["id"]]
    except Exception as error:  # not what becomes of a record, which is told for each
        outcome(case["config"], case["input"])  # the case that it is because of raises its own
        error.add_note(f"{case['id']} alone raises nothing; it is another case of the same configuration.")
        raise


def test_every_difference_is_of_a_case():
    assert DIFFERENT.keys() <= {case["id"] for case in CASES}


@pytest.mark.parametrize("case", params(CASES))
@pytest.mark.usefixtures("interpreted")
def test_a_record_becomes_what_kafka_makes_of_it(case):
    assert difference(case["expect"], made_of(case), case["config"]) is None


@pytest.mark.parametrize("case", [c for c in CASES if c["group"] == "messages"], ids=lambda case: case["id"])
@pytest.mark.usefixtures("interpreted")
def test_an_error_of_a_record_is_in_the_words_of_kafka(case):
    assert made_of(case)["error"]["message"] == case["expect"]["error"]["message"]
