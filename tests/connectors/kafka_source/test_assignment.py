import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.connectors.kafka_source.assignment import NO_LEADER, LeaderTopicPartition, decode, encode, group
from headrace.errors import ConfigError

P = LeaderTopicPartition
topics = st.text("abcXYZ019._-", min_size=1, max_size=12)
partitions = st.builds(P, st.integers(-1, 20), topics, st.integers(0, 50))
some = st.frozensets(partitions, max_size=40)
counts = st.integers(1, 12)


@given(some, counts)
def test_groups_are_a_partition_of_the_set(found, count):
    groups = group(found, count)
    dealt = [p for one in groups for p in one]
    assert len(dealt) == len(set(dealt))
    assert set(dealt) == found


@given(some, counts)
def test_sizes_differ_by_at_most_one_and_none_is_empty(found, count):
    sizes = [len(one) for one in group(found, count)]
    assert len(sizes) == min(count, len(found))
    assert all(sizes)
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    assert sizes == sorted(sizes, reverse=True)


@given(some, counts, st.randoms())
def test_the_same_set_gives_the_same_groups(found, count, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    assert group(shuffled, count) == group(found, count)


@given(some, counts)
def test_groups_are_neighbours_in_the_order_of_the_text(found, count):
    dealt = [str(p) for one in group(found, count) for p in one]
    assert dealt == sorted(dealt)


@given(st.lists(partitions, max_size=20))
def test_what_is_encoded_is_decoded(given):
    assert decode(encode(given)) == given


def test_partitions_of_a_leader_stay_together():
    found = [P(leader, "t", n) for n in range(4) for leader in (1, 2, 10)]
    assert [{p.leader for p in one} for one in group(found, 3)] == [{10}, {1}, {2}]


def test_no_partitions_make_no_groups():
    assert group([], 3) == []
    assert group([P(1, "t", 0)], 0) == []


def test_the_text_names_leader_topic_and_partition():
    assert encode([P(1, "a.b-c_d", 0), P(NO_LEADER, "t", 12)]) == "1:a.b-c_d:0,-1:t:12"
    assert decode("") == []


@pytest.mark.parametrize("text", ["x", "1:t", "1:t:0:4", "a:t:0", "1:t:b", "1:t:0,"])
def test_a_text_that_is_no_list_of_partitions_is_an_error(text):
    with pytest.raises(ConfigError, match=f"Invalid value {text} for configuration task.leader.topic.partitions: "):
        decode(text)
