"""A preview of records whose schemas are in a registry; nothing is registered by it."""

from __future__ import annotations

import base64
import io
from uuid import UUID

import fastavro
import pytest
from rich.console import Console

from headrace.errors import RetriableError
from headrace.preview import run
from headrace.preview.show import show
from headrace.testing.registry import SchemaRegistry
from tests.preview.conftest import MIRROR, chain
from tests.registry.silent import silent_server

AVRO = "io.confluent.connect.avro.AvroConverter"
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}


@pytest.fixture
def registry():
    with SchemaRegistry() as registry:
        yield registry


def test_a_record_is_shown_with_id_subject_and_version(preview, registry):
    data = io.BytesIO()
    fastavro.schemaless_writer(data, ORDER, {"id": 5})
    id = registry.register("orders-value", ORDER)
    value = {"base64": base64.b64encode(b"\0" + id.to_bytes(4) + data.getvalue()).decode()}
    settings = {f"{side}value.converter{key}": text for side in ("source.", "")
                for key, text in (("", AVRO), (".schema.registry.url", registry.url), (".max.retries", "0"))}  # fmt: skip
    config = {k: v for k, v in MIRROR.items() if "value.converter" not in k} | settings
    cast = chain(c={"type": "Cast$Value", "spec": "id:int64"})
    (record,) = preview(config, {"value": value})
    read = {"id": id, "subject": "orders-value", "version": 1}
    assert record["schemas"] == {"value": {"read": read, "written": {"id": None, "subject": None, "version": None}}}
    registry.register("orders-value", {**ORDER, "connect.version": 1, "connect.name": "Order"})
    (record,) = preview(config, {"value": value})
    assert record["schemas"]["value"]["written"] == {"id": 2, "subject": "orders-value", "version": 2}
    (record,) = preview(config | cast, {"value": value})
    assert record["steps"][1]["record"]["value"]["json"] == '{"id":5}'
    assert len(registry.store.schemas) == 2
    shown = io.StringIO()
    console = Console(file=shown, width=200)
    show({"records": [record], "type": "source"}, console)
    line = f"value: read with schema {id} (subject orders-value, version 1), written with a schema that would be registered"
    assert line in shown.getvalue()


def test_a_guid_is_shown_as_its_schema_and_a_topic_has_the_subject_of_its_own_name(preview, registry):
    registry.register("orders-eu-value", ORDER)
    id = registry.register("orders-value", ORDER)
    guid = b"\1" + UUID(registry.store.schemas[id].guid).bytes
    settings = {f"{side}value.converter{key}": text for side in ("source.", "")
                for key, text in (("", AVRO), (".schema.registry.url", registry.url), (".max.retries", "0"))}  # fmt: skip
    config = {k: v for k, v in MIRROR.items() if "value.converter" not in k} | settings
    prefixed = {"value": {"base64": base64.b64encode(guid + b"\x0a").decode()}}
    header = [["__value_schema_id", {"base64": base64.b64encode(guid).decode()}]]
    by_header = {"value": {"base64": base64.b64encode(b"\x00").decode()}, "headers": header}
    for record in preview(config, prefixed, by_header):
        assert record["schemas"]["value"]["read"] == {"id": id, "subject": "orders-value", "version": 1}


def test_a_silent_registry_is_named_and_waited_for_as_long_as_somebody_looks_at_a_page(preview, monkeypatch):
    monkeypatch.setattr(run, "_REGISTRY_TIMEOUT_S", 0.2)
    with silent_server() as url:  # which a connector would be kept four minutes by
        settings = {"source.value.converter": AVRO, "source.value.converter.schema.registry.url": url}
        config = {k: v for k, v in MIRROR.items() if "value.converter" not in k} | settings
        with pytest.raises(RetriableError) as raised:
            preview(config, {"value": {"base64": base64.b64encode(b"\0\0\0\0\1\x0a").decode()}})
    assert str(raised.value) == f"The schema registry has not answered ({url}) in 0.2 s."
