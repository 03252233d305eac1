"""A topic whose records have thousands of schemas."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable

import pytest

from headrace.testing.registry import SchemaRegistry
from tests.clusters import Cluster, record
from tests.kafka_source.mirror import Mirror
from tests.kafka_source.test_schema_registry import STAMP, converters, decoded, encoded, schema
from tests.support import wait_until
from tests.transforms.chains import JSON

DOUBLED = {"transforms": "d", "transforms.d.type": "tests.transforms.own_plugins.Doubled"}  # takes many records at once
COUNT = int(os.environ.get("HEADRACE_SCHEMAS", "40"))


def test_no_record_of_many_schemas_is_lost_and_each_is_asked_for_once(
    source: Cluster,
    destination: Cluster,
    mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    registry: SchemaRegistry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "HEADRACE_SCHEMAS" not in os.environ:  # plans are dropped and made again, as those of thousands of schemas are
        monkeypatch.setattr("headrace.runtime.chain._MAX_SCHEMAS_PER_CHAIN", 10)
        monkeypatch.setattr("headrace.runtime.feed_plans._MAX_PLANS", 2)
    topic = topic_name("many")
    registry.store.levels[None] = "NONE"
    source.create(topic, partitions=2)
    values = {n: encoded(registry, f"{topic}-value", schema(f"f{n}"), {"n": n, f"f{n}": "x"}) for n in range(COUNT)}
    order = [*values, *random.Random(7).sample(sorted(values), COUNT)]  # in their order, and then in any
    source.produce(topic, [record(b"%d" % n, values[n], partition=n % 2) for n in order])
    began = time.monotonic()
    one = mirror(topic, {**converters(registry), **STAMP})
    wait_until(lambda: destination.size(one.prefix + topic) >= len(order), 600 + COUNT, lambda: f"{one.status()}")
    print(f"{COUNT} schemas: {time.monotonic() - began:.1f} s")
    copies = one.await_copied(topic, len(order))
    found = [decoded(registry, copy) for copy in copies]
    assert sorted(value["n"] for value in found) == sorted(order)
    assert all(value == {"n": value["n"], f"f{value['n']}": "x", "from": "here"} for value in found)
    asked = [request for request in registry.requests if request.startswith("GET /schemas/ids/") and request[-1].isdecimal()]
    assert len(asked) == len(set(asked)) == COUNT


def test_a_chain_that_takes_batches_gets_those_of_many_schemas_in_parts(
    source: Cluster,
    destination: Cluster,
    mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    registry: SchemaRegistry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headrace.runtime.chain._MAX_SCHEMAS_PER_BATCH", 2)
    topic = topic_name("many")
    registry.store.levels[None] = "NONE"
    source.create(topic, partitions=2)
    values = [encoded(registry, f"{topic}-value", schema(f"f{n}"), {"n": n, f"f{n}": "x"}) for n in range(12)]
    source.produce(topic, [record(b"%d" % n, value, partition=n % 2) for n, value in enumerate(values)])
    read = {key: value for key, value in converters(registry).items() if key.startswith("source.")}
    one = mirror(topic, {**read, "value.converter": JSON, "value.converter.schemas.enable": "false", **DOUBLED})
    copies = one.await_copied(topic, len(values))
    assert sorted(json.loads(copy.value or b"")["n"] for copy in copies) == [2 * n for n in range(12)]
