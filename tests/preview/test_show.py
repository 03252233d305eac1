"""The table of a preview, as text; the preview itself is made by hand in the form that `run` documents."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from headrace.preview.show import show

GIVEN = {"topic": "t", "partition": 0, "offset": 3, "timestamp": 0, "key": None, "value": "{}", "headers": [["h", None]]}


def part(json, kind="map", schema=None):
    return {"type": kind, "json": json, "schema": schema}


def state(**changes):
    return {
        "topic": "t",
        "partition": 0,
        "timestamp": 0,
        "key": part("null", "null"),
        "value": part('{"a":1}'),
        "headers": [],
    } | changes


def step(name, record, **changes):
    return {"step": name, "predicate": None, "applied": True, "dropped": False, "failed": False, "record": record} | changes


def record(*steps, outcome="passed", **changes):
    return {
        "input": GIVEN, "steps": list(steps), "outcome": outcome, "dropped_by": None, "failure": None, "output": None,
        "destination": None,
    } | changes  # fmt: skip


def shown(*records, kind="source", color=False):
    console = Console(file=io.StringIO(), width=140, force_terminal=color, color_system="standard" if color else None)
    show({"connector": None, "class": "c", "type": kind, "records": list(records)}, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_what_a_step_changed_is_highlighted_and_the_order_of_members_is_no_change():
    before, after = state(value=part('{"a":1,"b":1.0}')), state(topic="new", value=part('{"b":1.0,"a":1}'))
    text = shown(record(step("input", before), step("transform:r", after), outcome="dropped", dropped_by="r"), color=True)
    assert "\x1b[1;33mnew" in text
    assert '\x1b[1;33m{"b":1.0,"a":1}' not in text
    changed = state(value=part('{"a":1,"b":1}'))
    assert '\x1b[1;33m{"a":1,"b":1}' in shown(
        record(step("input", before), step("transform:r", changed)), kind="sink", color=True
    )


def test_predicates_and_other_changes_are_notes():
    schema = {"type": "int32"}
    predicate = {"alias": "p", "negate": True, "held": False}
    after = state(timestamp=1, partition=None, value=part("1", "int32", schema))
    text = shown(record(step("input", state()), step("transform:x", after, predicate=predicate)), kind="sink")
    for note in (
        "p: does not hold, negated",
        "value: int32, with schema",
        "partition: None",
        "timestamp: 1970-01-01T00:00:00.001Z",
    ):
        assert note in text
    assert "record 1: t-0 offset 3, 1970-01-01T00:00:00.000Z" in text
    assert "→ the sink" in text


@pytest.mark.parametrize(("bytes_", "text"), [("eyI6MX0=", '{":1}'), ("/w==", "base64 /w==")])
def test_bytes_are_shown_as_text_if_they_are_text(bytes_, text):
    result = shown(record(step("input", state(value=part(f'"{bytes_}"', "bytes")))), kind="sink")
    assert text in result


def test_a_record_that_cannot_be_read_is_shown_as_it_was_given():
    failure = {"step": "input.value", "class": "a.b.DataException", "message": "no: ", "cause": "x.Y: z\nmore", "then": "so"}
    text = shown(record(step("input", None, failed=True), outcome="failed", failure=failure))
    assert "h: (null)" in text
    assert text.rstrip().endswith("fails reading the value: DataException no:\n  caused by x.Y: z\n  so")


def test_a_failure_of_a_stage_names_it():
    failure = {"step": "transform:c.d", "class": "DataException", "message": "no", "cause": None, "then": "so"}
    text = shown(record(step("input", state()), step("transform:c.d", None, failed=True), outcome="failed", failure=failure))
    assert "fails at transform 'c.d': DataException no\n  so" in text


RULE = {"group": "g", "partitions": -1, "replication.factor": 2, "configs": {"cleanup.policy": "compact"}}
SETTINGS = "by group 'g': partitions=the default of the broker, replication.factor=2, cleanup.policy=compact)"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"exists": True, "partitions": 3}, "→ t (exists, partitions=3)"),
        ({"exists": False, "create": RULE}, f"→ t (would be created {SETTINGS}"),
        ({"exists": None, "create": RULE}, f"→ t (would be created, unless it exists, {SETTINGS}"),
        ({"exists": False, "note": "it has to exist"}, "→ t (does not exist; it has to exist)"),
        ({"exists": None, "note": "it has to exist"}, "→ t (it has to exist)"),
    ],
)
def test_the_last_line_is_the_destination(found, text):
    destination = {"topic": "t", "exists": None, "partitions": None, "create": None, "note": None} | found
    output = {"topic": "t", "key": None, "value": {"base64": "/w=="}, "headers": [], "partition": 0, "timestamp": 0}
    shown_text = shown(record(step("input", state()), output=output, destination=destination))
    assert text in shown_text
    assert "base64 /w==" in shown_text
