"""A preview's last step is what the deployed chain makes of the record: recorded cases through both."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from headrace.preview.origin import PreviewPlan, RecordOrigin
from headrace.preview.records import from_objects, notation
from headrace.preview.trace import traces
from headrace.runtime.tolerance import NO_TOLERANCE
from headrace.testing.conformance import _converters, cases, outcomes
from headrace.transforms.stages import stages

FILE = Path(__file__).parents[1] / "conformance" / "smt" / "cases.jsonl"
CONFIGS, EACH = 16, 3


def chosen():
    """Cases by configuration, those of every group of transforms among them, and those that share one preferred."""
    by_config = defaultdict(list)
    for case in cases([FILE]):
        if case["mode"] == "record":
            by_config[tuple(sorted(case["config"].items()))].append(case)
    by_group, others = {}, []
    for group in sorted(by_config.values(), key=len, reverse=True):
        others.append(group) if group[0]["group"] in by_group else by_group.setdefault(group[0]["group"], group)
    return [group[:EACH] for group in [*by_group.values(), *others][:CONFIGS]]


def as_outcome(trace):
    """A trace in the form of `outcome`."""
    if trace["outcome"] == "failed":
        failure = trace["failure"]
        return {"error": {"stage": "record", "at": failure["step"], "class": failure["class"], "message": failure["message"]}}
    return {"filtered": True} if trace["outcome"] == "dropped" else trace["output"]


def shown(result):
    if "topic" not in result:
        return result
    headers = [[name, notation(value)] for name, value in result["headers"]]
    return {**result, "key": notation(result["key"]), "value": notation(result["value"]), "headers": headers}


def test_a_preview_equals_the_deployed_result(spark):
    compared = 0
    for group in chosen():
        config = group[0]["config"]
        converters = _converters(config)
        plan = PreviewPlan(RecordOrigin(), True, tuple(stages(config)), converters, converters, NO_TOLERANCE)
        records = [case["input"] for case in group]
        previewed, deployed = traces(spark, plan, from_objects(records, "t")), outcomes(config, records)
        for case, trace, outcome in zip(group, previewed, deployed, strict=True):
            assert as_outcome(trace) == shown(outcome), case["id"]
            compared += 1
    assert compared > 2 * CONFIGS
