"""Mirrors whose registry changes, or falls silent, while they run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.testing.registry import SchemaRegistry
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.kafka_source.test_schema_registry import converters, decoded, encoded, schema
from tests.registry.silent import silent_server
from tests.support import wait_until


def test_a_new_version_of_the_schema_to_write_with_takes_effect_while_a_mirror_runs(
    source: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str], registry: SchemaRegistry
) -> None:
    topic = topic_name("orders")
    source.create(topic)
    value = encoded(registry, f"{topic}-value", schema(), {"n": 1})
    source.produce(topic, [record(b"k", value)])
    one = mirror(topic, {
        **converters(registry), "value.converter.auto.register.schemas": "false", "value.converter.use.latest.version": "true",
        "value.converter.latest.cache.ttl.sec": "0", "errors.tolerance": "none",
    })  # fmt: skip
    subject = f"{one.prefix}{topic}-value"
    assert "Subject" in one.trace()
    first = registry.register(subject, schema())
    one.restart("?includeTasks=true&onlyFailed=true")
    one.await_states("RUNNING", "RUNNING")
    assert [int.from_bytes((r.value or b"")[1:5]) for r in one.await_copied(topic, 1)] == [first]
    second = registry.register(subject, schema("more"))

    def written() -> set[int]:
        source.produce(topic, [record(b"k", value)])  # with a schema that the task knows
        return {int.from_bytes((r.value or b"")[1:5]) for r in one.destination.read(one.prefix + topic)}

    wait_until(lambda: second in written(), CONNECTOR_S, lambda: f"the newer version is written with; {one.status()}")
    assert one.states() == ["RUNNING", "RUNNING"]


def test_a_mirror_whose_registry_is_silent_can_be_paused_restarted_and_stopped(
    source: Cluster,
    destination: Cluster,
    mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    registry: SchemaRegistry,
) -> None:
    topic = topic_name("orders")
    source.create(topic, partitions=2)
    known = encoded(registry, f"{topic}-value", schema(), {"n": 0})
    unknown = encoded(registry, f"{topic}-value", schema("a"), {"n": 1, "a": "x"})
    source.produce(topic, [record(b"k", known, partition=0)])
    patient = {f"{side}value.converter.max.retries": None for side in ("source.", "")}  # by default it waits four minutes
    one = mirror(topic, {**converters(registry), **patient, "topic.creation.default.partitions": "2"})
    copy = one.prefix + topic
    one.await_copied(topic, 1)
    registry.stop()
    with silent_server(int(registry.url.rpartition(":")[2])):
        source.produce(topic, [record(b"k", unknown, partition=1)])
        wait_until(
            lambda: "The schema registry does not answer" in (one.waiting_for() or ""), CONNECTOR_S, lambda: f"{one.status()}"
        )
        assert one.states() == ["RUNNING", "RUNNING"]
        source.produce(topic, [record(b"k", known, partition=0)])
        wait_until(lambda: one.offsets() == {f"{topic}:0": 1}, CONNECTOR_S, lambda: f"the rest goes on: {one.offsets()}")

        one.put("pause")
        one.await_states("PAUSED", "PAUSED")
        wait_until(lambda: one.waiting_for() is None, CONNECTOR_S, lambda: f"nothing is waited for: {one.status()}")
        source.produce(topic, [record(b"k", known, partition=0)])
        one.put("resume")
        one.await_states("RUNNING", "RUNNING")
        wait_until(
            lambda: "The schema registry does not answer" in (one.waiting_for() or ""), CONNECTOR_S, lambda: f"{one.status()}"
        )
        one.restart("?includeTasks=true")
        wait_until(lambda: one.waiting_for() is None, CONNECTOR_S, lambda: f"a new task: {one.status()}")
        one.put("stop")
        wait_until(lambda: one.states() == ["STOPPED"], CONNECTOR_S, lambda: f"{one.status()}")
    registry.start()
    one.put("resume")
    wait_until(lambda: destination.size(copy) >= 4, CONNECTOR_S, lambda: f"all records; {one.status()}")
    wait_until(lambda: one.offsets() == {f"{topic}:0": 2, f"{topic}:1": 0}, CONNECTOR_S, lambda: f"{one.offsets()}")
    assert sorted(decoded(registry, r)["n"] for r in destination.read(copy)) == [0, 0, 0, 1]


def test_a_mirror_that_the_registry_refuses_fails_with_a_sentence_and_copies_all_once_it_may(
    source: Cluster,
    mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    registry: SchemaRegistry,
) -> None:
    topic = topic_name("orders")
    source.create(topic)
    value = encoded(registry, f"{topic}-value", schema(), {"n": 1})
    source.produce(topic, [record(b"%d" % n, value) for n in range(3)])
    registry.stop()
    one = mirror(topic, converters(registry))
    wait_until(lambda: "The schema registry does not answer" in (one.waiting_for() or ""), CONNECTOR_S, lambda: f"{one.status()}")
    assert one.states() == ["RUNNING", "RUNNING"]

    registry.token = "another"
    registry.start()
    assert "refuses (401, error 401): Unauthorized; check basic.auth.credentials.source" in one.trace()
    subject = f"{one.prefix}{topic}-value"
    registry.token = None
    registry.store.set_mode(subject, "READONLY")
    one.restart_failed("Unauthorized")
    trace = one.trace()
    assert f"Subject {subject} is in read-only mode" in trace
    assert f"topic={topic}, partition=0, offset=0" in trace
    assert one.offsets() == {}

    registry.store.set_mode(subject, "READWRITE")
    one.restart_failed("read-only")
    assert [copy.key for copy in one.await_copied(topic, 3)] == [b"0", b"1", b"2"]


def test_what_precedes_a_record_whose_schema_the_registry_does_not_tell_is_stored(
    source: Cluster,
    mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    registry: SchemaRegistry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("_STORE_S", "_MAX_STORE_S"):  # longer than the test: of many feeds it takes seconds until offsets are stored
        monkeypatch.setattr(f"headrace.runtime.feed_run.{name}", 3600.0)
    topic = topic_name("orders")
    source.create(topic)
    known = encoded(registry, f"{topic}-value", schema(), {"n": 0})
    unknown = encoded(registry, f"{topic}-value", schema("a"), {"n": 1, "a": "x"})
    source.produce(topic, [record(b"first", known)])
    one = mirror(topic, converters(registry))
    one.await_copied(topic, 1)
    registry.token = "another"
    source.produce(topic, [*(record(b"%d" % n, known) for n in range(20)), record(b"last", unknown)])
    assert "refuses (401, error 401): Unauthorized" in one.trace()
    assert one.offsets() == {f"{topic}:0": 20}
    registry.token = None
    one.restart_failed("Unauthorized")
    assert [copy.key for copy in one.await_copied(topic, 22)] == [b"first", *(b"%d" % n for n in range(20)), b"last"]
