"""Where a task begins to read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.kafka.positions import advanced, decide, halved, summary

A, B = ("a", 0), ("b", 1)


@given(st.dictionaries(st.sampled_from([A, B, ("a", 1)]), st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1))
def test_ranges_are_halved_and_nothing_is_lost(sizes: dict[tuple[str, int], tuple[int, int]]) -> None:
    ranges = {partition: (start, start + size) for partition, (start, size) in sizes.items()}
    halves = halved(ranges)
    counts = [sum(end - start for start, end in half.values()) for half in halves]
    total = sum(size for _, size in sizes.values())
    assert counts == ([total // 2, total - total // 2] if total > 1 else [1])
    read = {
        partition: [offset for half in halves if partition in half for offset in range(*half[partition])] for partition in ranges
    }
    assert read == {partition: [*range(start, end)] for partition, (start, end) in ranges.items()}


def test_reading_resumes_at_the_stored_offset() -> None:
    assert decide([A], {A: 5}, {A: (0, 10)}, "earliest").positions == {A: 5}


def test_a_partition_that_is_read_to_its_end_resumes_at_its_end() -> None:
    start = decide([A], {A: 10}, {A: (0, 10)}, "earliest")
    assert start.positions == {A: 10}
    assert not start.lost


def test_without_a_stored_offset_the_reset_policy_decides() -> None:
    assert decide([A], {}, {A: (3, 10)}, "earliest").positions == {A: 3}
    start = decide([A], {}, {A: (3, 10)}, "latest")
    assert start.positions == {A: 10}
    assert start.looked_up == (A,)


def test_by_duration_begins_at_the_records_since_then() -> None:
    start = decide([A, B], {}, {A: (3, 10), B: (0, 4)}, "by_duration:PT1H", {A: 7})
    assert start.positions == {A: 7, B: 4}
    assert start.looked_up == (A, B)


def test_expired_records_are_told_and_the_reset_policy_decides() -> None:
    start = decide([A], {A: 5}, {A: (8, 10)}, "earliest")
    assert start.positions == {A: 8}
    assert start.lost == ((A, 5, 7),)


def test_a_stored_offset_beyond_the_end_is_told() -> None:
    start = decide([A], {A: 21}, {A: (0, 10)}, "earliest")
    assert start.positions == {A: 0}
    assert start.beyond == ((A, 21, 10),)
    assert not start.lost


def test_a_partition_that_does_not_exist_is_left_out() -> None:
    start = decide([A, B], {}, {B: (0, 1)}, "earliest")
    assert start.positions == {B: 0}
    assert start.missing == (A,)


@given(st.integers(0, 50), st.integers(0, 50), st.none() | st.integers(-1, 120), st.sampled_from(["earliest", "latest"]))
def test_a_position_is_always_inside_of_the_log(first: int, length: int, stored: int | None, reset: str) -> None:
    start = decide([A], {} if stored is None else {A: stored}, {A: (first, first + length)}, reset)
    assert first <= start.positions[A] <= first + length


def test_only_partitions_that_moved_are_part_of_a_batch() -> None:
    before, after = {"t": {0: 5, 1: 7}}, {"t": {0: 9, 1: 7}}
    assert advanced(before, after) == {("t", 0): (5, 9)}


def test_a_batch_is_summed_up_in_words() -> None:
    assert summary({("t", 0): (0, 10), ("t", 1): (5, 6)}) == "t-0 offsets 0 to 9, t-1 offsets 5 to 5"
    many = {("t", p): (0, 1) for p in range(7)}
    assert summary(many).endswith("and 2 more partitions")
