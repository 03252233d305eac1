"""Stores of processors do what those of the real Kafka Streams 4.3.0 do in the same scripts (tests/golden/streams)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from headrace.streams import StreamsBuilder
from headrace.streams.engine.processor_worker import WorkerProcessor
from headrace.streams.stores import StoreKind
from tests.streams.programs import scripts
from tests.streams.programs.case import Case
from tests.streams.programs.scripted import SCRIPTED
from tests.streams.test_processor_worker import STREAM_TIME, row, run

GOLDEN = Path(__file__).parents[1] / "golden" / "streams" / "scripts.json"


def _found(case: Case, size: int) -> list[str]:
    """What the steps of a script find in batches of so many records."""
    builder, found = StreamsBuilder(), list[str]()
    case.build(builder)
    store = builder.draft().stores["kept"]
    processor = WorkerProcessor("scripted", SCRIPTED, False, (), frozenset({"kept"}))
    stored, times = dict[bytes, bytes](), {} if store.kind is StoreKind.KEY_VALUE else {"kept": -1}
    for first in range(0, len(case.input), size):
        some = enumerate(case.input[first : first + size])
        rows = [row([place], key, value, time=time) for place, (_, key, value, time) in some]
        results = run(rows, processor, stores={"kept": store}, times=times, stored=stored)
        for _, time, place, _, _, name, key, value, _, due, _, said, _ in results:
            if place is not None:
                found.append(said)
            elif name is not None and due == STREAM_TIME:
                times[name] = time
            elif key is not None:
                stored[key] = time.to_bytes(8, "big") + value if value is not None else b""
        stored = {key: kept for key, kept in stored.items() if kept}
    return found


@pytest.mark.parametrize("size", (1, 7, scripts.ROWS))
@pytest.mark.parametrize("case", scripts.cases(), ids=lambda case: case.name)
def test_a_store_does_what_that_of_kafka_does(case: Case, size: int):
    recorded = json.loads(GOLDEN.read_text())[case.name]["results"]
    expected, found = [said for ((_, said, _),) in recorded], _found(case, size)
    if case.name == "scripted_windows_in_memory":  # which has them by their time there
        expected, found = ([sorted(re.split("[;{} ]", one)) for one in said] for said in (expected, found))
    assert found == expected
