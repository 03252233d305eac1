"""Where JsonConverter looks for nulls within nested data that a JSON Schema has read, without Spark: by its SQL."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.testing.registry import SchemaRegistry
from headrace.transforms.chain import compile_chain
from headrace.transforms.stages import stages
from tests.avro.chains import props
from tests.avro.test_data import TO_JSON
from tests.json_schema.test_data import CONVERTER
from tests.transforms.chains import config, converters

DEEP = {"type": "object", "properties": {"s": {"type": "string"}}}
LIST = {"type": "array", "items": DEEP}
EXTRACT = {"type": "ExtractField$Value", "field": "inner"}
DEEP_ONE = {"type": "ExtractField$Value", "field": "inner.deep", "field.syntax.version": "V2"}
INSERT = {"type": "InsertField$Value", "static.field": "new", "static.value": "x"}
ONLY_ONE_TOPIC = {"type": "ReplaceField$Value", "exclude": "none", "predicate": "p"}
PREDICATES = {"p": {"type": "TopicNameMatches", "pattern": "one"}}


@pytest.mark.parametrize(
    ("deep", "transforms"),
    [
        (DEEP, [EXTRACT]),
        (DEEP, [EXTRACT, INSERT]),
        (LIST, [EXTRACT, INSERT]),
        ({**LIST, "default": []}, [EXTRACT, INSERT]),
        ({**LIST, "default": []}, [EXTRACT, INSERT, ONLY_ONE_TOPIC]),
        (DEEP, [DEEP_ONE]),
        (LIST, [DEEP_ONE]),
        (LIST, [EXTRACT, {"type": "ExtractField$Value", "field": "deep"}]),
    ],
)
@pytest.mark.parametrize("optional", [False, True])
def test_nested_values_are_looked_into_after_transforms_as_well(
    registry: SchemaRegistry, optional: bool, deep: dict[str, Any], transforms: list[dict[str, str]]
) -> None:
    inner: dict[str, Any] = {"type": "object", "properties": {"deep": deep}}
    node = {"oneOf": [{"type": "null"}, inner]} if optional else inner
    id = registry.register("orders-value", {"type": "object", "properties": {"inner": node}}, "JSON")
    reads = {**config(*transforms, predicates=PREDICATES), **props(registry, CONVERTER)}
    writing = converters({**reads, **TO_JSON})
    compiled = compile_chain(stages(reads), converters(reads), writing, {"value": [str(id)]}, sink=True)
    assert "headrace_json_normal" in str((vars(compiled.scope), compiled.columns))
