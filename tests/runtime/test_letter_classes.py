"""The class that a dead letter names: that of the step at which its record failed."""

from __future__ import annotations

from typing import Any, cast

import pytest

from headrace.converters.base import Writers, load, load_header
from headrace.record import RecordColumns
from headrace.runtime.chain import FeedChain, Steps
from headrace.runtime.tolerance import DeadLetters, Tolerance
from headrace.transforms.chain import Readers

PACKAGE = "org.apache.kafka.connect."
JSON, STRING = PACKAGE + "json.JsonConverter", PACKAGE + "storage.StringConverter"
BYTES = PACKAGE + "converters.ByteArrayConverter"


@pytest.mark.parametrize(("step", "name"), [("input.key", BYTES), ("input.value", STRING), ("input.headers", JSON)])
def test_each_part_that_cannot_be_read_has_the_class_of_its_converter(step: str, name: str) -> None:
    key, value, header = load(BYTES, {}, is_key=True), load(STRING, {}, is_key=False), load_header(JSON, {})
    tolerance = Tolerance(all=True, log=False, messages=False, dead_letters=DeadLetters("dlq", 1, context=True))
    steps = Steps("c", 0, Readers(key, value, header), (), Writers(key, value, header), tolerance, sink=True)
    column = cast(Any, None)  # the SQL of the headers needs no columns
    headers = FeedChain(steps, RecordColumns(topic=column, key=column, value=column)).letter()["headers"]
    assert f"WHEN (failure.step = '{step}') THEN '{name}'" in headers
