"""Records through chains, as the real Kafka Connect 4.3 takes them (tests/conformance/smt/README.md)."""

from pathlib import Path

import pytest

from headrace.testing.conformance import cases, run_case

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


def test_every_difference_is_of_a_case():
    assert DIFFERENT.keys() <= {case["id"] for case in CASES}


@pytest.mark.parametrize("case", params(CASES))
@pytest.mark.usefixtures("interpreted")
def test_a_record_becomes_what_kafka_makes_of_it(case):
    assert run_case(case) is None
