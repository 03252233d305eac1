"""The recorded cases once more, those of one configuration in one query, with the code that Spark generates for it."""

import base64
import json

import pytest

from headrace.testing.conformance import difference
from tests.transforms.chains import DROPPED, Failed, Record, through
from tests.transforms.test_conformance import CASES, DIFFERENT


def groups():
    """Every tenth case, with all others of the same configuration."""
    result = {}
    for case in CASES:
        if case["expect"].get("error", {}).get("stage") == "config":
            continue  # the chain does not start
        result.setdefault(json.dumps(case["config"], sort_keys=True), []).append(case)
    sampled = {json.dumps(case["config"], sort_keys=True) for case in CASES[::10]}
    return [[c for c in result[config] if c["id"] not in DIFFERENT] for config in sorted(sampled & result.keys())]


@pytest.mark.parametrize("cases", [g for g in groups() if g], ids=lambda cases: cases[0]["id"])
def test_generated_code_takes_records_as_kafka_does(spark, cases):
    assert spark.conf.get("spark.sql.codegen.wholeStage") == "true"
    outcomes = through(spark, cases[0]["config"], [record(case["input"]) for case in cases])
    wrong = {}
    for case, outcome in zip(cases, outcomes, strict=True):
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
