from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.cluster.assignment import EVERYTHING, NOTHING, Assignment, slot, slot_count

names = st.text(min_size=1, max_size=20)


@given(names, st.integers(1, 40), st.integers(1, 5), st.integers(1, 30))
def test_every_part_of_a_connector_belongs_to_exactly_one_worker(name, count, workers, tasks):
    shares = [Assignment(frozenset(range(count)[worker::workers]), count, 1) for worker in range(workers)]
    assert sum(share.has_connector(name) for share in shares) == 1
    assert sum(share.leads for share in shares) == 1
    assert sorted(task for share in shares for task in share.tasks(name, tasks)) == list(range(tasks))


@given(names, st.integers(2, 24))
def test_tasks_of_one_connector_are_spread_over_the_slots(name, tasks):
    assert len({slot(name, task, 25) for task in range(tasks)}) == tasks


def test_a_worker_that_is_alone_has_everything_and_one_that_is_no_member_nothing():
    assert EVERYTHING.leads
    assert EVERYTHING.has_connector("c")
    assert EVERYTHING.tasks("c", 3) == {0, 1, 2}
    assert not NOTHING.leads
    assert not NOTHING.has_connector("c")
    assert NOTHING.tasks("c", 3) == set()


def test_partitions_that_are_added_while_the_group_is_remembered_are_no_slots():
    assert [slot_count(50, 25), slot_count(50, None), slot_count(1, None), slot_count(10, 25)] == [25, 50, 1, 10]
