"""Schemas that come with records are registered in the order of the records."""

from __future__ import annotations

import json
from collections.abc import Callable

from headrace.testing.registry import SchemaRegistry
from tests.clusters import Cluster, record
from tests.kafka_source.mirror import Mirror
from tests.kafka_source.test_schema_registry import AVRO

COUNT = 70  # more than two plans know


def enveloped(number: int) -> bytes:
    """A struct whose last field is named so that the order of the texts is another than that of the records."""
    last = f"f{(number * 37) % COUNT}"
    fields = [{"field": "n", "type": "int32", "optional": False}, {"field": last, "type": "string", "optional": True}]
    schema = {"type": "struct", "name": "Order", "fields": fields, "optional": False}
    return json.dumps({"schema": schema, "payload": {"n": number, last: "x"}}).encode()


def test_schemas_of_records_that_come_together_are_registered_in_their_order(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str], registry: SchemaRegistry
) -> None:
    topic = topic_name("ordered")
    registry.store.levels[None] = "NONE"
    source.create(topic)
    source.produce(topic, [record(b"k", enveloped(number)) for number in range(COUNT)])
    one = mirror(topic, {
        "source.value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": AVRO, "value.converter.schema.registry.url": registry.url,
    })  # fmt: skip
    one.await_copied(topic, COUNT)
    versions = registry.store.subjects[f"{one.prefix}{topic}-value"]
    last = [json.loads(version.schema.text)["fields"][-1]["name"] for version in versions]
    assert last == [f"f{(number * 37) % COUNT}" for number in range(COUNT)]
