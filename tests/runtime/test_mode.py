"""Which mode a stream runs in, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headrace.errors import ConnectError, RetriableError
from headrace.runtime.mode import Facts, choose

GOOD = Facts(
    partitions=3, slots=4, free=True, supported=True, transactions=False, schemas=False, fallible=False, routed=True, drops=False,
    interval=False,
)  # fmt: skip


def test_real_time_is_for_who_asks_for_it() -> None:
    assert choose("realtime", GOOD).name == "realtime"
    assert choose("auto", GOOD).name == choose("microbatch", GOOD).name == "microbatch"
    assert "holds a task slot for every partition" in choose("auto", GOOD).reason


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"supported": False}, "needs the pauses between batches"),
        ({"transactions": True}, "exactly once"),
        ({"interval": True}, "transaction.boundary=interval"),
        ({"schemas": True}, "schemas come with the records"),
        ({"fallible": True}, "a record can fail"),
        ({"routed": False}, "the topics depend on the records"),
        ({"drops": True}, "can leave records out"),
        ({"slots": 2}, "each of its 3 partitions holds a task slot of Spark, and there are 2 for it beside"),
    ],
)
def test_what_speaks_against_it_is_said_in_one_sentence(change: dict[str, Any], words: str) -> None:
    facts = replace(GOOD, **change)
    with pytest.raises(ConnectError, match=f"^stream.mode=realtime is not possible: .*{words}"):
        choose("realtime", facts)
    assert choose("auto", facts).name == "microbatch"


def test_slots_that_others_hold_are_waited_for() -> None:
    with pytest.raises(RetriableError, match="has to wait: other tasks in real-time mode hold the task slots"):
        choose("realtime", replace(GOOD, free=False))
