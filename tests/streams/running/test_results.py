"""What the real Kafka Streams 4.3.0 gives, record by record (tests/golden/streams), comes out of batches, too."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import HeadraceError
from headrace.streams import Serdes, StreamsBuilder
from headrace.streams.sources import StreamSink
from tests.streams import programs
from tests.streams.programs import changes, generated, late, mixed, operators, results, schedules, windows
from tests.streams.programs.case import CLOCK, Case
from tests.streams.running.comparison import at_any_time, differ, in_batches, last_of_each

GOLDEN = Path(__file__).parents[2] / "golden" / "streams"
FILES = {"results": programs.cases(results), "operators": programs.cases(operators), "generated": generated.run()}
ALONE = {one.__name__.rpartition(".")[2]: programs.cases(one) for one in (windows, changes, schedules, late)}
ALONE["generated"] = [*generated.windowed(), *generated.joined()]
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
    together: list[list[Case]] = []
    for case in cases:
        for group in together:
            if (group[0].input, group[0].config) == (case.input, case.config) and _fit([*group, case]):
                group.append(case)
                break
        else:
            together.append([case])
    return together


def _fit(cases: list[Case]) -> bool:
    try:
        _builder(cases).build()
    except HeadraceError:  # two read a topic as a table, or have a store of one name
        return False
    return True


def _mixed() -> list[Case]:
    """The random programs that Kafka Streams has run, as far as batches give the same."""
    recorded = json.loads((GOLDEN / "mixed.json").read_text())
    ran = [case for case in mixed.cases() if "results" in recorded[case.name] and "ended" not in recorded[case.name]]
    return [case for case in ran if mixed_batch_size() == 1 or not case.name.startswith("grouped_")]


def mixed_batch_size() -> int:
    """How many records are a batch; one by one if all is tested."""
    return 1 if os.environ.get("HEADRACE_TESTS") == "all" else 7


MIXED = _together(_mixed())
GROUPS = [(file, group) for file, cases in FILES.items() for group in _together(cases)]
EACH = [(file, group) for file, cases in ALONE.items() for group in _together(cases)]


def _outputs(cases: list[Case], driver: Any, sizes: list[int]) -> dict[str, list[tuple]]:
    """What comes out of batches of these sizes, by program."""
    rows, found = list(cases[0].input), {case.name: [] for case in cases}
    for size in sizes:
        batch, rows = rows[:size], rows[size:]
        for topic, group in groupby(batch, key=lambda row: row[0]):
            source = driver.create_input_topic(topic, *STRINGS)
            for key, value, time, _ in source._rows([row[1:] for row in group]):
                driver.topics.append(topic, key, value, time)
        driver.pipe(cases[0].input[0][0], [])
        for name, results_ in found.items():
            out = driver.create_output_topic(name, *STRINGS).read_records()
            results_ += [(r.key, r.value, r.timestamp) for r in out]
    return found


def _by_key(rows: list) -> dict[str | None, list]:
    by_key: dict[str | None, list] = {}
    for key, value, time in rows:
        by_key.setdefault(key, []).append((value, time))
    return by_key


def _last(rows: list) -> dict[str, tuple]:
    """The last row of each key, unless it is none, or empty: a group that came and went in one batch has no rows at all."""
    last = {key: (value, time) for key, value, time in rows}
    return {key: row for key, row in last.items() if row[0]}


@pytest.mark.parametrize(("file", "cases"), GROUPS, ids=lambda given: None if isinstance(given, str) else given[0].name)
def test_records_give_what_they_give_in_kafka(drive, file: str, cases: list[Case]):
    recorded = json.loads((GOLDEN / f"{file}.json").read_text())
    half = len(cases[0].input) // 2
    with drive(_builder(cases), config=_config(cases)) as driver:
        results = _outputs(cases, driver, [half, len(cases[0].input) - half])
    for case in cases:
        expected = [tuple(row) for rows in recorded[case.name]["results"] for row in rows]
        same = _last if case.name.startswith(LAST) else _by_key
        assert same(results[case.name]) == same(expected), case.name


@pytest.mark.parametrize(("file", "cases"), EACH, ids=lambda given: None if isinstance(given, str) else given[0].name)
def test_each_record_gives_what_it_gives_in_kafka(drive, file: str, cases: list[Case]):
    recorded = json.loads((GOLDEN / f"{file}.json").read_text())
    expected = {case.name: recorded[case.name]["results"] for case in cases}
    results: dict[str, list] = {name: [] for name in expected}
    assert not any("ended" in recorded[name] for name in expected.keys() - {"a_buffer_that_is_full_ends_it"})
    processed, size = len(expected[cases[0].name]), _batch_size(file)
    with drive(_builder(cases), config=_config(cases), wall_clock_time=0) as driver:
        for first in range(0, processed, size):
            _pipe(driver, *cases[0].input[first : min(first + size, processed)])
            for name, each in results.items():
                out = driver.create_output_topic(name, *STRINGS).read_records()
                each.append([[r.key, r.value, r.timestamp] for r in out])
        for row in cases[0].input[processed : processed + 1]:
            with pytest.raises(Exception, match="buffer exceeded its max capacity"):
                _pipe(driver, row)
    for name, each in results.items():
        same = next((same for beginning, same in ALIKE.items() if f"{file}.{name}".startswith(beginning)), _needed)
        assert same(each) == same(in_batches(expected[name], size)), name


@pytest.mark.parametrize("cases", MIXED, ids=lambda cases: cases[0].name)
def test_records_of_all_kinds_give_what_they_give_in_kafka(drive, cases: list[Case]):
    recorded, size = json.loads((GOLDEN / "mixed.json").read_text()), mixed_batch_size()
    with drive(_builder(cases), config=_config(cases)) as driver:
        results = each_batch(driver, cases, size)
    for case in cases:
        assert not differ(case.name, results[case.name], in_batches(recorded[case.name]["results"], size)), inspect.getsource(
            case.build
        )


def each_batch(driver: Any, cases: Sequence[Case], size: int) -> dict[str, list[list]]:
    """What each batch of some records of a topic gives, by program."""
    rows, results = cases[0].input, {case.name: list[list]() for case in cases}
    for first in range(0, len(rows), size):
        _pipe(driver, *rows[first : first + size])
        for name, found in results.items():
            out = driver.create_output_topic(name, *STRINGS).read_records()
            found.append([[r.key, r.value, r.timestamp] for r in out])
    return results


def _batch_size(file: str) -> int:
    """How many records are a batch: with windows some, of whose rows a batch gives the last one; one by one if all is tested."""
    return 5 if file in ("windows", "late", "generated") and os.environ.get("HEADRACE_TESTS") != "all" else 1


def _pipe(driver: Any, *rows: tuple) -> None:
    """One batch of records of one topic, or one step of the clock."""
    (topic,) = {row[0] for row in rows}
    if topic == CLOCK:
        driver.advance_wall_clock_time(rows[0][3])
    else:
        driver.create_input_topic(topic, *STRINGS).pipe_batch([row[1:] for row in rows])


def _needed(results_: list[list]) -> list[list]:
    """What each record gives, without deletions of rows that are not there."""
    there, needed = set(), []
    for rows in results_:
        needed.append([row for row in rows if row[1] is not None or row[0] in there])
        for key, value, _ in rows:
            (there.discard if value is None else there.add)(key)
    return needed


def _by_record(results_: list[list]) -> list[list]:
    """What each record gives, in whatever order."""
    return [sorted(rows, key=str) for rows in results_]


ALIKE = {
    "windows.": last_of_each, "late.": last_of_each, "generated.windowed_": last_of_each, "generated.joined_": at_any_time,
    "changes.streams_that_stay_alone": at_any_time, "schedules.two_processors": _by_record,
}  # fmt: skip
"""What has to be the same of the programs whose names begin so, where docs/parity.md says that not all of it is."""
