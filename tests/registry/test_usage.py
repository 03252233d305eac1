"""Which schemas of a registry a converter remembers."""

from __future__ import annotations

import time
from typing import Any

import pytest

from headrace.converters.base import load
from headrace.registry.usage import SchemaUses
from headrace.runtime.schema_usage import SchemaUsage
from headrace.testing.registry import SchemaRegistry
from tests.support import wait_until

AVRO = "io.confluent.connect.avro.AvroConverter"


def ids(uses: SchemaUses) -> list[int]:
    return [use.id for use in uses.all()]


def test_schemas_that_were_not_used_for_longest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SchemaUses, "MAX_USES", 3)
    uses = SchemaUses()
    for id in (1, 2, 3, 1, 4):
        uses.add("read", "value", id, "AVRO", ("orders-value", id))
    assert ids(uses) == [3, 1, 4]


def test_a_schema_that_is_used_again_is_there_since_it_was_met_first() -> None:
    uses = SchemaUses()
    uses.add("written", "value", 1, "AVRO", ("orders-value", 1))
    [first] = uses.all()
    uses.add("written", "value", 2, "AVRO", ("orders-value", 2))
    uses.add("written", "value", 1, "AVRO", ("orders-value", 1))
    assert ids(uses) == [2, 1]
    assert uses.all()[-1] is first


def converter(registry: SchemaRegistry) -> Any:
    return load(AVRO, {"schema.registry.url": registry.url}, is_key=False)


def test_the_subject_of_a_schema_that_is_read_is_that_of_the_topic(registry: SchemaRegistry) -> None:
    record = {"type": "record", "name": "R", "namespace": "shop", "fields": []}
    subjects = ("other-value", "orders-shop.R", "copies-value", "shop.R")
    ids = {registry.register(subject, record) for subject in subjects}
    expected = {"copies": "copies-value", "orders": "orders-shop.R", "third": "other-value", None: "other-value"}
    for topic, subject in expected.items():
        reader = converter(registry)
        reader.look_up([str(*ids)], topic)
        [use] = reader.uses.all()
        assert (use.topic, use.subject, use.version) == (topic, subject, 1)


def test_a_task_that_is_restarted_uses_its_schemas_since_the_first_run(registry: SchemaRegistry) -> None:
    usage, id = SchemaUsage(), str(registry.register("orders-value", '"int"'))
    since = []
    for _ in range(2):
        reader = converter(registry)
        usage.watch("c", 0, [reader])
        reader.look_up([id], "orders")
        [use] = usage.of("c")
        since.append(use["since"])
        wait_until(lambda: time.time_ns() // 1_000_000 > since[-1], 10, "the clock goes on")
    assert since[0] == since[1]
    usage.watch("other", 0, [other := converter(registry)])
    other.look_up([id], "orders")
    assert usage.of("other")[0]["since"] > since[0]
