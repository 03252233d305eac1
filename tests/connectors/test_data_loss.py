"""What is a loss, where reading continues after it, and how it is told."""

from __future__ import annotations

import pytest

from headrace.connectors.data_loss import DataLossError, Loss, PartitionLog, Policy, ReadPosition, find

P = ("orders", 0)
TAIL = (
    ". To resume, set source.data.loss to 'rewind' (copy from the beginning of what is there) or 'continue' (with what is "
    "there), or stop the connector and alter its offsets."
)


def lost(stored: ReadPosition, log: PartitionLog, policy: Policy = "fail") -> Loss | None:
    found = find({P: stored}, {P: log}, policy)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("stored", "log"),
    [
        (ReadPosition(5, "a"), PartitionLog(5, 9, "a")),  # the next record is the first that is there
        (ReadPosition(9, "a"), PartitionLog(0, 9, "a")),  # everything was read
        (ReadPosition(0, "a"), PartitionLog(0, 0, "a")),
        (ReadPosition(7, None), PartitionLog(5, 9, "a")),  # MirrorMaker, or an administrator, has stored the offset
        (ReadPosition(7, "a"), PartitionLog(5, 9, None)),  # the brokers know no ids
    ],
)
def test_what_can_be_read_on_is_no_loss(stored: ReadPosition, log: PartitionLog) -> None:
    assert lost(stored, log) is None


@pytest.mark.parametrize(
    ("stored", "log", "reason", "first", "last", "rewound", "continued"),
    [
        (ReadPosition(5, "a"), PartitionLog(8, 9, "a"), "expired", 5, 7, 8, 8),
        (ReadPosition(5, None), PartitionLog(8, 9, "a"), "expired", 5, 7, 8, 8),
        (ReadPosition(5, "a"), PartitionLog(1, 3, "a"), "truncated", 3, 4, 1, 3),
        (
            ReadPosition(5, None),
            PartitionLog(0, 3, "a"),
            "truncated",
            3,
            4,
            0,
            0,
        ),  # it may be another topic: nothing of it is passed over
        (ReadPosition(5, "a"), PartitionLog(0, 9, "b"), "recreated", 5, None, 0, 0),
        (ReadPosition(5, "a"), PartitionLog(0, 0, "b"), "recreated", 5, None, 0, 0),
        (ReadPosition(0, "a"), PartitionLog(0, 9, "b"), "recreated", 0, None, 0, 0),
    ],
)
def test_a_loss_has_a_range_and_each_policy_a_place_to_go_on(
    stored: ReadPosition, log: PartitionLog, reason: str, first: int, last: int | None, rewound: int, continued: int
) -> None:
    loss = lost(stored, log)
    assert loss
    assert (loss.reason, loss.first, loss.last, loss.resumed) == (reason, first, last, None)
    assert loss.records == (0 if last is None else last - first + 1)
    rewind, go_on = lost(stored, log, "rewind"), lost(stored, log, "continue")
    assert rewind and go_on
    assert (rewind.resumed, go_on.resumed) == (rewound, continued)


def test_a_partition_that_is_not_there_is_no_loss_yet() -> None:
    assert find({P: ReadPosition(5, "a")}, {}, "fail") == []


@pytest.mark.parametrize(
    ("stored", "log", "text"),
    [
        (
            ReadPosition(5, "a"),
            PartitionLog(8, 10, "a"),
            "offsets 5 to 7, which were deleted before they were copied (stored: offset 4; there now: offsets 8 to 9, "
            "topic id a)",
        ),
        (
            ReadPosition(5, None),
            PartitionLog(0, 3, None),
            "offsets 3 to 4, which were copied and are beyond the end of the log now (stored: offset 4; there now: offsets 0 "
            "to 2)",
        ),
        (
            ReadPosition(5, "a"),
            PartitionLog(0, 0, "b"),
            "offset 5 and what followed, as the topic was deleted and recreated (stored: offset 4 of topic id a; there now: no "
            "records, its next offset is 0, topic id b)",
        ),
    ],
)
def test_the_error_names_partition_range_what_is_stored_and_what_is_there(
    stored: ReadPosition, log: PartitionLog, text: str
) -> None:
    loss = lost(stored, log)
    assert loss
    assert str(DataLossError([loss])) == f"The source cluster has lost records of orders-0: {text}{TAIL}"


def test_of_many_partitions_the_error_names_five() -> None:
    found = find(
        {("t", n): ReadPosition(5, "a") for n in range(7)}, {("t", n): PartitionLog(8, 9, "a") for n in range(7)}, "fail"
    )
    text = str(DataLossError(found))
    assert text.count("offsets 5 to 7") == 5
    assert "; and 2 more. To resume" in text
