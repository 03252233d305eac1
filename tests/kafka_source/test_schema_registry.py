"""Mirrors whose records have their schemas in a registry."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import fastavro

from headrace.testing.registry import SchemaRegistry
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.support import wait_until

AVRO = "io.confluent.connect.avro.AvroConverter"
T = "org.apache.kafka.connect.transforms."
STAMP = {"transforms": "from", "transforms.from.type": T + "InsertField$Value", "transforms.from.static.field": "from",
         "transforms.from.static.value": "here"}  # fmt: skip


def schema(*fields: str) -> dict[str, Any]:
    columns = [{"name": name, "type": ["null", "string"], "default": None} for name in fields]
    return {"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}, *columns]}


def encoded(registry: SchemaRegistry, subject: str, node: dict[str, Any], value: dict[str, Any]) -> bytes:
    data, id = io.BytesIO(), registry.register(subject, node)
    fastavro.schemaless_writer(data, node, value)
    return b"\0" + id.to_bytes(4) + data.getvalue()


def decoded(registry: SchemaRegistry, found: Sent) -> Any:
    data = found.value or b""
    node = json.loads(registry.store.schemas[int.from_bytes(data[1:5])].text)
    return fastavro.schemaless_reader(io.BytesIO(data[5:]), node, None)


def converters(registry: SchemaRegistry) -> dict[str, str]:
    """Of both sides: what is read, and what is written."""
    return {f"{side}value.converter{key}": value for side in ("source.", "") for key, value in (
        ("", AVRO), (".schema.registry.url", registry.url), (".max.retries", "0"))}  # fmt: skip


def test_a_mirror_goes_on_through_new_schemas_and_without_the_registry_for_those_that_it_knows(
    source: Cluster,
    destination: Cluster,
    mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    registry: SchemaRegistry,
) -> None:
    topic = topic_name("orders")
    source.create(topic, partitions=2)

    def send(partition: int, numbers: range, *fields: str) -> None:
        subject = f"{topic}-value"
        values = [encoded(registry, subject, schema(*fields), {"n": n} | dict.fromkeys(fields, "x")) for n in numbers]
        source.produce(topic, [record(b"k", value, partition=partition) for value in values])

    send(0, range(3))
    one = mirror(topic, {**converters(registry), **STAMP, "topic.creation.default.partitions": "2"})
    assert sorted(decoded(registry, r)["n"] for r in one.await_copied(topic, 3)) == [0, 1, 2]
    subject = f"{one.prefix}{topic}-value"
    assert [version.number for version in registry.store.subjects[subject]] == [1]

    send(0, range(3, 5), "a")  # a new version: nothing restarts
    copies = one.await_copied(topic, 5)
    assert {"n": 4, "a": "x", "from": "here"} in [decoded(registry, r) for r in copies]
    assert len(registry.store.subjects[subject]) == 2

    send(1, range(5, 6), "a")
    one.await_copied(topic, 6)
    newest = encoded(registry, f"{topic}-value", schema("a", "b"), {"n": 6, "a": None, "b": "y"})
    known = encoded(registry, f"{topic}-value", schema("a"), {"n": 7, "a": "z"})
    registry.stop()
    source.produce(topic, [record(b"k", newest, partition=1), record(b"k", known, partition=1), record(b"k", known, partition=0)])
    wait_until(lambda: destination.size(one.prefix + topic) >= 7, CONNECTOR_S, lambda: f"the known schema; {one.status()}")
    assert one.states() == ["RUNNING", "RUNNING"]
    assert destination.size(one.prefix + topic) == 7  # the partition whose schema nobody knows waits, in its order
    wait_until(lambda: "The schema registry does not answer" in (one.waiting_for() or ""), CONNECTOR_S, lambda: f"{one.status()}")
    used = one.worker.call("GET", f"/headrace{one.path}/schemas")["entries"]
    assert [(e["direction"], e["id"], e["subject"], e["version"]) for e in used if e["direction"] == "written"] == [
        ("written", version.schema.id, subject, version.number) for version in registry.store.subjects[subject]
    ]
    assert {(e["id"], e["version"]) for e in used if e["direction"] == "read"} == {
        (version.schema.id, version.number) for version in registry.store.subjects[f"{topic}-value"][:2]
    }
    registry.start()
    copies = one.await_copied(topic, 9)
    assert [decoded(registry, r)["n"] for r in copies if r.partition == 1] == [5, 6, 7]
    wait_until(lambda: one.offsets() == {f"{topic}:0": 5, f"{topic}:1": 2}, CONNECTOR_S, lambda: f"{one.offsets()}")
    asked = [request for request in registry.requests if request.startswith("GET /schemas/ids/") and request[-1].isdecimal()]
    assert len(asked) == len(set(asked)) == 3
    wait_until(lambda: one.waiting_for() is None, CONNECTOR_S, lambda: f"nothing is waited for: {one.status()}")


def test_what_cannot_be_read_or_registered_is_a_dead_letter_and_the_rest_is_copied_exactly_once(
    source: Cluster,
    destination: Cluster,
    exact_mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    registry: SchemaRegistry,
) -> None:
    topic, letters = topic_name("orders"), topic_name("letters")
    source.create(topic)
    good = encoded(registry, f"{topic}-value", schema(), {"n": 1})
    closed = encoded(registry, "other", schema("c"), {"n": 2, "c": "x"})
    values = [good, b"no avro", b"\0" + (999).to_bytes(4) + b"\2", good[:5], closed, None, good]
    one = exact_mirror(topic, {
        **converters(registry), "errors.tolerance": "all", "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1", "errors.deadletterqueue.context.headers.enable": "true",
    })  # fmt: skip
    subject = f"{one.prefix}{topic}-value"
    registry.register(subject, {**schema(), "connect.version": 1, "connect.name": "Order"})
    registry.store.set_mode(subject, "READONLY")
    source.produce(topic, [record(b"%d" % n, value) for n, value in enumerate(values)])
    wait_until(lambda: destination.size(letters) >= 4, CONNECTOR_S, lambda: f"dead letters; {one.status()}")
    assert [r.key for r in one.await_copied(topic, 3)] == [b"0", b"5", b"6"]
    found = destination.read(letters, settled=True)
    assert [(r.key, r.value) for r in found] == [(b"%d" % n, values[n]) for n in (1, 2, 3, 4)]
    messages = [dict(r.headers)["__connect.errors.exception.stacktrace"] or b"" for r in found]
    for message, why in zip(messages, (b"Unknown magic byte!", b"Schema 999 not found", b"the data ends before the record does",
                                       b"is in read-only mode"), strict=True):  # fmt: skip
        assert why in message


def test_protobuf_becomes_json_with_a_schema_while_messages_evolve(
    source: Cluster,
    destination: Cluster,
    exact_mirror: Callable[..., Mirror],
    topic_name: Callable[[str], str],
    registry: SchemaRegistry,
) -> None:
    topic, letters = topic_name("orders"), topic_name("letters")
    source.create(topic)
    first = 'syntax = "proto3"; package shop; message Order { int32 n = 1; }'
    second = 'syntax = "proto3"; package shop; message Order { int32 n = 1; oneof pay { string card = 2; int64 cash = 3; } }'
    ids = [registry.register(f"{topic}-value", text, "PROTOBUF").to_bytes(4) for text in (first, second)]
    values = [b"\0" + ids[0] + b"\0\x08\x07", b"\0" + ids[1] + b"\0\x08\x08\x18\x05", b"\0" + ids[1] + b"\0\x08", None]
    one = exact_mirror(topic, {
        "source.value.converter": "io.confluent.connect.protobuf.ProtobufConverter",
        "source.value.converter.schema.registry.url": registry.url,
        "value.converter": "io.confluent.connect.json.JsonSchemaConverter", "value.converter.schema.registry.url": registry.url,
        **STAMP, "errors.tolerance": "all", "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1",
    })  # fmt: skip
    source.produce(topic, [record(b"%d" % n, value) for n, value in enumerate(values)])
    copies = one.await_copied(topic, 3)
    assert [json.loads(r.value[5:]) if r.value else None for r in copies] == [
        {"n": 7, "from": "here"}, {"pay_0": {"card": None, "cash": 5}, "n": 8, "from": "here"}, None,
    ]  # fmt: skip
    assert [r.value for r in destination.read(letters, settled=True)] == [values[2]]
    assert [version.schema.type for version in registry.store.subjects[f"{one.prefix}{topic}-value"]] == ["JSON", "JSON"]


def test_no_record_is_lost_while_the_registry_is_down_refuses_the_login_or_refuses_a_schema(
    source: Cluster, destination: Cluster, mirror: Callable[..., Mirror], topic_name: Callable[[str], str]
) -> None:
    topic = topic_name("orders")
    source.create(topic)
    with SchemaRegistry(user=("anna", "right")) as registry:
        values = [encoded(registry, f"{topic}-value", schema(), {"n": 0})]
        number = {"type": "record", "name": "Order", "fields": [{"name": "n", "type": "string"}]}
        values.append(encoded(registry, "other", number, {"n": "1"}))
        source.produce(topic, [record(b"k", values[0])])
        registry.stop()
        sides = ("source.value.converter.", "value.converter.")
        login = {f"{side}basic.auth.credentials.source": "USER_INFO" for side in sides}
        one = mirror(topic, {**converters(registry), **login, **{f"{side}basic.auth.user.info": "anna:wrong" for side in sides}})
        one.await_states("RUNNING", "RUNNING")
        wait_until(
            lambda: "The schema registry does not answer" in (one.waiting_for() or ""), CONNECTOR_S, lambda: f"{one.status()}"
        )
        assert one.states() == ["RUNNING", "RUNNING"]

        registry.start()
        why = one.trace()
        assert "Unauthorized; check basic.auth.credentials.source" in why
        assert "anna:wrong" not in why
        one.configure({f"{side}basic.auth.user.info": "anna:right" for side in sides})
        one.await_states("RUNNING", "RUNNING")
        assert [decoded(registry, r)["n"] for r in one.await_copied(topic, 1)] == [0]

        source.produce(topic, [record(b"k", values[1])])
        assert "incompatible with an earlier schema" in one.trace()
        assert one.offsets() == {f"{topic}:0": 0}
        registry.store.set_level(f"{one.prefix}{topic}-value", "NONE")
        one.restart("?includeTasks=true&onlyFailed=true")
        one.await_states("RUNNING", "RUNNING")
        assert [decoded(registry, r)["n"] for r in one.await_copied(topic, 2)] == [0, "1"]
