"""Which pairs of offsets are told, and what they say about groups."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from headrace.connectors.mirror.formats import Checkpoint, OffsetSync
from headrace.connectors.mirror.offset_syncs import Ends, SyncThrottle, SyncWriter, pair, within
from headrace.connectors.mirror.policies import DefaultPolicy
from headrace.connectors.mirror.translation import TOO_OLD, Naming, Translations, checkpoints, forward
from headrace.kafka.groups import CommittedOffset
from tests.support import captured_logs, wait_until

P = ("t", 0)


def translations(*syncs: OffsetSync) -> Translations:
    found = Translations()
    found.ready()
    for sync in syncs:
        found.add(sync)
    return found


def test_before_the_first_record_a_group_starts_at_the_beginning_of_the_copy() -> None:
    assert translations(pair(P, Ends(0, 0), alone=True)).translate(P, 0) == 0
    assert translations(pair(P, Ends(7, 0), alone=True)).translate(P, 7) == 0


def test_the_text_that_a_group_commits_with_its_offset_goes_with_it() -> None:
    found = checkpoints(
        "g", {P: CommittedOffset(7, "time")}, translations(OffsetSync("t", 0, 7, 3)), Naming(DefaultPolicy(), "A", "B")
    )
    assert found == {("A.t", 0): Checkpoint("g", "A.t", 0, 7, 3, "time")}
    assert (
        forward(found, {})
        == forward(found, {("A.t", 0): CommittedOffset(2, "other")})
        == {("A.t", 0): CommittedOffset(3, "time")}
    )
    assert forward(found, {("A.t", 0): CommittedOffset(3, "other")}) == {}, "never back, and nothing for a text alone"


def test_what_was_read_to_the_end_of_a_copy_resumes_at_its_end() -> None:
    assert translations(pair(P, Ends(50, 20), alone=True)).translate(P, 50) == 20


def test_beside_other_writers_a_group_goes_on_no_later_than_the_next_record() -> None:
    found = translations(pair(P, Ends(50, 20), alone=False))
    assert [found.translate(P, offset) for offset in (49, 50, 51)] == [TOO_OLD, 19, 20]


PLACES = st.sets(st.integers(0, 199), max_size=3)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 200), PLACES, PLACES), min_size=1, max_size=8), st.integers(0, 100))
@example([(4, {1}, {3})], 10)  # as many offsets on both sides: one has no record, and another producer has written one
def test_no_group_skips_a_record_whatever_else_is_in_the_copy(steps: list[tuple[int, set[int], set[int]]], first: int) -> None:
    """A step: how many offsets it covers, which of them have no record, and before which records something else is in the copy:
    what another producer has written, the end of a transaction, a copy that was not acknowledged.
    """
    at, copies, unbroken, read = Ends(first, 0), {}, 0, first  # copies: offset in the source → in the copy
    found = translations(pair(P, at, alone=True))
    for count, gaps, others in steps:
        before, end = at, at.downstream
        for number in range(count):
            if number not in gaps:
                end += number in others
                if (read + number, end) != (at.upstream, at.downstream):
                    unbroken = read + number
                copies[read + number] = end
                end += 1
                at = Ends(read + number + 1, end)
        read += count
        for sync in [*within(P, before, at, unbroken), pair(P, at, alone=True)]:
            found.add(sync)
    unread = at.downstream
    for committed in range(read, first - 1, -1):
        unread = min(unread, copies.get(committed, unread))
        start = found.translate(P, committed)
        assert start is not None
        assert start <= unread
    assert found.translate(P, at.upstream) == at.downstream


def test_all_records_of_which_the_copies_follow_each_other_have_pairs() -> None:
    syncs = within(P, Ends(0, 0), Ends(20, 25), unbroken=10)
    assert [(s.upstream, s.downstream) for s in syncs] == [(11, 16), (15, 20), (17, 22), (18, 23)]
    assert within(P, Ends(0, 0), Ends(20, 25), unbroken=19) == []


def test_the_first_pair_and_those_far_from_the_last_one_are_written_at_once() -> None:
    pace = SyncThrottle(lag_max=100)
    first, near, far = (OffsetSync(*P, n, n) for n in (1, 50, 500))
    assert pace.take(first, 0) == [first]
    assert pace.take(near, 0.1) == []
    assert pace.take(far, 0.2, [near]) == [near, far]
    assert pace.take(far, 9) == []


def test_a_pair_that_could_not_be_written_is_due_again_unless_there_is_a_newer_one() -> None:
    pace = SyncThrottle(lag_max=100)
    first, newer = (OffsetSync(*P, n, n) for n in (1, 500))
    pace.take(first, 0)
    pace.failed(first)
    assert (pace.due(0.5), pace.due(1.0), pace.due(9.0)) == ([], [first], [])
    pace.take(newer, 10)
    pace.failed(first)
    assert pace.due(20) == []


def test_a_failure_to_write_is_logged() -> None:
    away = {"bootstrap.servers": "127.0.0.1:1", "delivery.timeout.ms": "300", "request.timeout.ms": "200", "linger.ms": "0"}
    with captured_logs() as logs:
        writer = SyncWriter("syncs", away, lag_max=100)
        writer.take(OffsetSync(*P, 1, 1))
        failed = lambda: [line for line in logs if line["event"] == "mirror.sync.failed"]  # noqa: E731
        wait_until(failed, 180, "a line in the log")
        writer.close()
    assert [(line["log_level"], line["topic"]) for line in failed()] == [("error", "syncs")]


def test_others_are_written_within_a_second() -> None:
    pace = SyncThrottle(lag_max=100)
    first, near = (OffsetSync(*P, n, n) for n in (1, 50))
    pace.take(first, 0)
    pace.take(near, 0.1)
    assert (pace.due(0.5), pace.due(1.0), pace.due(2.0)) == ([], [near], [])
