"""What the real Kafka Streams 4.3.0 gives, record by record (tests/golden/streams/results.json), comes out of batches, too."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from headrace.streams import Serdes, StreamsBuilder
from tests.streams import programs
from tests.streams.programs import results
from tests.streams.programs.case import Case
from tests.streams.test_programs import recorded

SERDES = {"default.key.serde": "string", "default.value.serde": "string"}


def _outputs(case: Case, driver: Any, sizes: list[int]) -> list[tuple]:
    """What comes out of batches of these sizes."""
    found, rows = [], list(case.input)
    for size in sizes:
        batch, rows = rows[:size], rows[size:]
        for topic, group in groupby(batch, key=lambda row: row[0]):
            source = driver.create_input_topic(topic, Serdes.string(), Serdes.string())
            for key, value, time, _ in source._rows([row[1:] for row in group]):
                driver.topics.append(topic, key, value, time)
        driver.pipe("in", [])
        out = driver.create_output_topic("out", Serdes.string(), Serdes.string()).read_records()
        found += [(r.key, r.value, r.timestamp) for r in out]
    return found


def _by_key(rows: list) -> dict[str | None, list]:
    found: dict[str | None, list] = {}
    for key, value, time in rows:
        found.setdefault(key, []).append((value, time))
    return found


@pytest.mark.parametrize("case", programs.cases(results), ids=lambda case: case.name)
def test_records_give_what_they_give_in_kafka(drive, case: Case):
    wanted = [tuple(row) for rows in recorded()[case.name]["results"] for row in rows]
    builder = StreamsBuilder({**SERDES, **case.config})
    case.build(builder)
    half = len(case.input) // 2
    with drive(builder, config={**SERDES, **case.config}) as driver:
        found = _outputs(case, driver, [half, len(case.input) - half])
    assert _by_key(found) == _by_key(wanted)
