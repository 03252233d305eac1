from __future__ import annotations

import json

import pytest
from openlineage.client.serde import Serde

from headrace.lineage.events import event
from headrace.lineage.runs import COMPLETE, FAIL, RUNNING, START, RunEventPlan
from headrace.rest.lineage import EXTERNAL, TOPIC, Lineage, LineageEdge, LineageNode
from tests.lineage import spec

RUN = "01941f29-7c00-7087-8906-40e512c257bd"
LINEAGE = Lineage(
    [
        LineageNode("connector:c", "connector", "c"), LineageNode("topic:a/t", TOPIC, "t", "a"),
        LineageNode("topic:u", TOPIC, "u"), LineageNode("external:/x", EXTERNAL, "/x"),
    ],
    [LineageEdge("topic:a/t", "connector:c"), LineageEdge("external:/x", "connector:c"), LineageEdge("connector:c", "topic:u")],
)  # fmt: skip


@pytest.mark.skipif(not spec.FOLDER, reason="HEADRACE_OPENLINEAGE_SPEC names no copy of OpenLineage's folder `spec`")
@pytest.mark.parametrize("kind", [START, RUNNING, COMPLETE, FAIL])
def test_every_body_is_valid_by_the_schemas_of_the_specification(kind: str):
    plan = RunEventPlan(kind, "c", RUN, "x.Y: It broke.\nCaused by: z" if kind == FAIL else None)
    body = json.loads(Serde.to_json(event(plan, LINEAGE, "prod", {None: "here:9092", "a": "SSL://far:9093,b:1"})))
    assert list(spec.problems(body)) == []
    assert [(one["namespace"], one["name"]) for one in body["inputs"]] == [("kafka://far:9093", "t"), ("file", "/x")]
    broken = body | {"eventTime": "yesterday", "run": {"runId": RUN, "facets": {"jobType": body["job"]["facets"]["jobType"]}}}
    broken["job"]["facets"]["jobType"].pop("processingType")
    assert len(list(spec.problems(broken))) >= 2
