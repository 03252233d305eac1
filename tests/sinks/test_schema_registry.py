"""Sinks whose records have their schemas in a registry."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from headrace.testing.registry import SchemaRegistry
from tests.clusters import Cluster, record
from tests.registry.test_bad_input import FORMATS, Format
from tests.sinks.sink import Sink, await_lines

Make = Callable[..., Sink]
Name = Callable[[str], str]


@pytest.mark.parametrize("form", FORMATS, ids=str)
def test_keys_and_values_arrive_with_their_headers_and_those_that_fail_are_dead_letters(
    cluster: Cluster, source: Cluster, sink: Make, topic_name: Name, registry: SchemaRegistry, form: Format
) -> None:
    topic, letters, prefix = topic_name("orders"), topic_name("letters"), topic_name("copy") + "."
    cluster.create(topic)
    key, value = (registry.register(f"{topic}-{part}", form.schema, form.type).to_bytes(4) for part in ("key", "value"))
    good = (b"\0" + key + form.payload, b"\0" + value + form.payload)
    guid = base64.b16decode(registry.store.schemas[int.from_bytes(value)].guid.replace("-", "").upper())
    by_header = (b"\1" + guid + (b"\0" if form.type == "PROTOBUF" else b""), form.payload[form.type == "PROTOBUF" :])
    cut = good[1][:-2]
    cluster.produce(topic, [
        record(*good, [("h", b"1")]), record(good[0], b"broken", [("h", b"2")]), record(b"broken", good[1]), record(good[0], cut),
        record(good[0], None), record(good[0], by_header[1], [("__value_schema_id", by_header[0])]),
    ])  # fmt: skip
    converters = {
        f"{part}_converter{option}": text for part in ("key", "value")
        for option, text in (("", form.converter), ("_schema_registry_url", registry.url))
    }  # fmt: skip
    queue = {
        "errors_tolerance": "all", "errors_deadletterqueue_topic_name": letters,
        "errors_deadletterqueue_topic_replication_factor": "1", "errors_deadletterqueue_context_headers_enable": "true",
    }  # fmt: skip
    target = {"target_bootstrap_servers": source.bootstrap, "destination_topics_create": "true"}
    one = sink("KafkaSink", topics=topic, destination_topics_prefix=prefix, **target, **converters, **queue)
    one.await_offsets({(topic, 0): 6})
    copies, dead = source.read(prefix + topic), cluster.read(letters)
    assert [len(copies), len(dead)] == [3, 3]
    assert all(b"hello" in (copy.key or b"") for copy in copies)
    assert [b"hello" in (copy.value or b"") for copy in copies] == [True, False, True]
    assert (copies[1].value, copies[0].headers) == (None, [("h", b"1")])
    assert (copies[0].value, copies[2].headers) == (copies[2].value, [])  # the header was of the schema that it was read with
    assert [(letter.key, letter.value) for letter in dead] == [(good[0], b"broken"), (b"broken", good[1]), (good[0], cut)]
    magic, _, ends = (dict(letter.headers)["__connect.errors.exception.stacktrace"] or b"" for letter in dead)
    assert b"Unknown magic byte! The data begins with 0x62" in magic
    assert (b"it is no JSON" if form.type == "JSON" else b"the data ends before the record does") in ends
    own, copied = ([f"{name}-{part}" for part in ("key", "value")] for name in (topic, prefix + topic))
    assert sorted(registry.store.subjects) == sorted([*own, *copied])


def test_a_sink_that_writes_columns_has_those_of_the_schemas(
    cluster: Cluster, sink: Make, topic_name: Name, registry: SchemaRegistry, file
) -> None:
    topic, form = topic_name("orders"), FORMATS[0]
    cluster.create(topic)
    id = registry.register(f"{topic}-value", form.schema).to_bytes(4)
    cluster.produce(topic, [record(None, b"\0" + id + form.payload)])
    sink("FileStreamSink", topics=topic, file=str(file), value_converter=form.converter,
         value_converter_schema_registry_url=registry.url)  # fmt: skip
    await_lines(file, ["Struct{a=hello}"])
