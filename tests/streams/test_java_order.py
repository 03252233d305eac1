from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.streams.java_order import TreeSet
from headrace.values.java_hash import hash_order, java_hash


def test_a_text_has_the_hash_that_java_gives_it():
    assert java_hash("") == 0
    assert java_hash("hello") == 99162322
    assert java_hash("Aa") == java_hash("BB") == 2112
    assert java_hash("zzzzzzzzzz") < 2**32
    assert java_hash("😀") == 31 * 0xD83D + 0xDE00


def test_a_set_that_is_copied_may_have_another_order_than_one_that_grew():
    topics = [f"t{i}" for i in range(1, 13)]
    assert hash_order(topics) != hash_order(topics, copied=True)
    assert sorted(hash_order(topics)) == sorted(topics)


@given(st.lists(st.integers()))
def test_a_tree_gives_its_elements_sorted_and_once(numbers: list[int]):
    tree: TreeSet[int] = TreeSet(lambda one, other: one - other)
    for number in numbers:
        tree.add(number)
    assert list(tree) == sorted(set(numbers))
