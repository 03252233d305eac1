"""What the real Kafka Streams 4.3.0 gives, record by record (tests/golden/streams), comes out of batches, too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import HeadraceError
from headrace.streams import Serdes, StreamsBuilder
from headrace.streams.sources import StreamSink
from tests.streams import programs
from tests.streams.programs import generated, operators, results
from tests.streams.programs.case import Case

GOLDEN = Path(__file__).parents[2] / "golden" / "streams"
FILES = {"results": programs.cases(results), "operators": programs.cases(operators), "generated": generated.run()}
STRINGS = Serdes.string(), Serdes.string()
LAST = ("values_", "only_", "rows_", "a_table_meets")  # changes of a table, of which a batch gives the last one of a key
SERDES = {"default.key.serde": "string", "default.value.serde": "string"}


def _builder(cases: Sequence[Case]) -> StreamsBuilder:
    """Programs beside each other, each with a topic of its own for its results."""
    builder = StreamsBuilder(_config(cases))
    for case in cases:
        before = len(builder._graph.nodes)
        case.build(builder)
        for node in builder._graph.nodes[before:]:
            if isinstance(node, StreamSink) and node.topic == "out":
                node.topic = case.name
    return builder


def _config(cases: Sequence[Case]) -> dict[str, str]:
    return {**SERDES, **cases[0].config}


def _together(cases: list[Case]) -> list[list[Case]]:
    """Programs with the same records that go together: one run of several costs little more than that of one."""
    found: list[list[Case]] = []
    for case in cases:
        for group in found:
            if (group[0].input, group[0].config) == (case.input, case.config) and _fit([*group, case]):
                group.append(case)
                break
        else:
            found.append([case])
    return found


def _fit(cases: list[Case]) -> bool:
    try:
        _builder(cases).build()
    except HeadraceError:  # two read a topic as a table, or have a store of one name
        return False
    return True


GROUPS = [(file, group) for file, cases in FILES.items() for group in _together(cases)]


def _outputs(cases: list[Case], driver: Any, sizes: list[int]) -> dict[str, list[tuple]]:
    """What comes out of batches of these sizes, by program."""
    rows, found = list(cases[0].input), {case.name: [] for case in cases}
    for size in sizes:
        batch, rows = rows[:size], rows[size:]
        for topic, group in groupby(batch, key=lambda row: row[0]):
            source = driver.create_input_topic(topic, *STRINGS)
            for key, value, time, _ in source._rows([row[1:] for row in group]):
                driver.topics.append(topic, key, value, time)
        driver.pipe("in", [])
        for name, results_ in found.items():
            out = driver.create_output_topic(name, *STRINGS).read_records()
            results_ += [(r.key, r.value, r.timestamp) for r in out]
    return found


def _by_key(rows: list) -> dict[str | None, list]:
    found: dict[str | None, list] = {}
    for key, value, time in rows:
        found.setdefault(key, []).append((value, time))
    return found


def _last(rows: list) -> dict[str, tuple]:
    """The last row of each key, unless it is none, or empty: a group that came and went in one batch has no rows at all."""
    found = {key: (value, time) for key, value, time in rows}
    return {key: row for key, row in found.items() if row[0]}


@pytest.mark.parametrize(("file", "cases"), GROUPS, ids=lambda given: None if isinstance(given, str) else given[0].name)
def test_records_give_what_they_give_in_kafka(drive, file: str, cases: list[Case]):
    recorded = json.loads((GOLDEN / f"{file}.json").read_text())
    half = len(cases[0].input) // 2
    with drive(_builder(cases), config=_config(cases)) as driver:
        found = _outputs(cases, driver, [half, len(cases[0].input) - half])
    for case in cases:
        wanted = [tuple(row) for rows in recorded[case.name]["results"] for row in rows]
        same = _last if case.name.startswith(LAST) else _by_key
        assert same(found[case.name]) == same(wanted), case.name
