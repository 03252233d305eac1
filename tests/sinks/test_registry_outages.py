"""Sinks whose registry is away, lets nobody in, or takes no schemas: a sentence says so, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from headrace.testing.registry import SchemaRegistry
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.registry.test_bad_input import FORMATS, Format
from tests.sinks.sink import Sink
from tests.sinks.unsteady import Unsteady
from tests.support import wait_until

Make = Callable[..., Sink]
Name = Callable[[str], str]
each = pytest.mark.parametrize("form", FORMATS, ids=str)


def converters(registry: SchemaRegistry, form: Format) -> dict[str, str]:
    options = {"": form.converter, "_schema_registry_url": registry.url, "_max_retries": "0"}
    return {f"value_converter{option}": value for option, value in options.items()}


def other(form: Format) -> Format:
    """The same record under another name, for another schema with the same payload."""
    text = form.schema if isinstance(form.schema, str) else json.dumps(form.schema)
    return replace(form, schema=text.replace("message R ", "message Q ").replace('"R"', '"Q"'))


def encoded(registry: SchemaRegistry, topic: str, form: Format) -> bytes:
    return b"\0" + registry.register(f"{topic}-value", form.schema, form.type).to_bytes(4) + form.payload


def await_silence(one: Sink) -> None:
    """Wait until the task says that it waits for the registry, and go on only if it runs."""
    silent = "The schema registry does not answer"
    wait_until(lambda: silent in (one.waiting_for() or ""), CONNECTOR_S, lambda: f"{one.name} waits: {one.status()}")
    assert "\n" not in (one.waiting_for() or "")
    assert one.states() == ["RUNNING", "RUNNING"]


@each
def test_a_kafka_sink_waits_for_its_registry_at_the_start_and_while_it_runs(
    cluster: Cluster, source: Cluster, sink: Make, topic_name: Name, registry: SchemaRegistry, form: Format
) -> None:
    topic, prefix = topic_name("orders"), topic_name("copy") + "."
    registry.store.levels[None] = "NONE"
    cluster.create(topic, partitions=2)
    known, unknown = encoded(registry, topic, form), encoded(registry, topic, other(form))
    cluster.produce(topic, [record(b"0", known, partition=0), record(b"1", known, partition=1)])
    registry.stop()
    target = {"target_bootstrap_servers": source.bootstrap, "destination_topics_create": "true"}
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, **target, **converters(registry, form))
    await_silence(one)
    assert one.offsets() == {}
    registry.start()
    one.await_offsets({(topic, 0): 1, (topic, 1): 1})

    registry.stop()
    cluster.produce(topic, [
        record(b"2", known, partition=0), record(b"3", unknown, partition=1), record(b"4", known, partition=1),
    ])  # fmt: skip
    await_silence(one)
    one.await_offsets({(topic, 0): 2, (topic, 1): 1})  # the partition whose schema nobody knows waits, in its order
    registry.start()
    one.await_offsets({(topic, 0): 2, (topic, 1): 3})
    wait_until(lambda: one.waiting_for() is None, CONNECTOR_S, lambda: f"nothing is waited for: {one.status()}")
    copies = source.read(prefix + topic)
    assert [copy.key for copy in copies if copy.partition == 0] == [b"0", b"2"]
    assert [copy.key for copy in copies if copy.partition == 1] == [b"1", b"3", b"4"]
    assert all(b"hello" in (copy.value or b"") for copy in copies)


@each
def test_a_kafka_sink_that_the_registry_refuses_fails_with_a_sentence_and_copies_all_once_it_may(
    cluster: Cluster, source: Cluster, sink: Make, topic_name: Name, registry: SchemaRegistry, form: Format
) -> None:
    topic, prefix = topic_name("orders"), topic_name("copy") + "."
    cluster.create(topic)
    value = encoded(registry, topic, form)
    cluster.produce(topic, [record(b"%d" % n, value) for n in range(3)])
    registry.token = "another"
    target = {"target_bootstrap_servers": source.bootstrap, "destination_topics_create": "true"}
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, **target, **converters(registry, form))
    refused = f"The schema registry at {registry.url} refuses (401, error 401): Unauthorized; check basic.auth.credentials.source"
    assert refused in one.trace()
    assert one.offsets() == {}

    subject = f"{prefix}{topic}-value"
    registry.token = None
    registry.store.set_mode(subject, "READONLY")
    one.restart_failed(refused)
    trace = one.trace()
    assert f"Subject {subject} is in read-only mode" in trace
    assert f"(topic={topic}, partition=0, offset=0, at writing the value)" in trace
    assert one.offsets() == {}

    registry.store.set_mode(subject, "READWRITE")
    one.restart_failed("read-only")
    one.await_offsets({(topic, 0): 3})
    assert [copy.key for copy in source.read(prefix + topic)] == [b"0", b"1", b"2"]


def test_a_sink_that_takes_batches_waits_for_its_registry(
    cluster: Cluster, sink: Make, topic_name: Name, registry: SchemaRegistry
) -> None:
    topic, form = topic_name("orders"), FORMATS[0]
    registry.store.levels[None] = "NONE"
    cluster.create(topic)
    known, unknown = encoded(registry, topic, form), encoded(registry, topic, other(form))
    cluster.produce(topic, [record(None, known)])
    registry.stop()
    with Unsteady.failing(times=0) as batches:
        one = sink("Unsteady", topics=topic, **converters(registry, form))
        await_silence(one)
        registry.start()
        one.await_offsets({(topic, 0): 1})
        registry.stop()
        cluster.produce(topic, [record(None, known), record(None, unknown)])
        await_silence(one)
        registry.token = "another"
        registry.start()
        assert "Unauthorized; check basic.auth.credentials.source" in one.trace()
        registry.token = None
        one.restart_failed("Unauthorized")
        one.await_offsets({(topic, 0): 3})
    assert {offsets[1] for batch in batches for offsets in batch.offsets.values()} >= {1, 3}
