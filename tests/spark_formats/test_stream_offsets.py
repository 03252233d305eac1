"""Offsets of Spark's streams as Connect stores them."""

from __future__ import annotations

import json

import pytest

from headrace.connectors.spark_source.stream import connect_offset, spark_offset


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ('{"row":7,"done":true}', {"row": 7, "done": True}),
        ('{"json":"a-7"}', {"json": '{"json":"a-7"}'}),  # not to be taken for one that was wrapped
        ('{"json":"a","row":7}', {"json": "a", "row": 7}),
        ('{"topic":{"0":3}}', {"json": '{"topic":{"0":3}}'}),
        ("{}", {"json": "{}"}),
        ("7", {"json": "7"}),
    ],
)
def test_an_offset_is_the_same_after_a_restart(text: str, stored: object) -> None:
    offset = connect_offset(text)
    assert offset == stored
    assert json.loads(spark_offset(offset)) == json.loads(text)
