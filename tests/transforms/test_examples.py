"""The examples that transforms, predicates and converters declare, and the docs print, through the real chain."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from headrace import plugins
from headrace.config.example import Example
from headrace.testing.conformance import outcome
from tests.transforms.chains import SCHEMALESS

pytestmark = pytest.mark.usefixtures("interpreted")
_REGISTRY = "reads records of a registry: docs/formats.md"
WITHOUT = {
    "AvroConverter": _REGISTRY, "JsonSchemaConverter": _REGISTRY, "ProtobufConverter": _REGISTRY,
    "TextLines": "is chosen by connectors",
}  # fmt: skip


def own(kind: str) -> list[type[Any]]:
    """Plugins of ours, of `X$Key` and `X$Value` the second."""
    classes = [cls for cls in plugins.every(kind) if cls.__module__.startswith("headrace.")]
    return [cls for cls in classes if not cls.plugin_name.endswith("$Key")]


def examples(kind: str) -> list[Any]:
    return [
        pytest.param(cls, example, id=f"{cls.plugin_name.rpartition('.')[2]}-{number}")
        for cls in own(kind)
        for number, example in enumerate(cls.examples)
    ]


@pytest.mark.parametrize("kind", ["transformation", "predicate", "converter", "header_converter"])
def test_every_plugin_of_ours_has_an_example(kind: str) -> None:
    names = [cls.plugin_name.rpartition(".")[2] for cls in own(kind) if not cls.examples]
    assert set(names) <= WITHOUT.keys()


def run(example: Example, prefix: str, cls: type[Any], others: Mapping[str, str]) -> dict[str, Any]:
    """The record after the chain, JSON parsed."""
    options = {f"{prefix}{name}": value for name, value in example.options.items()}
    config = {**SCHEMALESS, **options, f"{prefix}type": cls.plugin_name, **others, **example.beside}
    have = dict(example.have)
    headers = list(have.pop("headers", {}).items())
    texts = {part: None if have.get(part) is None else json.dumps(have.pop(part)) for part in ("key", "value")}
    record = {"topic": "orders", "partition": 0, "offset": 42, "timestamp": 1_700_000_000_000, **have, **texts}
    after = outcome(config, {**record, "headers": headers})
    if "error" in after or "filtered" in after:
        return after
    parsed = {part: None if after[part] is None else json.loads(after[part]) for part in ("key", "value")}
    return {**after, **parsed, "headers": {name: value.decode() for name, value in after["headers"]}}


@pytest.mark.parametrize(("cls", "example"), examples("transformation"))
def test_a_transform_does_what_its_example_says(cls: type[Any], example: Example) -> None:
    after = run(example, "transforms.x.", cls, {"transforms": "x"})
    assert after == ({"filtered": True} if example.want is None else {**after, **dict(example.want)})  # type: ignore[call-overload]


@pytest.mark.parametrize(("cls", "example"), examples("predicate"))
def test_a_predicate_holds_where_its_example_says_so(cls: type[Any], example: Example) -> None:
    chain = {
        "transforms": "drop",
        "transforms.drop.type": "org.apache.kafka.connect.transforms.Filter",
        "transforms.drop.predicate": "it",
    }
    aliases = ",".join([*filter(None, [example.beside.get("predicates")]), "it"])
    after = run(replace(example, beside={**example.beside, "predicates": aliases}), "predicates.it.", cls, chain)
    assert "error" not in after
    assert ("filtered" in after) is example.want


@pytest.mark.parametrize(("cls", "example"), examples("converter"))
def test_a_converter_reads_what_its_example_says(cls: type[Any], example: Example) -> None:
    options = {f"value.converter.{name}": value for name, value in example.options.items()}
    reading = {**SCHEMALESS, "value.converter": cls.plugin_name, "value.converter.schemas.enable": "true", **options}
    content = {"base64": base64.b64encode(bytes.fromhex(example.have["bytes"])).decode()}
    record = {"topic": "orders", "partition": 0, "offset": 42, "timestamp": None, "key": None, "value": content, "headers": []}
    after = outcome(reading | {"transforms": ""}, record, SCHEMALESS | {"value.converter.schemas.enable": "true"})
    assert json.loads(after["value"]) == example.want


@pytest.mark.parametrize(("cls", "example"), examples("header_converter"))
def test_a_header_converter_writes_what_its_example_says(cls: type[Any], example: Example) -> None:
    options = {f"header.converter.{name}": value for name, value in example.options.items()}
    field = {**example.have["schema"], "field": "x"}
    envelope = {"schema": {"type": "struct", "fields": [field]}, "payload": {"x": example.have["payload"]}}
    config = {
        **SCHEMALESS, "value.converter.schemas.enable": "true", "header.converter": cls.plugin_name, **options, "transforms": "h",
        "transforms.h.type": "org.apache.kafka.connect.transforms.HeaderFrom$Value", "transforms.h.fields": "x",
        "transforms.h.headers": "h", "transforms.h.operation": "copy",
    }  # fmt: skip
    record = {"topic": "orders", "partition": 0, "offset": 42, "timestamp": None, "key": None, "headers": []}
    [(_, written)] = outcome(config, {**record, "value": json.dumps(envelope)})["headers"]
    want: Any = example.want
    assert written == (bytes.fromhex(want["bytes"]) if "bytes" in want else want["text"].encode())
