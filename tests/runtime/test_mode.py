"""Which mode a stream runs in, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headrace.errors import ConnectError, RetriableError
from headrace.runtime.mode import CLOSE, Facts, Mode, choose, without_facts, without_slots

GOOD = Facts(
    local=True, unable=None, transactions=False, schemas=False, fallible=False, routed=True, drops=False,
    interval=False, behind=CLOSE,
)  # fmt: skip


def test_auto_takes_real_time_where_nothing_is_against_it() -> None:
    assert choose("realtime", GOOD).name == choose("auto", GOOD).name == "realtime"
    assert "beside one for each core" in choose("auto", GOOD).reason


def test_auto_catches_up_in_micro_batches() -> None:
    late = replace(GOOD, behind=CLOSE + 1)
    mode = choose("auto", late)
    assert (mode.name, mode.passing) == ("microbatch", True)
    assert "until the task has caught up; 10001 records are to be read" in mode.reason
    assert choose("realtime", late).name == "realtime"


def test_auto_takes_micro_batches_where_offsets_would_wait_for_the_end_of_a_batch() -> None:
    apart = replace(GOOD, local=False)
    assert choose("realtime", apart).name == "realtime"
    assert choose("auto", apart).name == "microbatch"
    assert choose("auto", apart).reason.startswith("stream.mode=auto takes micro-batches: Spark's tasks run in other processes")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unable": "this connector does not read from Kafka"}, "does not read from Kafka"),
        ({"transactions": True}, "exactly once"),
        ({"interval": True}, "transaction.boundary=interval"),
        ({"schemas": True}, "schemas come with the records"),
        ({"fallible": True}, "a record can fail"),
        ({"routed": False}, "the topics depend on the records"),
        ({"drops": True}, "can leave records out"),
    ],
)
def test_what_speaks_against_it_is_said_in_one_sentence(change: dict[str, Any], words: str) -> None:
    facts = replace(GOOD, **change)
    with pytest.raises(ConnectError, match=f"^stream.mode=realtime is not possible: .*{words}"):
        choose("realtime", facts)
    assert choose("auto", facts).name == "microbatch"
    assert words in choose("auto", facts).reason


def test_each_partition_needs_a_slot() -> None:
    assert without_facts("auto", 3, 3) is without_facts("realtime", 3, 3) is None
    words = "each of its 3 partitions holds a task slot of Spark, and there are 2 for it beside "
    with pytest.raises(ConnectError, match=f"^stream.mode=realtime is not possible: {words}the one for all else; spark.master"):
        without_facts("realtime", 3, 2)
    assert without_facts("auto", 3, 2) == Mode(
        "microbatch", f"stream.mode=auto takes micro-batches: {words}one for each core; spark.master=local[N] gives more."
    )
    assert without_facts("microbatch", 3, 3) == Mode("microbatch", "stream.mode=microbatch")


def test_slots_that_others_hold_are_waited_for_by_who_asks_for_them() -> None:
    with pytest.raises(
        RetriableError, match=r"^stream.mode=realtime has to wait: other tasks in real-time mode hold the task slots"
    ):
        without_slots("realtime")
    assert without_slots("auto").name == "microbatch"
    assert "other tasks in real-time mode hold the task slots" in without_slots("auto").reason
