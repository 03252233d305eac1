"""Records through chains, as the real Kafka Connect 4.3 takes them (tests/conformance/smt/README.md)."""

import base64
import json
from pathlib import Path

import pytest

from headrace.testing.conformance import cases, difference, run_case
from tests.transforms.chains import DROPPED, Failed, Record, through

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


# The cases with generated code come first: `interpreted` is undone when the module ends.
def groups():
    """Every tenth case, with all others of the same configuration."""
    found = {}
    for case in CASES:
        if case["expect"].get("error", {}).get("stage") == "config":
            continue  # the chain does not start
        found.setdefault(json.dumps(case["config"], sort_keys=True), []).append(case)
    sampled = {json.dumps(case["config"], sort_keys=True) for case in CASES[::10]}
    return [[c for c in found[config] if c["id"] not in DIFFERENT] for config in sorted(sampled & found.keys())]


@pytest.mark.parametrize("cases", [g for g in groups() if g], ids=lambda cases: cases[0]["id"])
def test_generated_code_takes_records_as_kafka_does(spark, cases):
    assert spark.conf.get("spark.sql.codegen.wholeStage") == "true"
    found = through(spark, cases[0]["config"], [record(case["input"]) for case in cases])
    wrong = {}
    for case, outcome in zip(cases, found, strict=True):
        wrong[case["id"]] = difference(case["expect"], as_found(outcome), case["config"])
    assert wrong == dict.fromkeys(wrong)


def raw(text):
    if text is None:
        return None
    return text.encode() if isinstance(text, str) else base64.b64decode(text["base64"])


def record(given):
    headers = [(name, raw(value)) for name, value in given["headers"]]
    return Record(
        value=raw(given["value"]),
        key=raw(given["key"]),
        headers=headers,
        **{name: given[name] for name in ("topic", "partition", "offset", "timestamp")},
    )


def as_found(outcome):
    """An outcome in the form that `difference` compares."""
    if isinstance(outcome, Failed):
        return {"error": {"stage": "record", "at": outcome.step, "class": outcome.java_class, "message": outcome.message}}
    if outcome == DROPPED:
        return {"filtered": True}
    return {**vars(outcome), "headers": [list(header) for header in outcome.headers]}


@pytest.mark.parametrize("case", params(CASES))
@pytest.mark.usefixtures("interpreted")
def test_a_record_becomes_what_kafka_makes_of_it(case):
    assert run_case(case) is None
