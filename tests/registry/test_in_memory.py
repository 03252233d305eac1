"""The registry in memory, driven by the client of confluent-kafka."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from confluent_kafka.schema_registry import ConfigCompatibilityLevel, Schema, SchemaReference, SchemaRegistryClient, ServerConfig
from confluent_kafka.schema_registry.error import SchemaRegistryError

from headrace.avro.compatibility import unreadable
from headrace.testing.registry import SchemaRegistry


def record(*fields: Any, name: str = "Order") -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": n, "type": t, **more} for n, t, more in fields]})


ONE = record(("id", "int", {}))
TWO = record(("id", "int", {}), ("note", ["null", "string"], {"default": None}))
BAD = record(("id", "int", {}), ("total", "double", {}))


def renamed(name: str, *aliases: str) -> str:
    return json.dumps({"type": "record", "name": name, "namespace": "shop", "aliases": aliases, "fields": []})


@pytest.fixture
def client(registry: SchemaRegistry) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry.url, "max.retries": 0}) as client:
        yield client


def test_a_schema_has_one_id_under_all_subjects(client: SchemaRegistryClient) -> None:
    first = client.register_schema("orders-value", Schema(ONE, "AVRO"))
    assert client.register_schema("orders-value", Schema(ONE, "AVRO")) == first
    assert client.register_schema("copies-value", Schema(ONE, "AVRO")) == first
    assert client.get_subjects() == ["copies-value", "orders-value"]
    assert json.loads(str(client.get_schema(first).schema_str)) == json.loads(ONE)
    places = client.get_schema_versions(first)
    assert {(place.subject, place.version) for place in places} == {("orders-value", 1), ("copies-value", 1)}


def test_versions_of_a_subject_can_be_looked_up_and_deleted(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(ONE, "AVRO"))
    second = client.register_schema("orders-value", Schema(TWO, "AVRO"))
    assert client.get_versions("orders-value") == [1, 2]
    assert client.get_latest_version("orders-value").schema_id == second
    assert client.lookup_schema("orders-value", Schema(TWO, "AVRO")).version == 2
    assert client.get_version("orders-value", 1).version == 1
    guid = str(client.register_schema_full_response("orders-value", Schema(TWO, "AVRO")).guid)
    assert client.get_schema_by_guid(guid).schema_str is not None
    assert client.delete_version("orders-value", 1) == 1
    assert client.delete_subject("orders-value") == [2]
    assert client.get_subjects() == []


def test_an_incompatible_schema_is_refused_with_the_reason(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(ONE, "AVRO"))
    assert not client.test_compatibility("orders-value", Schema(BAD, "AVRO"))
    assert client.test_compatibility("orders-value", Schema(TWO, "AVRO"))
    with pytest.raises(SchemaRegistryError, match=r"incompatible with an earlier schema.*READER_FIELD_MISSING_DEFAULT_VALUE"):
        client.register_schema("orders-value", Schema(BAD, "AVRO"))
    client.set_config("orders-value", ServerConfig(compatibility=ConfigCompatibilityLevel.NONE))
    assert client.get_config("orders-value").compatibility_level == "NONE"
    assert client.register_schema("orders-value", Schema(BAD, "AVRO")) > 0


def test_a_subject_in_read_only_mode_takes_no_schema(client: SchemaRegistryClient) -> None:
    client.update_mode("orders-value", "READONLY")
    assert client.get_mode("orders-value") == "READONLY"
    with pytest.raises(SchemaRegistryError, match="Subject orders-value is in read-only mode"):
        client.register_schema("orders-value", Schema(ONE, "AVRO"))


def test_references_have_to_be_registered(client: SchemaRegistryClient) -> None:
    outer, place = record(("order", "Order", {}), name="Box"), SchemaReference("Order", "orders", 1)
    with pytest.raises(SchemaRegistryError, match="Subject 'orders' not found"):
        client.register_schema("boxes", Schema(outer, "AVRO", [place]))
    client.register_schema("orders", Schema(ONE, "AVRO"))
    made = client.register_schema("boxes", Schema(outer, "AVRO", [place]))
    assert [r.subject for r in client.get_schema(made).references or []] == ["orders"]
    assert client.get_referenced_by("orders", 1) == [made]


def test_schemas_are_compared_with_those_that_they_reference(client: SchemaRegistryClient) -> None:
    inner = record(("street", "string", {}), name="Address")
    inline = record(("to", json.loads(inner), {}), name="Box")
    outer = record(("to", "Address", {}), ("note", ["null", "string"], {"default": None}), name="Box")
    client.register_schema("boxes", Schema(inline, "AVRO"))
    client.register_schema("addresses", Schema(inner, "AVRO"))
    client.register_schema("boxes", Schema(outer, "AVRO", [SchemaReference("Address", "addresses", 1)]))
    client.set_config("addresses", ServerConfig(compatibility=ConfigCompatibilityLevel.NONE))
    client.register_schema("addresses", Schema(record(("zip", "string", {}), name="Address"), "AVRO"))
    changed = Schema(outer, "AVRO", [SchemaReference("Address", "addresses", 2)])
    with pytest.raises(SchemaRegistryError, match=r"READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0/type/fields/0: zip"):
        client.register_schema("boxes", changed)


@pytest.mark.parametrize("body", [
    b"{", b"", b"[]", b"\xff", b"[" * 100_000, json.dumps({"schema": ONE, "references": [{}]}),
    json.dumps({"schema": ONE, "references": "x"}),
    json.dumps({"schema": ONE, "references": [{"name": 1, "subject": "s", "version": 1}]}),
    *(json.dumps({"schema": json.dumps({"name": "A", **node})}) for node in (
        {"type": "record", "fields": ["x"]}, {"type": "record", "fields": 1}, {"type": "record"}, {"type": "enum"},
        {"type": "record", "fields": [{"type": "int"}]}, {"type": "fixed", "size": "1"}, {"type": "enum", "symbols": [1]},
    )),
])  # fmt: skip
def test_a_request_that_is_no_schemas_is_refused(registry: SchemaRegistry, body: str | bytes) -> None:
    response = httpx.post(registry.url + "/subjects/s/versions", content=body, trust_env=False, timeout=100)
    assert (response.status_code, response.json()["error_code"]) == (422, 42201)


def test_requests_need_the_login() -> None:
    with SchemaRegistry(user=("anna", "secret")) as registry:
        plain = SchemaRegistryClient({"url": registry.url, "max.retries": 0})
        with plain, pytest.raises(SchemaRegistryError, match="Unauthorized"):
            plain.get_subjects()
        with SchemaRegistryClient({"url": registry.url, "basic.auth.user.info": "anna:secret"}) as named:
            assert named.get_subjects() == []


def test_what_does_not_exist_is_answered_with_the_registrys_code(client: SchemaRegistryClient) -> None:
    for ask, code in (
        (lambda: client.get_versions("none"), 40401),
        (lambda: client.get_schema(77), 40403),
        (lambda: client.register_schema("s", Schema('"text"', "AVRO")), 42201),
    ):
        with pytest.raises(SchemaRegistryError) as raised:
            ask()
        assert raised.value.error_code == code


@pytest.mark.parametrize(("reader", "writer", "reads"), [
    ('"long"', '"int"', True),
    ('"int"', '"long"', False),
    ('["null","int"]', '"int"', True),
    ('"int"', '["null","int"]', False),
    ('{"type":"enum","name":"E","symbols":["A"]}', '{"type":"enum","name":"E","symbols":["A","B"]}', False),
    ('{"type":"enum","name":"E","symbols":["A"],"default":"A"}', '{"type":"enum","name":"E","symbols":["A","B"]}', True),
    ('{"type":"fixed","name":"F","size":2}', '{"type":"fixed","name":"F","size":3}', False),
    ('{"type":"map","values":"double"}', '{"type":"map","values":"float"}', True),
    (ONE, TWO, True),
    (TWO, ONE, True),
    (BAD, ONE, False),
    (renamed("New", "Old"), renamed("Old"), True),
    (renamed("New", "shop.Old"), renamed("Old"), True),
    (renamed("New", "other.Old"), renamed("Old"), False),
])  # fmt: skip
def test_a_reader_can_or_cannot_read_what_a_writer_wrote(reader: str, writer: str, reads: bool) -> None:
    assert (not unreadable(reader, writer)) == reads


def test_a_type_of_a_namespace_may_be_named_in_a_member_type() -> None:
    fields = [{"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["A"]}}, {"name": "b", "type": {"type": "E"}}]
    node = {"type": "record", "name": "R", "namespace": "shop", "fields": fields}
    plain = json.dumps(node | {"fields": [fields[0], fields[1] | {"type": "E"}]})
    assert unreadable(json.dumps(node), plain) == unreadable(plain, json.dumps(node)) == []


def test_a_schema_that_contains_itself_can_be_compared() -> None:
    tree = record(("left", ["null", "Tree"], {"default": None}), name="Tree")
    assert unreadable(tree, tree) == []


def test_a_registry_that_is_stopped_answers_on_no_connection_that_is_open() -> None:
    with SchemaRegistry() as registry, httpx.Client(trust_env=False, timeout=100) as client:
        assert client.get(registry.url + "/subjects").json() == []
        registry.stop()
        with pytest.raises(httpx.TransportError):
            client.get(registry.url + "/subjects")
        registry.start()
        assert client.get(registry.url + "/subjects").json() == []


def test_schemas_that_are_registered_at_the_same_time_have_ids_of_their_own() -> None:
    registry, interval = SchemaRegistry(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            ids = list(threads.map(lambda n: registry.register(f"subject{n}", record(name=f"R{n}")), range(400)))
    finally:
        sys.setswitchinterval(interval)
    assert sorted(ids) == list(range(1, 401))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a port cannot be reserved and listened on")
def test_the_port_of_a_registry_that_is_stopped_is_given_to_nobody_else() -> None:
    with SchemaRegistry() as registry:
        registry.stop()
        port = int(registry.url.rpartition(":")[2])
        with socket.socket() as other, pytest.raises(OSError, match="already in use"):
            other.bind(("127.0.0.1", port))
        with socket.socket() as other, pytest.raises(ConnectionRefusedError):
            other.connect(("127.0.0.1", port))
        registry.start()
        assert httpx.get(registry.url + "/subjects", trust_env=False, timeout=100).json() == []
