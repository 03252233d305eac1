"""How far a partition is behind, by offsets alone."""

import pytest

from headrace.connectors.data_loss import PartitionLog, ReadPosition
from headrace.connectors.kafka_source.source_lag import Copied, lag
from headrace.connectors.kafka_source.task import copied_of
from headrace.connectors.partition_lag import PartitionLag

P = ("t", 0)


@pytest.mark.parametrize(
    ("stored", "log", "offset", "left"),
    [
        (ReadPosition(5, "a"), PartitionLog(0, 9, "a"), 4, 4),
        (ReadPosition(9, "a"), PartitionLog(0, 9, "a"), 8, 0),
        (ReadPosition(5, None), PartitionLog(0, 9, "a"), 4, 4),
        (ReadPosition(0, "a"), PartitionLog(0, 9, "a"), None, 9),  # looked up, and nothing copied yet
        (ReadPosition(5, "a"), PartitionLog(7, 9, "a"), 4, 2),  # expired: what is there yet
        (ReadPosition(99, "a"), PartitionLog(0, 9, "a"), 98, 0),  # truncated
        (ReadPosition(5, "a"), PartitionLog(0, 9, "b"), 4, 9),  # recreated: nothing of it is copied
    ],
)
def test_the_lag_is_what_lies_between_the_stored_offset_and_the_end(stored, log, offset, left):
    found = lag(P, Copied({P: 1}, {P: stored}, earliest=True), log)
    assert found == PartitionLag("t", 0, 1, offset, log.end, left)


def test_without_a_stored_offset_everything_waits_or_nobody_knows():
    assert lag(P, Copied({P: 1}, {}, earliest=True), PartitionLog(2, 9, "a")).lag == 7
    assert lag(P, Copied({P: 1}, {}, earliest=False), PartitionLog(2, 9, "a")).lag is None


def test_of_a_partition_that_is_gone_only_the_offset_is_known():
    assert lag(P, Copied({P: None}, {P: ReadPosition(5, "a")}, earliest=True), None) == PartitionLag("t", 0, None, 4, None, None)


def test_partitions_are_those_of_the_tasks_or_else_those_with_offsets():
    offsets = [
        ({"x": 1}, {"offset": 4}),
        ({"topic:partition": "t:9"}, {"y": 1}),
        ({"topic:partition": "t:0"}, {"offset": 4}),
        ({"topic:partition": "gone:1"}, {"topicId": "x", "offset": 1}),
    ]
    stored = {("t", 0): ReadPosition(5, None), ("gone", 1): ReadPosition(2, "x")}
    assert copied_of({("t", 0): 3, ("t", 1): 0}, offsets, True) == Copied({("t", 0): 3, ("t", 1): 0}, stored, True)
    assert copied_of({}, offsets, True) == Copied({("t", 0): None, ("gone", 1): None}, stored, True)
