from __future__ import annotations

import json
from dataclasses import replace

import pytest
from openlineage.client.naming.dataset import DatasetNaming, Kafka, LocalFileSystem, Postgres
from openlineage.client.serde import Serde

from headrace.lineage.events import JobSettings, event
from headrace.lineage.jobs import CONNECTOR, JobLineage, schemas_of, sides
from headrace.lineage.runs import COMPLETE, FAIL, RUNNING, START, RunEventPlan
from headrace.rest.lineage import EXTERNAL, TOPIC, UNKNOWN, Lineage, LineageEdge, LineageNode
from headrace.transforms.stages import column_lineage, stages
from tests.lineage import spec

RUN = "01941f29-7c00-7087-8906-40e512c257bd"
LINEAGE = Lineage(
    [
        LineageNode("connector:c", "connector", "c"), LineageNode("topic:a/t", TOPIC, "t", "far:9093,b:1"),
        LineageNode("topic:u", TOPIC, "u"), LineageNode("external:/x", EXTERNAL, "/x"),
        LineageNode("external:db/o", EXTERNAL, "shop.public.orders", "postgres://db:5432"),
        LineageNode("unknown:c", UNKNOWN, "not known"),
    ],
    [
        LineageEdge("topic:a/t", "connector:c"), LineageEdge("external:/x", "connector:c"),
        LineageEdge("external:db/o", "connector:c"), LineageEdge("unknown:c", "connector:c"),
        LineageEdge("connector:c", "topic:u"),
    ],
)  # fmt: skip
SMT = "org.apache.kafka.connect.transforms."
CHAIN = {
    "transforms": "mask,flat,drop", "transforms.mask.type": SMT + "MaskField$Value", "transforms.mask.fields": "pin",
    "transforms.flat.type": SMT + "Cast$Value", "transforms.flat.spec": "id:string",
    "transforms.drop.type": "Filter", "transforms.drop.predicate": "is",
    "predicates": "is", "predicates.is.type": "TopicNameMatches", "predicates.is.pattern": "x",
}  # fmt: skip


def job(lineage: Lineage, servers: str, written: int | None = None) -> JobLineage:
    sources, targets = sides(lineage, "connector:c", servers)
    made_of = dict.fromkeys(targets, sources if len(sources) == 1 else None)
    schemas, columns = schemas_of(lineage, servers), column_lineage(stages(CHAIN))
    return JobLineage(CONNECTOR, "A connector.", sources, made_of, schemas, columns, written)


@pytest.mark.parametrize("kind", [START, RUNNING, COMPLETE, FAIL])
def test_every_body_is_valid_by_the_schemas_of_the_specification(kind: str):
    plan = RunEventPlan(kind, "c", RUN, "x.Y: It broke.\nCaused by: z" if kind == FAIL else None)
    body = json.loads(Serde.to_json(event(plan, job(LINEAGE, "SSL://here:9092", 5), JobSettings("prod"))))
    assert list(spec.problems(body)) == []
    assert [(event["namespace"], event["name"]) for event in body["inputs"]] == [
        ("kafka://far:9093", "t"),
        ("file", "/x"),
        ("postgres://db:5432", "shop.public.orders"),
    ]
    broken = body | {"eventTime": "yesterday", "run": {"runId": RUN, "facets": {"jobType": body["job"]["facets"]["jobType"]}}}
    broken["job"]["facets"]["jobType"].pop("processingType")
    assert len(list(spec.problems(broken))) >= 2
    assert body["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 5
    assert [event["inputs"] for event in body["job"]["facets"]["lineage"]["entries"]] == [
        []
    ]  # of which of the three is not known


def test_of_which_columns_an_output_is_made_is_in_its_facet():
    plan = RunEventPlan(START, "c", RUN)
    lineage = Lineage(LINEAGE.nodes, [edge for edge in LINEAGE.edges if not edge.source.startswith(("external", "unknown"))])
    body = json.loads(Serde.to_json(event(plan, job(lineage, "here:1"), JobSettings("prod"))))
    assert list(spec.problems(body)) == []
    (entry,) = body["job"]["facets"]["lineage"]["entries"]
    assert (entry["name"], [event["name"] for event in entry["inputs"]]) == ("u", ["t"])
    facet = body["outputs"][0]["facets"]["columnLineage"]
    made = {
        name: [
            (dataset["namespace"], dataset["name"], dataset["field"], dataset["transformations"][0]["masking"])
            for dataset in field["inputFields"]
        ]
        for name, field in facet["fields"].items()
    }
    assert made["value.pin"] == [("kafka://far:9093", "t", "value.pin", True)]
    assert made["value.id"] == [("kafka://far:9093", "t", "value.id", False)] and made["key"][0][2] == "key"
    assert [(one["field"], one["transformations"][0]["subtype"]) for one in facet["dataset"]] == [("topic", "FILTER")]


@pytest.mark.parametrize(
    ("node", "naming"),
    [
        (LineageNode("t", TOPIC, "t", "far:9093,b:1"), Kafka("far", "9093", "t")),
        (LineageNode("t", TOPIC, "t"), Kafka("here", "9092", "t")),
        (LineageNode("f", EXTERNAL, "/data/x"), LocalFileSystem("/data/x")),
        (LineageNode("d", EXTERNAL, "shop.s.o", "postgres://db:1"), Postgres("db", "1", "shop", "s", "o")),
    ],
)  # fmt: skip
def test_datasets_have_the_names_that_openlineages_client_gives_them(node: LineageNode, naming: DatasetNaming):
    lineage = Lineage([node], [LineageEdge(node.id, "connector:c")])
    read, _ = sides(lineage, "connector:c", "PLAINTEXT://here:9092,b:1")
    assert read == [(naming.get_namespace(), naming.get_name())]


def test_topics_with_a_registry_have_their_columns_in_a_facet():
    schema = {"part": "value", "id": 1, "type": "AVRO", "subject": "u-value", "version": 1}
    known_schemas = [{**schema, "fields": [{"name": "n", "type": "INT32"}]}, {**schema, "part": "key", "fields": []}]
    nodes = [replace(node, schemas=known_schemas) if node.id == "topic:u" else node for node in LINEAGE.nodes]
    made = job(Lineage(nodes, LINEAGE.edges), "here:1")
    body = json.loads(Serde.to_json(event(RunEventPlan(START, "c", RUN), made, JobSettings("prod"))))
    assert list(spec.problems(body)) == []
    value, key = body["outputs"][0]["facets"]["schema"]["fields"]
    assert (value["name"], [(dataset["name"], dataset["type"]) for dataset in value["fields"]]) == ("value", [("n", "INT32")])
    assert (key["name"], key["type"]) == ("key", "AVRO")
