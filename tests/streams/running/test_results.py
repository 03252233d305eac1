"""What the real Kafka Streams 4.3.0 gives, record by record (tests/golden/streams/results.json), comes out of batches, too."""

from __future__ import annotations

import json
import os
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from headrace.streams import Serdes, StreamsBuilder
from tests.streams import programs
from tests.streams.programs import generated, results
from tests.streams.programs.case import Case

GOLDEN = Path(__file__).parents[2] / "golden" / "streams"
CASES = [*programs.cases(results), *generated.run()]
QUICK = {  # the others take time that `make test` has not
    "a_stream_meets_itself",
    "a_stream_meets_itself_over_one_store",
    "a_stream_meets_the_join_of_its_tables",
    "a_table_that_is_kept_later_is_not_there_yet",
    "branches_of_a_stream_come_one_after_the_other",
    "values_that_are_none_count_in_sessions",
    "records_without_a_key_are_alone_at_once",
    "a_stream_sees_the_version_of_its_own_time",
    "records_wait_for_the_table",
    "every_version_is_passed_on",
    "a_processor_reads_the_count_of_its_stream",
    "processors_that_follow_each_other_share_a_store",
    "processors_of_two_topics_share_a_store",
    "values_of_a_table_are_numbered_and_kept",
    "run_0",
    "run_1",
}
CHOSEN = [case for case in CASES if case.name in QUICK or os.environ.get("HEADRACE_TESTS") == "all"]
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


def _last(rows: list) -> dict[str, tuple]:
    """The last row of each key, unless it is none, or empty: a group that came and went in one batch has no rows at all."""
    found = {key: (value, time) for key, value, time in rows}
    return {key: row for key, row in found.items() if row[0]}


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_records_give_what_they_give_in_kafka(drive, case: Case):
    file = GOLDEN / ("generated.json" if case.name.startswith("run_") else "results.json")
    wanted = [tuple(row) for rows in json.loads(file.read_text())[case.name]["results"] for row in rows]
    builder = StreamsBuilder({**SERDES, **case.config})
    case.build(builder)
    half = len(case.input) // 2
    with drive(builder, config={**SERDES, **case.config}) as driver:
        found = _outputs(case, driver, [half, len(case.input) - half])
    if case.name.startswith(("values_", "only_")):  # changes of a table, of which a batch gives the last one of a key
        assert _last(found) == _last(wanted)
    else:
        assert _by_key(found) == _by_key(wanted)
