"""How old the oldest record is that is not delivered, by the ends of logs that polls see."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.kafka.delivered_position import DeliveredPosition
from headrace.runtime.metrics.freshness import Freshness


def after(*polls: tuple[int, int, int]) -> Freshness:
    """After polls of one partition: when, the next offset to deliver, and the end."""
    freshness = Freshness()
    for now_ms, next_offset, end in polls:
        freshness = freshness.updated({"t-0": DeliveredPosition(next_offset, end)}, now_ms)
    return freshness


def test_what_is_delivered_up_to_the_end_is_fresh():
    assert after((0, 5, 5)).age_ms(90) == 0
    assert after((0, 3, 5), (10, 5, 5)).age_ms(90) == 0


def test_a_record_counts_from_the_first_poll_that_saw_the_log_end_behind_it():
    waiting = after((0, 5, 5), (10, 5, 8), (20, 5, 9))
    assert waiting.age_ms(90) == 80
    assert after((0, 5, 5), (10, 5, 8), (20, 5, 9), (30, 8, 9)).age_ms(90) == 70, "the rest came later"
    assert after((0, 5, 5), (10, 5, 8), (20, 7, 9)).age_ms(90) == 80, "one of those that came first is left"


def test_what_was_there_before_counts_from_the_first_poll_on():
    assert after((10, 0, 1000)).age_ms(10) == 0
    assert after((10, 0, 1000), (20, 500, 1000)).age_ms(90) == 80


def test_the_oldest_of_all_partitions_counts_and_one_that_is_gone_does_not():
    freshness = Freshness().updated({"t-0": DeliveredPosition(0, 1), "t-1": DeliveredPosition(1, 1)}, 0)
    freshness = freshness.updated({"t-0": DeliveredPosition(0, 1), "t-1": DeliveredPosition(1, 2)}, 10)
    assert freshness.age_ms(90) == 90
    assert freshness.updated({"t-1": DeliveredPosition(1, 2)}, 20).age_ms(90) == 80


def test_it_is_not_known_before_a_poll_nor_while_the_cluster_is_away_and_then_again():
    assert Freshness().age_ms(0) is None
    away = after((0, 1, 2)).updated(None, 10)
    assert away.age_ms(20) is None
    assert away.updated({"t-0": DeliveredPosition(1, 2)}, 30).age_ms(40) == 40


def test_a_topic_that_was_recreated_begins_again():
    assert after((0, 5, 9), (10, 0, 3)).age_ms(90) == 80


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 3), st.integers(0, 3)), max_size=300))
def test_it_is_never_older_than_the_record_and_what_is_kept_is_bounded(polls: list[tuple[int, int, int]]):
    freshness, now_ms, next_offset, came_ms = Freshness(), 0, 0, list[int]()
    for passed_ms, came, delivered in polls:
        came_ms += [now_ms] * came  # just after the last poll
        now_ms += passed_ms
        next_offset = min(len(came_ms), next_offset + delivered)
        freshness = freshness.updated({"t-0": DeliveredPosition(next_offset, len(came_ms))}, now_ms)
        age_ms = freshness.age_ms(now_ms)
        assert age_ms is not None and age_ms <= (now_ms - came_ms[next_offset] if next_offset < len(came_ms) else 0)
        assert (age_ms == 0) or next_offset < len(came_ms)
        assert len(freshness.ends["t-0"]) <= 64
